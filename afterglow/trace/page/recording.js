// SPDX-License-Identifier: Apache-2.0
// The recording, as afterglow/trace/page.py stores it, and what follows from it.

const RAN = 0;
const DROPPED = 1;
const PENDING = 2;

const STORED_TYPES = { i1: Int8Array, i2: Int16Array, i4: Int32Array, f8: Float64Array };

async function inflate(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function readColumn(buffer, start, { stored, type, at, length }, begin) {
  const values = new STORED_TYPES[type](buffer, start + at, length);
  if (stored === "plain") return values;
  const column = new Float64Array(length);
  if (stored === "steps") {
    for (let i = 0, time = 0; i < length; i++) column[i] = time += values[i];
  } else {
    for (let i = 0; i < length; i++) column[i] = begin[i] + values[i];
  }
  return column;
}

class Recording {
  static async read(base64) {
    const buffer = await inflate(base64);
    const size = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
    const start = Math.ceil((4 + size) / 8) * 8;
    for (const [name, described] of Object.entries(header.tables)) {
      const table = (header[name] = {});
      for (const [column, description] of Object.entries(described)) {
        table[column] = readColumn(buffer, start, description, table.begin);
      }
    }
    return new Recording(header);
  }

  constructor(header) {
    Object.assign(this, header);
    this.#findPasses();
  }

  /** Which calls and which runs belong to a pass: slices of `members` and of the table of runs. */
  #findPasses() {
    const { calls, runs } = this;
    let count = 0;
    for (const pass of calls.pass) if (pass >= count) count = pass + 1;
    for (const pass of runs.pass) if (pass >= count) count = pass + 1;
    const offsets = (column) => {
      const first = new Uint32Array(count + 1);
      for (const pass of column) if (pass >= 0) first[pass + 1]++;
      for (let pass = 0; pass < count; pass++) first[pass + 1] += first[pass];
      return first;
    };
    this.firstRun = offsets(runs.pass);
    this.firstMember = offsets(calls.pass);
    this.members = new Uint32Array(this.firstMember[count]);
    const next = this.firstMember.slice();
    calls.pass.forEach((pass, call) => {
      if (pass >= 0) this.members[next[pass]++] = call;
    });
    this.passEnd = new Float64Array(count);
    for (let i = 0; i < runs.pass.length; i++) {
      this.passEnd[runs.pass[i]] = Math.max(this.passEnd[runs.pass[i]], runs.end[i]);
    }
  }

  membersOf(pass) {
    return pass < 0
      ? []
      : this.members.subarray(this.firstMember[pass], this.firstMember[pass + 1]);
  }

  /** Numbers of the runs of a pass, by their begin. */
  runsOf(pass) {
    if (pass < 0) return [];
    const first = this.firstRun[pass];
    return Array.from({ length: this.firstRun[pass + 1] - first }, (_, i) => first + i);
  }

  isFused(pass) {
    return pass >= 0 && this.firstMember[pass + 1] - this.firstMember[pass] > 1;
  }

  op(call) {
    return this.texts[this.calls.op[call]] || "(no name)";
  }

  /** The name of a pass: its op, or what was fused. */
  passName(pass) {
    const members = this.membersOf(pass);
    if (members.length === 0) return `pass ${pass}`;
    if (members.length === 1) return this.op(members[0]);
    const names = Array.from(members.subarray(0, 8), (call) => this.op(call));
    return names.join(" + ") + (members.length > 8 ? ` + ${members.length - 8} more` : "");
  }

  /** Times at which the number of issued and unfinished calls changes, and that number. */
  queueDepth() {
    const { calls } = this;
    const begins = new Float64Array(calls.begin.length);
    const ends = new Float64Array(calls.begin.length);
    for (let i = 0; i < begins.length; i++) {
      const pass = calls.pass[i];
      const ran =
        calls.state[i] === RAN && pass >= 0 && this.firstRun[pass] < this.firstRun[pass + 1];
      const end = ran
        ? this.passEnd[pass]
        : calls.state[i] === PENDING
          ? this.duration
          : calls.state[i] === DROPPED
            ? calls.dropped[i]
            : calls.end[i];
      begins[i] = calls.begin[i];
      ends[i] = Math.max(end, calls.begin[i]);
    }
    const kept = begins.length;
    const up = begins.sort();
    const down = ends.sort();
    const time = new Float64Array(2 * kept);
    const value = new Float64Array(2 * kept);
    let count = 0;
    for (let i = 0, j = 0; j < kept; count++) {
      const now = i < kept ? Math.min(up[i], down[j]) : down[j];
      while (i < kept && up[i] === now) i++;
      while (j < kept && down[j] === now) j++;
      time[count] = now;
      value[count] = i - j;
    }
    return { time: time.subarray(0, count), value: value.subarray(0, count) };
  }
}
