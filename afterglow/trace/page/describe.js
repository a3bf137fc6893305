// SPDX-License-Identifier: Apache-2.0
// What a bar is, in words, and the tooltip that says it.

const STATES = ["ran", "dropped: nobody could read its result", "pending when the recording ended"];

/** Nanoseconds from the end of a call's issue to its first run; null if it did not run. */
function queueWait(recording, call) {
  const [run] = recording.runsOf(recording.calls.pass[call]);
  return run === undefined
    ? null
    : Math.max(0, recording.runs.begin[run] - recording.calls.end[call]);
}

function passTime(recording, pass) {
  return recording
    .runsOf(pass)
    .reduce((sum, run) => sum + recording.runs.end[run] - recording.runs.begin[run], 0);
}

/** Pairs of a term and a text for one call. */
function callFacts(recording, call) {
  const { calls, texts } = recording;
  const pass = calls.pass[call];
  const wait = queueWait(recording, call);
  const facts = [
    ["layer", texts[calls.layer[call]]],
    ["line", shortSite(texts[calls.site[call]])],
    ["shapes", texts[calls.shapes[call]]],
    ["bytes", formatBytes(calls.bytes[call])],
    ["state", calls.state[call] === RAN ? "" : STATES[calls.state[call]]],
    ["issue", formatTime(calls.end[call] - calls.begin[call])],
    ["queue wait", wait === null ? "" : formatTime(wait)],
  ];
  if (wait !== null) {
    const shares = recording.runsOf(pass).length;
    const together = recording.isFused(pass)
      ? `, fused with ${counted(recording.membersOf(pass).length - 1, "call")}`
      : "";
    facts.push([
      "run time",
      formatTime(passTime(recording, pass)) + (shares > 1 ? ` in ${shares} shares` : "") + together,
    ]);
  }
  return facts;
}

/** Pairs of a term and a text for what a device did. */
function deviceFacts(recording, span) {
  const { spans, calls, texts } = recording;
  const [call] = recording.membersOf(spans.pass[span]);
  const source = calls.source[call];
  return source
    ? [["copy", `${texts[source]} to ${texts[calls.device[call]]}`]]
    : [["device", texts[spans.device[span]]]];
}

/** What a bar is: { title, facts }. */
function describe(timeline, { row, place }) {
  const { recording } = timeline;
  const { runs, spans, waits, marks, texts, threads } = recording;
  const number = row.index[place];
  const begin = row.begin[place];
  const time = formatTime(row.end[place] - begin);
  const moment = ["at", formatMoment(begin, 10)];
  if (row.kind === "issue") {
    return { title: recording.op(number), facts: [...callFacts(recording, number), moment] };
  }
  if (row.kind === "wait") {
    const [site, what] = [texts[waits.site[number]], texts[waits.what[number]]];
    const point = recording.summary.waits.find((row) => row.site === site && row.what === what);
    const facts = [
      ["line", shortSite(site)],
      ["waited", time],
      ["in all", `${counted(point.waits, "wait")} of this line, ${formatTime(point.time)}`],
      ["thread", threads[waits.thread[number]]],
      moment,
    ];
    return { title: `wait: ${what}`, facts };
  }
  if (row.kind === "mark") {
    const facts = [
      ["kind", texts[marks.kind[number]]],
      ["domain", texts[marks.domain[number]]],
    ];
    if (row.end[place] > begin) facts.push(["time", time]);
    return { title: texts[marks.name[number]], facts: [...facts, moment] };
  }
  const pass = row.kind === "span" ? spans.pass[number] : runs.pass[number];
  const members = recording.membersOf(pass);
  const shares = recording.runsOf(pass).length;
  const own =
    row.kind === "span"
      ? deviceFacts(recording, number)
      : [
          ["share", `${runs.share[number] + 1} of ${shares}, ${time}`],
          ["thread", threads[runs.thread[number]]],
        ];
  if (members.length === 1) {
    const facts = callFacts(recording, members[0]);
    return { title: recording.op(members[0]), facts: [...facts, ...own, moment] };
  }
  const facts = [
    ["fused", members.length ? counted(members.length, "call") : ""],
    ["run time", formatTime(passTime(recording, pass))],
  ];
  if (members.length)
    facts.push([
      "queue wait",
      `${formatTime(queueWait(recording, members[members.length - 1]))} since the last was issued`,
    ]);
  return { title: recording.passName(pass), facts: [...facts, ...own, moment] };
}

function factList(facts) {
  const list = element("dl");
  for (const [term, text] of facts) {
    if (text)
      list.append(element("dt", { textContent: term }), element("dd", { textContent: text }));
  }
  return list;
}

/** Show the tooltip for a bar, a group of bars or a plot. */
function showTooltip(tooltip, timeline, target, x, y) {
  const content = [];
  if (target.plot) {
    const time = timeline.timeAt(target.x);
    const value = target.plot.format(target.plot.steps.at(time));
    content.push(
      element("strong", { textContent: `${target.plot.name}: ${value}` }),
      factList([["at", formatMoment(time, timeline.scale)]]),
    );
  } else if (target.count > 1) {
    const { row, place, count } = target;
    const covered = row.covered[place + count] - row.covered[place];
    const noun = { issue: "issued call", wait: "wait", run: "run", span: "pass", mark: "mark" }[
      row.kind
    ];
    content.push(
      element("strong", { textContent: counted(count, noun) }),
      factList([
        ["together", formatTime(covered)],
        ["click", "zooms in"],
      ]),
    );
  } else {
    const { title, facts } = describe(timeline, target);
    content.push(element("strong", { textContent: title }), factList(facts));
  }
  tooltip.replaceChildren(...content);
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const edge = document.getElementById("timeline").getBoundingClientRect().right;
  tooltip.style.left = `${Math.max(4, x + 14 + width > edge ? x - width - 10 : x + 14)}px`;
  tooltip.style.top = `${Math.max(4, y + 16 + height > innerHeight ? y - height - 8 : y + 16)}px`;
}
