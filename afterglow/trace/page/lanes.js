// SPDX-License-Identifier: Apache-2.0
// Which lanes there are, and which rows and plots each of them has.

const TABLE_OF = { issue: "calls", wait: "waits", run: "runs", span: "spans", mark: "marks" };

/** Numbers of a table's rows by the number of their group, each ascending. */
function grouped(groups, count) {
  const sizes = new Uint32Array(count);
  for (const group of groups) sizes[group]++;
  const lists = Array.from(sizes, (size) => new Uint32Array(size));
  sizes.fill(0);
  groups.forEach((group, number) => (lists[group][sizes[group]++] = number));
  return lists;
}

/** Lanes with their rows: { name, rows: [Bars], plots: [{ name, steps, format, colour }] }. */
function makeLanes(recording) {
  const { threads, pythonThreads, calls, waits, runs } = recording;
  const bars = (kind, index) =>
    Object.assign(new Bars(kind, recording[TABLE_OF[kind]], index), { table: TABLE_OF[kind] });
  const byThread = {
    issue: grouped(calls.thread, threads.length),
    wait: grouped(waits.thread, threads.length),
    run: grouped(runs.thread, threads.length),
  };
  const lanes = threads.map((name, thread) => {
    const kinds = Object.keys(byThread).filter((kind) => byThread[kind][thread].length > 0);
    const rows = kinds.map((kind) => bars(kind, byThread[kind][thread]));
    for (const row of rows) {
      if (row.kind === "issue")
        row.hollow = sums(Uint32Array, row.length, (i) => calls.state[row.index[i]] === DROPPED);
      row.label = row.kind;
    }
    return { name, rows, plots: [], worker: thread >= pythonThreads };
  });
  lanes.push(...deviceLanes(recording, bars), ...markLanes(recording, bars));
  const depth = recording.queueDepth();
  const plots = [
    {
      name: "queue depth",
      steps: new Steps(depth.time, depth.value),
      format: formatCount,
      colour: "depth",
      unit: "unfinished calls",
    },
  ];
  if (recording.memory.time.length) {
    const steps = new Steps(recording.memory.time, recording.memory.bytes);
    plots.push({ name: "memory", steps, format: formatBytes, colour: "memory", unit: "in use" });
  }
  for (const plot of plots) lanes.push({ name: plot.name, rows: [], plots: [plot] });
  return lanes;
}

/** What devices did, where there are several: a lane for each, rows without overlaps. */
function deviceLanes(recording, bars) {
  const { spans, texts } = recording;
  const devices = new Map();
  for (let i = 0; i < spans.begin.length; i++) {
    if (!devices.has(spans.device[i])) devices.set(spans.device[i], []);
    const rows = devices.get(spans.device[i]);
    (rows[spans.row[i]] ??= []).push(i);
  }
  return Array.from(devices, ([device, rows]) => ({
    name: texts[device],
    rows: rows.map((index) =>
      Object.assign(bars("span", Uint32Array.from(index)), { label: "run", colour: "run" }),
    ),
    plots: [],
  })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the program marked: a lane for each domain, rows without overlaps, counters as plots. */
function markLanes(recording, bars) {
  const { marks, texts } = recording;
  const domains = new Map();
  for (let i = 0; i < marks.begin.length; i++) {
    const domain = marks.domain[i];
    if (!domains.has(domain)) domains.set(domain, { rows: [], counters: new Map() });
    const { rows, counters } = domains.get(domain);
    if (texts[marks.kind[i]] === "counter") {
      const counter = marks.name[i];
      if (!counters.has(counter)) counters.set(counter, []);
      counters.get(counter).push(i);
      continue;
    }
    const kind = marks.kind[i];
    let row = rows.find((row) => row.kind === kind && row.end <= marks.begin[i]);
    if (!row) rows.push((row = { kind, index: [], end: 0 }));
    row.index.push(i);
    row.end = Math.max(marks.end[i], marks.begin[i]);
  }
  return Array.from(domains, ([domain, { rows, counters }]) => {
    rows.sort((a, b) => a.kind - b.kind);
    return {
      name: texts[domain] || "marks",
      rows: rows.map(({ kind, index }) =>
        Object.assign(bars("mark", Uint32Array.from(index)), { label: texts[kind] }),
      ),
      plots: Array.from(counters, ([counter, index]) => {
        const time = Float64Array.from(index, (i) => marks.begin[i]);
        const value = Float64Array.from(index, (i) => marks.value[i]);
        const format = (value) => String(Number(value.toPrecision(4)));
        return {
          name: texts[counter],
          steps: new Steps(time, value),
          format,
          colour: "mark",
          unit: "",
        };
      }),
    };
  });
}
