// SPDX-License-Identifier: Apache-2.0
// The side panel: the details of what is selected, and the tables of the summary.

const SHOWN_ROWS = 200;

const COST_COLUMNS = [
  ["calls", "calls", formatCount],
  ["run", "run time", formatTime],
  ["queue", "queue wait", formatTime],
  ["bytes", "bytes", formatBytes],
  ["dropped", "dropped", formatCount],
  ["fused", "fused", formatCount],
];

const QUEUE_WAIT =
  "Queue wait: from the end of a call's issue to its first run. A long one says that Python was " +
  "far ahead, not that time was lost.";

function costTable(rows, name, nameless, text = (name) => name) {
  return {
    rows,
    name,
    columns: COST_COLUMNS,
    text: (row) => text(row.name) || nameless,
    query: (row) => row.name && `${name}:"${row.name}"`,
    part: "run",
    note: QUEUE_WAIT,
  };
}

/** Tables of the summary: columns are [key, title, format], a click searches for `query`. */
const SUMMARY_TABLES = {
  Ops: costTable("ops", "op", "(no name)"),
  Layers: costTable("layers", "layer", "(no layer)"),
  Lines: costTable("lines", "line", "(no line)", shortSite),
  Waits: {
    rows: "waits",
    name: "line",
    columns: [
      ["waits", "waits", formatCount],
      ["time", "time", formatTime],
      ["longest", "longest", formatTime],
      ["helped", "helped", formatTime],
    ],
    text: (row) => `${shortSite(row.site) || "(no line)"} (${row.what})`,
    query: (row) => row.site && `wait:"${row.site}"`,
    part: "time",
    note: "Where Python stood still. Helped: the part in which the waiting thread computed itself.",
  },
  Threads: {
    rows: "threads",
    name: "thread",
    columns: [
      ["issue", "issue", formatTime],
      ["wait", "wait", formatTime],
      ["run", "run", formatTime],
      ["own", "own code", (time, row) => (row.python ? formatTime(time) : "-")],
      ["idle", "idle", (part, row) => (row.python ? "-" : formatPart(part))],
    ],
    text: (row) => row.name,
    query: () => "",
    note:
      "Own code: what Python did between the statements shown here. " +
      "Idle: the part in which a worker ran nothing.",
  },
};

function tableOf(className, head, rows) {
  const titles = element("thead", {}, element("tr", {}, ...head));
  return element("table", { className }, titles, element("tbody", {}, ...rows));
}

class Panel {
  constructor(timeline, { select, search }) {
    this.timeline = timeline;
    this.select = select;
    this.search = search;
    this.panel = document.getElementById("panel");
    this.tabs = ["Details", ...Object.keys(SUMMARY_TABLES)].map((name) => {
      const tab = element("button", {
        type: "button",
        id: `tab-${name}`,
        textContent: name,
        role: "tab",
        "aria-controls": "panel",
      });
      tab.addEventListener("click", () => this.show(name));
      return tab;
    });
    const list = document.getElementById("tabs");
    list.append(...this.tabs);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const at = this.tabs.indexOf(document.activeElement);
      const next = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
      next.focus();
      next.click();
      event.stopPropagation();
    });
  }

  show(name) {
    this.shown = name;
    for (const tab of this.tabs) {
      const chosen = tab.textContent === name;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${name}`);
    this.panel.replaceChildren(
      ...(name === "Details" ? this.#details() : this.#summary(SUMMARY_TABLES[name])),
    );
    this.panel.scrollTop = 0;
  }

  #details() {
    const { selected, range } = this.timeline;
    if (selected) return this.#item(selected);
    if (range) return this.#range(range);
    return [
      element("h2", { textContent: "Nothing is selected" }),
      element("p", {
        textContent:
          "Click a bar for its details, or drag with Shift to select a range. ? lists the keys.",
      }),
    ];
  }

  #item(item) {
    const { timeline } = this;
    const { recording } = timeline;
    const { runs, calls, texts, threads } = recording;
    const number = item.row.index[item.place];
    const { title, facts } = describe(timeline, item);
    const { kind, table } = item.row;
    const site = recording[table].site?.[number] ?? 0;
    const pass = recording[table].pass?.[number] ?? -1;
    const parts = [
      element("h2", { textContent: title }),
      factList([...facts, ["file", site && texts[site]]]),
    ];
    if (recording.isFused(pass)) {
      const members = Array.from(recording.membersOf(pass));
      parts.push(element("h3", { textContent: `Members of the fused pass (${members.length})` }));
      parts.push(
        this.#links(
          ["call", "line and shapes", "queue wait"],
          members.map((call) => [
            [recording.op(call), texts[calls.layer[call]]],
            [shortSite(texts[calls.site[call]]), texts[calls.shapes[call]]],
            [formatTime(queueWait(recording, call) ?? 0)],
          ]),
          (i) => this.select(timeline.itemOf("calls", members[i])),
          "members",
        ),
      );
    } else if (kind === "run" && recording.membersOf(pass).length) {
      const [call] = recording.membersOf(pass);
      const link = element("button", { type: "button", textContent: "Go to its issue" });
      link.addEventListener("click", () => this.select(timeline.itemOf("calls", call)));
      parts.push(element("p", {}, link));
    }
    const ran = recording.runsOf(pass);
    if (ran.length) {
      parts.push(element("h3", { textContent: `Runs (${ran.length})` }));
      parts.push(
        this.#links(
          ["thread", "share", "at", "run time"],
          ran.map((run) => [
            [threads[runs.thread[run]]],
            [runs.share[run] + 1],
            [formatMoment(runs.begin[run], 10)],
            [formatTime(runs.end[run] - runs.begin[run])],
          ]),
          (i) => this.select(timeline.itemOf("runs", ran[i])),
          "runs",
        ),
      );
    }
    return parts;
  }

  #range(range) {
    const begin = Math.min(range.begin, range.end);
    const end = Math.max(range.begin, range.end);
    const { timeline } = this;
    const facts = [
      ["from", formatMoment(begin, timeline.scale)],
      ["to", formatMoment(end, timeline.scale)],
    ];
    const rows = [];
    for (const lane of timeline.lanes) {
      for (const row of lane.rows) {
        if (row.kind === "mark") continue;
        const [first, last] = row.within(begin, end);
        const time = row.time(begin, end);
        const bars = formatCount(Math.max(0, last - first));
        rows.push([
          [`${lane.name}, ${row.label}`],
          [bars],
          [formatTime(time)],
          [formatPart(time / (end - begin))],
        ]);
      }
    }
    return [
      element("h2", { textContent: `Range of ${formatTime(end - begin)}` }),
      factList(facts),
      element("h3", { textContent: "Bars in it" }),
      this.#links(["lane", "bars", "time", "of the range"], rows, null, "range"),
    ];
  }

  /** A table; cells are lists of lines, and the first of a row is a button if a click acts. */
  #links(titles, rows, act, className) {
    const head = titles.map((title) => element("th", { scope: "col", textContent: title }));
    const body = rows.slice(0, SHOWN_ROWS).map((cells, i) => {
      const row = element("tr", { className: act ? "link" : "" });
      cells.forEach(([first, ...lines], place) => {
        const link = act && place === 0;
        const cell = element(
          "td",
          {},
          link ? element("button", { type: "button", textContent: first }) : String(first),
        );
        for (const line of lines) if (line) cell.append(element("small", { textContent: line }));
        row.append(cell);
      });
      if (act) row.addEventListener("click", () => act(i));
      return row;
    });
    const table = tableOf(className, head, body);
    if (rows.length > SHOWN_ROWS)
      table.append(
        element("caption", { textContent: `and ${counted(rows.length - SHOWN_ROWS, "more row")}` }),
      );
    return table;
  }

  #summary(description) {
    const { rows: key, name, columns, text, query, part, note } = description;
    const rows = this.timeline.recording.summary[key].slice();
    const order = (description.order ??= { column: part ?? null, down: true });
    if (order.column)
      rows.sort(
        (a, b) =>
          (order.down ? 1 : -1) *
          (order.column === "name"
            ? text(a).localeCompare(text(b))
            : b[order.column] - a[order.column]),
      );
    const whole = part ? rows.reduce((sum, row) => sum + row[part], 0) : 0;
    const head = [["name", name], ...columns].map(([column, title]) => {
      const button = element("button", { type: "button", textContent: title });
      button.addEventListener("click", () => {
        description.order = { column, down: order.column === column ? !order.down : true };
        this.show(this.shown);
      });
      const cell = element("th", { scope: "col" }, button);
      if (order.column === column)
        cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      return cell;
    });
    const body = rows.slice(0, SHOWN_ROWS).map((row) => {
      const wanted = query(row);
      const first = element(
        "td",
        { title: row.site ?? row.name },
        wanted ? element("button", { type: "button", textContent: text(row) }) : text(row),
      );
      if (whole > 0) {
        const bar = element("span", { className: part === "time" ? "part wait" : "part" });
        bar.style.width = `${(100 * row[part]) / whole}%`;
        first.append(bar);
      }
      const line = element("tr", { className: wanted ? "link" : "" }, first);
      for (const [column, , format] of columns)
        line.append(element("td", { textContent: format(row[column], row) }));
      if (wanted) line.addEventListener("click", () => this.search(wanted));
      return line;
    });
    const parts = [element("p", { textContent: note }), tableOf("summary", head, body)];
    if (rows.length === 0) parts.push(element("p", { textContent: "None were recorded." }));
    if (rows.length > SHOWN_ROWS)
      parts.push(
        element("p", { textContent: `and ${counted(rows.length - SHOWN_ROWS, "more row")}` }),
      );
    return parts;
  }
}
