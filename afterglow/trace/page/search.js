// SPDX-License-Identifier: Apache-2.0
// What a search finds: calls by op, layer or line; waits by line or kind; marks by name.

const SEARCHED = {
  op: { calls: ["op"], waits: [], marks: [] },
  layer: { calls: ["layer"], waits: [], marks: [] },
  line: { calls: ["site"], waits: ["site"], marks: [] },
  wait: { calls: [], waits: ["site", "what"], marks: [] },
  "": { calls: ["op", "layer", "site"], waits: ["site", "what"], marks: ["name", "domain"] },
};

/** The function that tells whether a text is meant by `dot`, `op:dot` or `op:"dot"`. */
function parseQuery(query) {
  const [, field = "", wanted] = /^\s*(?:(op|layer|line|wait):)?(.*?)\s*$/i.exec(query);
  const exact = /^"(.*)"$/.exec(wanted);
  const low = wanted.toLowerCase();
  const matches = exact ? (text) => text === exact[1] : (text) => text.toLowerCase().includes(low);
  return { field: field.toLowerCase(), matches, empty: wanted === "" };
}

class Search {
  constructor(recording, rows) {
    this.recording = recording;
    this.rows = rows;
    this.clear();
  }

  clear() {
    this.active = false;
    this.count = 0;
    this.rank = 0;
    this.current = null;
    for (const row of this.rows) row.hits = null;
  }

  find(query) {
    const { field, matches, empty } = parseQuery(query);
    this.clear();
    if (empty) return;
    this.active = true;
    const { recording } = this;
    const meant = Uint8Array.from(recording.texts, (text) =>
      text !== "" && matches(text) ? 1 : 0,
    );
    const found = {};
    for (const [table, columns] of Object.entries(SEARCHED[field])) {
      const flags = (found[table] = new Uint8Array(recording[table].begin.length));
      for (const column of columns) {
        const numbers = recording[table][column];
        for (let i = 0; i < flags.length; i++) flags[i] |= meant[numbers[i]];
      }
    }
    const { runs, spans, calls } = recording;
    const passes = new Uint8Array(recording.passEnd.length);
    for (let i = 0; i < found.calls.length; i++)
      if (found.calls[i] && calls.pass[i] >= 0) passes[calls.pass[i]] = 1;
    found.runs = Uint8Array.from(runs.pass, (pass) => passes[pass]);
    found.spans = Uint8Array.from(spans.pass, (pass) => passes[pass]);
    for (const row of this.rows) {
      const flags = found[row.table];
      row.hits = sums(Uint32Array, row.length, (i) => flags[row.index[i]]);
    }
    this.count = this.#walked().reduce((sum, row) => sum + row.hits[row.length], 0);
  }

  /** The rows whose hits Enter goes through: all but those of passes, which belong to calls. */
  #walked() {
    return this.rows.filter((row) => row.table !== "runs" && row.table !== "spans");
  }

  /**
   * Go to the next (1) or previous (-1) hit by time: of the current hit, or of a moment.
   * Hits of one moment are ordered by row. Returns { row, place }, and sets `rank` to its number.
   */
  step(by, moment) {
    if (this.count === 0) return null;
    const rows = this.#walked();
    const { current } = this;
    const at = current ? rows.indexOf(current.row) : -1;
    const time = current ? current.row.begin[current.place] : moment;
    // In each row, how many bars come before where we are.
    const before = rows.map((row, i) =>
      i === at ? current.place : lowerBound(row.begin, time, 0, i < at),
    );
    const hitsBefore = rows.map((row, i) => row.hits[before[i]]);
    const passed = by > 0 && current ? 1 : 0;
    let best = null;
    rows.forEach((row, i) => {
      const wanted = by > 0 ? hitsBefore[i] + (i === at ? passed : 0) : hitsBefore[i] - 1;
      if (wanted < 0 || wanted >= row.hits[row.length]) return;
      const place = lowerBound(row.hits, wanted + 1) - 1;
      const ahead = best === null ? 1 : by * (best.row.begin[best.place] - row.begin[place]);
      if (ahead > 0 || (ahead === 0 && by < 0)) best = { row, place };
    });
    if (best === null) {
      // Past the end: start again from the other side.
      this.current = null;
      return this.step(by, by > 0 ? -Infinity : Infinity);
    }
    const rank = hitsBefore.reduce((sum, hits) => sum + hits, 0) + (by > 0 ? passed : -1);
    this.rank = rank + 1;
    return (this.current = best);
  }
}
