// SPDX-License-Identifier: Apache-2.0
// The lanes on the screen: where they are, how they are drawn, and what lies at a point.

const ROW_HEIGHT = 20;
const ROW_GAP = 3;
const LANE_GAP = 12;
const PLOT_HEIGHT = 64;
const TALLEST_PLOT = 130;
const RULER_HEIGHT = 30;
const MANY_ARROWS = 60;

class Timeline {
  constructor(recording, view) {
    this.recording = recording;
    this.view = view;
    this.lanes = makeLanes(recording);
    this.rows = this.lanes.flatMap((lane) => lane.rows);
    this.search = new Search(recording, this.rows);
    this.selected = null;
    this.hovered = null;
    this.range = null;
    this.pointer = null;
    this.draws = 0;
    this.drawTime = 0;
    this.ruler = document.getElementById("ruler");
    this.bars = document.getElementById("bars");
    this.overlay = document.getElementById("overlay");
    this.area = document.getElementById("lanes");
    this.scroller = document.getElementById("scroller");
    this.plotHeight = PLOT_HEIGHT;
    this.#layOut();
    this.readColours();
  }

  /** Give each row and plot its place, and write the labels. */
  #layOut() {
    const labels = document.getElementById("labels");
    labels.replaceChildren();
    const label = (className, text, top, height) => {
      const div = element("div", { className, textContent: text, title: text });
      div.style.top = `${top}px`;
      div.style.height = div.style.lineHeight = `${height}px`;
      labels.append(div);
      return div;
    };
    let top = LANE_GAP / 2;
    for (const lane of this.lanes) {
      lane.top = top;
      const plain = lane.rows.length < 2 && lane.plots.length === 0;
      const alone =
        lane.rows.length === 0 && lane.plots.length === 1 && lane.plots[0].name === lane.name;
      label("lane", lane.name, top, ROW_HEIGHT);
      if (!plain && !alone) top += ROW_HEIGHT;
      for (const row of lane.rows) {
        row.top = top;
        if (!plain) label("row", row.label, top, ROW_HEIGHT);
        top += ROW_HEIGHT + ROW_GAP;
      }
      for (const plot of lane.plots) {
        plot.top = top;
        if (!alone) label("row", plot.name, top, ROW_HEIGHT);
        label("scale", plotRange(plot), top + ROW_HEIGHT, 14);
        if (plot.unit) label("scale", plot.unit, top + ROW_HEIGHT + 15, 14);
        top += this.plotHeight + ROW_GAP;
      }
      if (plain && lane.rows.length === 0) top += ROW_HEIGHT;
      lane.bottom = top;
      top += LANE_GAP;
    }
    this.height = top;
    labels.style.height = this.area.style.height = `${top}px`;
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    // All that the first rule of the style names.
    const names = Array.from(document.styleSheets[0].cssRules[0].style);
    this.colours = Object.fromEntries(
      names
        .filter((name) => name.startsWith("--"))
        .map((name) => [name.slice(2), style.getPropertyValue(name).trim()]),
    );
  }

  /** Fit plots and canvases to the window. */
  resize() {
    const plots = this.lanes.reduce((sum, lane) => sum + lane.plots.length, 0);
    const room = this.scroller.clientHeight - (this.height - plots * this.plotHeight);
    this.plotHeight = Math.min(TALLEST_PLOT, Math.max(PLOT_HEIGHT, Math.floor(room / plots)));
    this.#layOut();
    this.width = Math.max(1, this.area.clientWidth);
    this.seen = Math.min(this.height, this.scroller.clientHeight);
    this.bars.parentElement.style.height = `${this.seen}px`;
    const ratio = window.devicePixelRatio || 1;
    const fit = (canvas, height) => {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${height}px`;
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    };
    fit(this.bars, this.seen);
    fit(this.overlay, this.seen);
    fit(this.ruler, RULER_HEIGHT);
  }

  x(time) {
    return ((time - this.view.begin) / (this.view.end - this.view.begin)) * this.width;
  }

  timeAt(x) {
    return this.view.begin + (x / this.width) * (this.view.end - this.view.begin);
  }

  /** Nanoseconds of a pixel. */
  get scale() {
    return (this.view.end - this.view.begin) / this.width;
  }

  draw() {
    const started = performance.now();
    const context = this.bars.getContext("2d");
    context.clearRect(0, 0, this.width, this.seen);
    context.save();
    context.translate(0, -this.scroller.scrollTop);
    context.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
    context.textBaseline = "middle";
    this.#drawRuler(context);
    for (const lane of this.lanes) {
      if (!this.#isSeen(lane)) continue;
      for (const row of lane.rows) this.#drawRow(context, row);
      for (const plot of lane.plots) this.#drawPlot(context, plot);
    }
    context.restore();
    this.drawOverlay();
    this.draws++;
    this.drawTime = performance.now() - started;
  }

  #isSeen(lane) {
    const { scrollTop } = this.scroller;
    return lane.bottom > scrollTop && lane.top < scrollTop + this.seen;
  }

  #drawRuler(lanes) {
    const { colours, view } = this;
    const context = this.ruler.getContext("2d");
    context.clearRect(0, 0, this.width, RULER_HEIGHT);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const least = this.scale * 90;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
    for (const lane of this.lanes) {
      lanes.fillStyle = colours.lane;
      lanes.fillRect(0, lane.top - 3, this.width, lane.bottom - lane.top + 3);
    }
    for (let tick = Math.ceil(view.begin / step) * step; tick <= view.end; tick += step) {
      const x = Math.round(this.x(tick)) + 0.5;
      lanes.fillStyle = context.fillStyle = colours.line;
      lanes.fillRect(x, 0, 1, this.height);
      context.fillRect(x, 20, 1, 10);
      context.fillStyle = colours.faint;
      const text = formatMoment(tick, step, view.end);
      const width = context.measureText(text).width;
      context.fillText(text, Math.max(0, Math.min(x - width / 2, this.width - width)), 12);
    }
    // Which part of the whole is in view.
    const whole = this.recording.duration;
    const left = (Math.max(0, view.begin) / whole) * this.width;
    const right = (Math.min(whole, view.end) / whole) * this.width;
    context.fillStyle = colours.issue;
    context.fillRect(left, 0, Math.max(2, right - left), 3);
  }

  /** Draw the bars of a row; those that begin in one pixel and are not wider are one. */
  #drawRow(context, row) {
    const { view, width } = this;
    const { begin, end, covered } = row;
    const [first, last] = row.within(view.begin, view.end);
    const pixel = this.scale;
    for (let i = first; i < last;) {
      const left = Math.max(this.x(begin[i]), -2);
      const right = Math.min(this.x(end[i]), width + 2);
      if (right < 0) {
        i++;
      } else if (right - left >= 2) {
        this.#drawBar(context, row, i, left, right);
        i++;
      } else {
        const edge = view.begin + (Math.floor(left) + 1) * pixel;
        let next = gallop(begin, edge, i);
        if (next > i + 1 && end[next - 1] - edge > pixel) next--;
        const full = Math.min(1, (covered[next] - covered[i]) / pixel);
        next = Math.max(next, i + 1);
        this.#drawSpeck(context, row, i, next, Math.floor(left), full);
        if (row.kind === "mark" && next === i + 1) this.#nameMark(context, row, i, left + 4);
        i = next;
      }
    }
    context.globalAlpha = 1;
  }

  #drawSpeck(context, row, first, last, left, full) {
    const { colours, search } = this;
    const hit = search.active && row.hits[last] > row.hits[first];
    const hollow = row.hollow && row.hollow[last] - row.hollow[first] === last - first;
    const one = row.kind === "mark" && last === first + 1;
    context.globalAlpha = search.active && !hit ? 0.12 : one ? 1 : 0.35 + 0.65 * full;
    context.fillStyle = hit ? colours.hit : colours[row.colour ?? row.kind];
    if (hollow) {
      context.fillRect(left, row.top, 1, 2);
      context.fillRect(left, row.top + ROW_HEIGHT - 2, 1, 2);
    } else {
      context.fillRect(left, row.top, one ? 2 : 1, ROW_HEIGHT);
    }
  }

  /** Write the name of a marker, which has no length, where there is room before the next. */
  #nameMark(context, row, i, left) {
    const room = (i + 1 < row.length ? this.x(row.begin[i + 1]) : this.width) - left - 4;
    if (room < 26) return;
    context.fillStyle = this.colours.ink;
    context.fillText(
      fitText(context, this.barName(row, row.index[i]), room),
      left,
      row.top + ROW_HEIGHT / 2 + 0.5,
    );
  }

  #drawBar(context, row, i, left, right) {
    const { colours, search, recording } = this;
    const number = row.index[i];
    const hit = search.active && row.hits[i + 1] > row.hits[i];
    const fused = recording.isFused(this.passOf(row, number));
    const hollow = row.kind === "issue" && recording.calls.state[number] === DROPPED;
    const colour = fused ? "fused" : (row.colour ?? row.kind);
    // A gap between neighbours, but never more than the bar.
    const width = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
    context.globalAlpha = search.active && !hit ? 0.22 : 1;
    context.fillStyle = context.strokeStyle = colours[colour];
    context.lineWidth = 1;
    if (hollow) {
      context.setLineDash([3, 2]);
      context.strokeRect(left + 0.5, row.top + 0.5, Math.max(1, width - 1), ROW_HEIGHT - 1);
      context.setLineDash([]);
    } else {
      context.fillRect(left, row.top, width, ROW_HEIGHT);
    }
    if (fused && width > 6) {
      context.strokeStyle = colours["fused-ink"];
      context.strokeRect(left + 2.5, row.top + 2.5, width - 5, ROW_HEIGHT - 5);
    }
    if (hit) {
      context.strokeStyle = colours.hit;
      context.lineWidth = 2;
      context.strokeRect(left + 1, row.top + 1, Math.max(1, width - 2), ROW_HEIGHT - 2);
    }
    if (width > 26) {
      const inset = fused ? 7 : 4;
      const text = fitText(context, this.barName(row, number), width - 2 * inset);
      context.fillStyle = hollow ? colours.ink : colours[`${colour}-ink`];
      context.fillText(text, left + inset, row.top + ROW_HEIGHT / 2 + 0.5);
    }
  }

  /** The pass that a bar of a thread or of a device stands for; -1 for other bars. */
  passOf(row, number) {
    const { runs, spans } = this.recording;
    if (row.kind === "run") return runs.pass[number];
    return row.kind === "span" ? spans.pass[number] : -1;
  }

  /** What is written in a bar. */
  barName(row, number) {
    const { recording } = this;
    const { calls, waits, marks, texts } = recording;
    if (row.kind === "issue") return recording.op(number);
    if (row.kind === "wait")
      return `${texts[waits.what[number]]} ${shortSite(texts[waits.site[number]])}`;
    if (row.kind === "mark") return texts[marks.name[number]];
    const pass = this.passOf(row, number);
    const layer = recording.membersOf(pass).length
      ? texts[calls.layer[recording.membersOf(pass)[0]]]
      : "";
    return recording.passName(pass) + (layer ? ` · ${layer}` : "");
  }

  #drawPlot(context, plot) {
    const { view, width, colours } = this;
    const { steps } = plot;
    const bottom = plot.top + this.plotHeight;
    const height = (value) =>
      steps.peak > steps.least
        ? ((Math.min(Math.max(value, steps.least), steps.peak) - steps.least) /
            (steps.peak - steps.least)) *
          (this.plotHeight - 4)
        : 0;
    const zero = bottom - height(0);
    context.beginPath();
    context.moveTo(0, zero);
    let i = lowerBound(steps.time, view.begin, 0, true);
    let value = i > 0 ? steps.value[i - 1] : 0;
    const end = Math.min(width, this.x(this.recording.duration));
    for (let x = 0; x < end; x++) {
      const next = gallop(steps.time, this.timeAt(x + 1), i);
      const most = next > i ? Math.max(value, steps.most(i, next)) : value;
      context.lineTo(x, bottom - height(most));
      context.lineTo(x + 1, bottom - height(most));
      if (next > i) value = steps.value[next - 1];
      i = next;
    }
    context.lineTo(end, zero);
    context.closePath();
    context.fillStyle = colours[plot.colour];
    context.globalAlpha = 0.55;
    context.fill();
    context.globalAlpha = 1;
    context.fillStyle = colours.line;
    context.fillRect(0, zero, width, 1);
  }

  /** What changes with the pointer: selection, range, arrows. */
  drawOverlay() {
    const { colours, width } = this;
    const context = this.overlay.getContext("2d");
    context.clearRect(0, 0, width, this.seen);
    context.save();
    context.translate(0, -this.scroller.scrollTop);
    if (this.range) {
      const left = this.x(Math.min(this.range.begin, this.range.end));
      const right = this.x(Math.max(this.range.begin, this.range.end));
      context.fillStyle = colours.range;
      context.fillRect(left, 0, right - left, this.height);
      context.fillStyle = colours.issue;
      context.fillRect(left, 0, 1, this.height);
      context.fillRect(right, 0, 1, this.height);
      context.font = "600 11px system-ui, sans-serif";
      context.textBaseline = "top";
      context.fillText(
        formatTime(Math.abs(this.range.end - this.range.begin)),
        left + 4,
        this.scroller.scrollTop + 2,
      );
    }
    if (this.pointer) {
      context.fillStyle = colours.faint;
      context.globalAlpha = 0.5;
      context.fillRect(Math.round(this.pointer.x), 0, 1, this.height);
      context.globalAlpha = 1;
    }
    this.#drawArrows(context);
    for (const [item, thick] of [
      [this.hovered, 1],
      [this.selected, 2],
    ]) {
      if (item) this.#drawFrame(context, item, thick);
    }
    context.restore();
  }

  #drawFrame(context, { row, place }, thick) {
    const left = this.x(row.begin[place]);
    const right = Math.max(this.x(row.end[place]), left + 2);
    if (right < 0 || left > this.width) return;
    context.strokeStyle = this.colours.selection;
    context.lineWidth = thick;
    const from = Math.max(left, -4);
    context.strokeRect(
      from - 0.5,
      row.top - 0.5,
      Math.min(right, this.width + 4) - from + 1,
      ROW_HEIGHT + 1,
    );
  }

  /** Arrows from issue to run: of all runs in view when they are few, and of what is selected. */
  #drawArrows(context) {
    const { recording, view, colours } = this;
    const few = [];
    for (const row of this.rows) {
      if (row.kind !== "run") continue;
      const [first, last] = row.within(view.begin, view.end);
      for (let i = first; i < last && few.length <= MANY_ARROWS; i++) few.push({ row, place: i });
    }
    context.lineWidth = 1;
    if (few.length <= MANY_ARROWS) {
      context.strokeStyle = context.fillStyle = colours.faint;
      context.globalAlpha = 0.35;
      for (const { row, place } of few)
        this.#arrowsOf(context, recording.runs.pass[row.index[place]], row.index[place]);
    }
    this.arrows = few.length <= MANY_ARROWS ? few.length : 0;
    this.copies = this.#drawCopies(context);
    context.globalAlpha = 1;
    context.strokeStyle = context.fillStyle = colours.selection;
    context.lineWidth = 1.25;
    for (const item of [this.hovered, this.selected]) {
      if (!item) continue;
      const number = item.row.index[item.place];
      if (item.row.kind === "run") this.#arrowsOf(context, recording.runs.pass[number], number);
      if (item.row.kind === "issue") {
        const pass = recording.calls.pass[number];
        for (const run of recording.runsOf(pass)) this.#arrow(context, number, run);
      }
    }
  }

  /** Arrows of the copies between devices in view, when they are few; returns how many. */
  #drawCopies(context) {
    const { recording, view, colours } = this;
    const { spans } = recording;
    const few = [];
    for (const row of this.rows) {
      if (row.kind !== "span") continue;
      const [first, last] = row.within(view.begin, view.end);
      for (let i = first; i < last && few.length <= MANY_ARROWS; i++)
        if (spans.sent[row.index[i]] >= 0) few.push({ row, place: i });
    }
    if (few.length > MANY_ARROWS) return 0;
    context.strokeStyle = context.fillStyle = colours.issue;
    context.globalAlpha = 0.8;
    for (const { row, place } of few) {
      const from = this.rowOf("spans", spans.sent[row.index[place]]);
      this.#curve(context, from, row.begin[place], row, row.end[place]);
    }
    return few.length;
  }

  #arrowsOf(context, pass, run) {
    for (const call of this.recording.membersOf(pass).slice(0, MANY_ARROWS))
      this.#arrow(context, call, run);
  }

  #arrow(context, call, run) {
    const { calls, runs } = this.recording;
    const [from, to] = [this.rowOf("calls", call), this.rowOf("runs", run)];
    this.#curve(context, from, calls.end[call], to, runs.begin[run]);
  }

  /** An arrow from a moment in one row to a moment in another. */
  #curve(context, from, begin, to, end) {
    const [x0, x1] = [this.x(begin), this.x(end)];
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > this.width) return;
    const y0 = from.top + (to.top > from.top ? ROW_HEIGHT : 0);
    const y1 = to.top + (to.top > from.top ? 0 : ROW_HEIGHT);
    const way = Math.sign(y1 - y0) || 1;
    const bend = Math.min(40, Math.abs(y1 - y0) * 0.6);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, y0 + way * bend, x1, y1 - way * bend, x1, y1);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 3, y1 - way * 6);
    context.lineTo(x1 + 3, y1 - way * 6);
    context.fill();
  }

  /** The row in which a row of a table is drawn. */
  rowOf(table, number) {
    const { recording } = this;
    if (table === "marks" || table === "spans")
      return this.rows.find(
        (row) => row.table === table && row.placeOf(number, recording[table].begin[number]) >= 0,
      );
    const thread = recording[table].thread[number];
    return this.lanes[thread].rows.find((row) => row.table === table);
  }

  /** The bar { row, place } of a row of a table. */
  itemOf(table, number) {
    const row = this.rowOf(table, number);
    return { row, place: row.placeOf(number, this.recording[table].begin[number]) };
  }

  /** What lies at a point: { row, place, count }; `count` bars are drawn as one there. */
  hit(x, y) {
    const row = this.rows.find((row) => y >= row.top - 1 && y <= row.top + ROW_HEIGHT + 1);
    if (!row) return null;
    const time = this.timeAt(x);
    const pixel = this.scale;
    const [first, last] = row.within(time - 3 * pixel, time + 3 * pixel);
    let best = null;
    let nearest = 3 * pixel;
    // Among many it is one of those next to the pointer.
    const next = lowerBound(row.begin, time);
    for (let i = Math.min(last, next + 32) - 1; i >= Math.max(first, next - 32); i--) {
      const distance = Math.max(row.begin[i] - time, time - row.end[i], 0);
      if (distance <= nearest && (best === null || distance < nearest))
        [best, nearest] = [i, distance];
    }
    if (best === null) return null;
    const wide = row.end[best] - row.begin[best] >= 2 * pixel;
    if (wide) return { row, place: best, count: 1 };
    const column = Math.floor(this.x(row.begin[best]));
    const from = lowerBound(row.begin, this.timeAt(column));
    const to = lowerBound(row.begin, this.timeAt(column + 1));
    return to - from > 1 ? { row, place: from, count: to - from } : { row, place: best, count: 1 };
  }

  /** The plot at a height. */
  plotAt(y) {
    return (
      this.lanes
        .flatMap((lane) => lane.plots)
        .find((plot) => y >= plot.top && y <= plot.top + this.plotHeight) ?? null
    );
  }
}

/** Between which values a plot is drawn, in words. */
function plotRange({ steps, format }) {
  return steps.least < 0
    ? `${format(steps.least)} to ${format(steps.peak)}`
    : `at most ${format(steps.peak)}`;
}

/** The longest beginning of a text that fits into a width. */
function fitText(context, text, width) {
  if (text.length * 11 <= width || context.measureText(text).width <= width) return text;
  let low = 0;
  let high = Math.min(text.length, Math.ceil(width / 2));
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low ? `${text.slice(0, low)}…` : "";
}
