// SPDX-License-Identifier: Apache-2.0
// Bars and lines over time that can be asked for any range quickly, however many there are.

/** The first place in an ascending array with at least (or, if `after`, more than) this value. */
function lowerBound(values, value, from = 0, after = false, to = values.length) {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < value || (after && values[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same for a place that is probably near `from`. */
function gallop(values, value, from) {
  let step = 1;
  while (from + step < values.length && values[from + step] < value) step *= 2;
  const last = Math.min(from + step, values.length);
  return lowerBound(values, value, from + (step >>> 1), false, last);
}

/** Sums of a function over the first 0, 1, 2 ... places. */
function sums(Type, length, of) {
  const result = new Type(length + 1);
  for (let i = 0; i < length; i++) result[i + 1] = result[i] + of(i);
  return result;
}

function isAscending(values, index) {
  for (let i = 1; i < index.length; i++) if (values[index[i]] < values[index[i - 1]]) return false;
  return true;
}

/** Bars of one row, ordered by their begin. `index` are their numbers in the table. */
class Bars {
  constructor(kind, table, index) {
    if (!isAscending(table.begin, index)) index.sort((a, b) => table.begin[a] - table.begin[b]);
    this.kind = kind;
    this.index = index;
    this.begin = new Float64Array(index.length);
    this.end = new Float64Array(index.length);
    // Ends in ascending order, although one bar may lie within another.
    this.reach = new Float64Array(index.length);
    // Time covered by the first 0, 1, 2 ... bars.
    this.covered = new Float64Array(index.length + 1);
    for (let i = 0; i < index.length; i++) {
      const begin = (this.begin[i] = table.begin[index[i]]);
      const end = (this.end[i] = table.end[index[i]]);
      this.reach[i] = i > 0 ? Math.max(end, this.reach[i - 1]) : end;
      this.covered[i + 1] = this.covered[i] + end - begin;
    }
    this.hits = null;
  }

  get length() {
    return this.index.length;
  }

  /** Bars that touch a range are among those from the first to before the second number. */
  within(begin, end) {
    return [lowerBound(this.reach, begin), lowerBound(this.begin, end, 0, true)];
  }

  /** The place of a table's row among the bars. */
  placeOf(number, begin) {
    for (let i = lowerBound(this.begin, begin); i < this.length && this.begin[i] === begin; i++) {
      if (this.index[i] === number) return i;
    }
    return -1;
  }

  /** Nanoseconds of the range in which there is a bar. */
  time(begin, end) {
    const upTo = (moment) => {
      const i = lowerBound(this.begin, moment);
      return i === 0 ? 0 : this.covered[i] - Math.max(0, this.end[i - 1] - moment);
    };
    return upTo(end) - upTo(begin);
  }
}

/** A value that changes in steps. */
class Steps {
  static BLOCK = 256;

  constructor(time, value) {
    this.time = time;
    this.value = value;
    this.blocks = new Float64Array(Math.ceil(time.length / Steps.BLOCK));
    // The range that is drawn; it has the zero in it.
    this.peak = this.least = 0;
    for (const one of value) {
      if (Number.isFinite(one) && one > this.peak) this.peak = one;
      if (Number.isFinite(one) && one < this.least) this.least = one;
    }
    for (let block = 0; block < this.blocks.length; block++) {
      const first = block * Steps.BLOCK;
      this.blocks[block] = this.#scan(first, Math.min(first + Steps.BLOCK, time.length));
    }
  }

  #scan(first, last) {
    let most = -Infinity;
    for (let i = first; i < last; i++) if (this.value[i] > most) most = this.value[i];
    return most;
  }

  /** The value at a moment; 0 before the first. */
  at(time) {
    const i = lowerBound(this.time, time, 0, true) - 1;
    return i < 0 ? 0 : this.value[i];
  }

  /** The largest of the values from one number to before another. */
  most(first, last) {
    const size = Steps.BLOCK;
    const from = Math.ceil(first / size);
    const to = Math.floor(last / size);
    if (from >= to) return this.#scan(first, last);
    let most = Math.max(this.#scan(first, from * size), this.#scan(to * size, last));
    for (let block = from; block < to; block++) most = Math.max(most, this.blocks[block]);
    return most;
  }
}
