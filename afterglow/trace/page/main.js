// SPDX-License-Identifier: Apache-2.0
// Opens the recording and lets mouse and keyboard move the view.

const SMALLEST_VIEW = 20;
const CLICK_DISTANCE = 4;

const byId = (id) => document.getElementById(id);

/** The range of time that is shown. Changing it asks for a redraw. */
class View {
  constructor(duration, changed) {
    this.whole = duration * 1.01 + 1;
    this.lead = -duration * 0.01;
    this.begin = this.lead;
    this.end = this.whole;
    this.changed = changed;
  }

  #possible(length) {
    return Math.min(this.whole - this.lead, Math.max(SMALLEST_VIEW, length));
  }

  show(begin, end) {
    const length = this.#possible(end - begin);
    const middle = (begin + end) / 2;
    this.begin = Math.min(Math.max(middle - length / 2, this.lead), this.whole - length);
    this.end = this.begin + length;
    this.changed();
  }

  zoom(factor, at) {
    const length = this.#possible((this.end - this.begin) * factor);
    const part = (at - this.begin) / (this.end - this.begin);
    this.show(at - part * length, at + (1 - part) * length);
  }

  move(part) {
    const by = part * (this.end - this.begin);
    this.show(this.begin + by, this.end + by);
  }

  fit() {
    this.show(this.lead, this.whole);
  }
}

class Page {
  constructor(recording) {
    this.recording = recording;
    this.asked = { all: false, overlay: false };
    this.view = new View(recording.duration, () => {
      // What was under the pointer is elsewhere now.
      this.timeline.hovered = null;
      byId("tooltip").hidden = true;
      this.redraw();
    });
    this.timeline = new Timeline(recording, this.view);
    this.panel = new Panel(this.timeline, {
      select: (item) => this.select(item, true),
      search: (query) => this.searchFor(query),
    });
    byId("headline").textContent = recording.headline;
    this.#listenToMouse();
    this.#listenToKeys();
    this.#listenToControls();
    this.timeline.resize();
    this.timeline.draw();
    this.panel.show(recording.summary.waits.length ? "Waits" : "Ops");
  }

  /** Draw once before the next frame, however often it was asked for. */
  redraw(overlayOnly = false) {
    if (!this.asked.all && !this.asked.overlay) {
      requestAnimationFrame(() => {
        const { all } = this.asked;
        this.asked = { all: false, overlay: false };
        if (all) this.timeline.draw();
        else this.timeline.drawOverlay();
      });
    }
    this.asked[overlayOnly ? "overlay" : "all"] = true;
  }

  select(item, reveal = false) {
    const { timeline, view } = this;
    timeline.selected = item;
    if (item) {
      timeline.range = null;
      const begin = item.row.begin[item.place];
      const end = item.row.end[item.place];
      if (reveal && (end < view.begin || begin > view.end || end - begin < timeline.scale)) {
        const length = Math.min(view.end - view.begin, Math.max((end - begin) * 40, SMALLEST_VIEW));
        view.show((begin + end - length) / 2, (begin + end + length) / 2);
      }
      if (reveal) this.#scrollTo(item.row);
      const { title, facts } = describe(timeline, item);
      byId("announcement").textContent = `${title}. ${facts
        .filter(([, text]) => text)
        .map((fact) => fact.join(" "))
        .join(", ")}`;
    }
    this.panel.show("Details");
    this.redraw(true);
  }

  #scrollTo(row) {
    const { scroller } = this.timeline;
    if (row.top < scroller.scrollTop) scroller.scrollTop = row.top - ROW_HEIGHT;
    const over = row.top + 2 * ROW_HEIGHT - scroller.scrollTop - scroller.clientHeight;
    if (over > 0) scroller.scrollTop += over;
  }

  searchFor(query, go = true) {
    const { search } = this.timeline;
    if (byId("search").value !== query) byId("search").value = query;
    search.find(query);
    this.#tellHits();
    this.redraw();
    if (go) this.step(1);
  }

  step(by) {
    const { timeline, view } = this;
    const hit = timeline.search.step(by, view.begin);
    this.#tellHits();
    if (!hit) return;
    // The panel keeps the table of the summary from which the search came.
    const { shown } = this.panel;
    this.select(hit, true);
    if (shown !== "Details" && document.activeElement !== byId("search")) this.panel.show(shown);
  }

  #tellHits() {
    const { search } = this.timeline;
    const count = formatCount(search.count);
    byId("hits").textContent = !search.active
      ? ""
      : search.current
        ? `${formatCount(search.rank)} of ${count}`
        : counted(search.count, "hit");
  }

  #point(event) {
    const box = this.timeline.bars.getBoundingClientRect();
    return {
      x: event.clientX - box.left,
      y: event.clientY - box.top + this.timeline.scroller.scrollTop,
    };
  }

  #listenToMouse() {
    const { timeline, view } = this;
    const { area } = timeline;
    const tooltip = byId("tooltip");
    let drag = null;
    const leave = () => {
      timeline.pointer = timeline.hovered = null;
      tooltip.hidden = true;
      area.classList.remove("over");
      this.redraw(true);
    };
    area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const { x, y } = this.#point(event);
      drag = { x, y, begin: view.begin, end: view.end, ranged: event.shiftKey, moved: false };
      if (drag.ranged) timeline.range = null;
      area.setPointerCapture(event.pointerId);
    });
    area.addEventListener("pointermove", (event) => {
      const { x, y } = this.#point(event);
      timeline.pointer = { x, y };
      if (drag) {
        drag.moved ||= Math.hypot(x - drag.x, y - drag.y) >= CLICK_DISTANCE;
        if (drag.moved && drag.ranged) {
          timeline.range = { begin: timeline.timeAt(drag.x), end: timeline.timeAt(x) };
        } else if (drag.moved) {
          area.classList.add("dragging");
          const by = ((drag.x - x) / timeline.width) * (drag.end - drag.begin);
          view.show(drag.begin + by, drag.end + by);
        }
        tooltip.hidden = true;
      } else {
        const target = timeline.hit(x, y);
        timeline.hovered = target?.count === 1 ? target : null;
        const plot = target ? null : timeline.plotAt(y);
        if (target || plot)
          showTooltip(tooltip, timeline, target ?? { plot, x }, event.clientX, event.clientY);
        else tooltip.hidden = true;
        area.classList.toggle("over", target !== null);
      }
      this.redraw(true);
    });
    area.addEventListener("pointerup", (event) => {
      if (!drag) return;
      const { moved, ranged } = drag;
      drag = null;
      area.classList.remove("dragging");
      if (ranged && moved) {
        timeline.selected = null;
        this.panel.show("Details");
      } else if (!moved) {
        const { x, y } = this.#point(event);
        this.#click(timeline.hit(x, y));
      }
      this.redraw(true);
    });
    area.addEventListener("pointercancel", () => (drag = null));
    area.addEventListener("pointerleave", () => drag || leave());
    area.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
        const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
        if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY))
          view.move((sideways * lines) / timeline.width);
        else view.zoom(1.0015 ** (event.deltaY * lines), timeline.timeAt(this.#point(event).x));
      },
      { passive: false },
    );
  }

  #click(target) {
    if (target && target.count > 1) {
      const { row, place, count } = target;
      const begin = row.begin[place];
      const length = Math.max(row.reach[place + count - 1] - begin, SMALLEST_VIEW / 2);
      this.view.show(begin - length / 2, begin + 1.5 * length);
    } else {
      if (!target) this.timeline.range = null;
      this.select(target);
    }
  }

  #listenToKeys() {
    const { timeline, view } = this;
    const zoomAt = () =>
      timeline.pointer ? timeline.timeAt(timeline.pointer.x) : (view.begin + view.end) / 2;
    const actions = {
      w: () => view.zoom(0.7, zoomAt()),
      s: () => view.zoom(1 / 0.7, zoomAt()),
      a: () => view.move(-0.2),
      d: () => view.move(0.2),
      f: () => view.fit(),
      z: () => this.#zoomToSelection(),
      "/": () => byId("search").select(),
      "?": () => byId("help").showModal(),
      Escape: () => this.#giveUp(),
    };
    Object.assign(actions, {
      "+": actions.w,
      "=": actions.w,
      "-": actions.s,
      ArrowLeft: actions.a,
      ArrowRight: actions.d,
      0: actions.f,
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
      if (event.target === byId("search")) return;
      const inLanes = event.target === timeline.area;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const action = (inLanes && this.#laneAction(event)) || actions[key];
      if (!action) return;
      event.preventDefault();
      action();
    });
    byId("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.searchFor("", false);
        timeline.area.focus();
      }
    });
  }

  /** What a key does while the timeline has the focus. */
  #laneAction({ key, shiftKey }) {
    const { timeline } = this;
    const { selected } = timeline;
    if (key === "Enter") return () => this.#selectAtPointer();
    if (!selected) return null;
    if (key === "Tab") {
      const place = selected.place + (shiftKey ? -1 : 1);
      // At the end of the lane Tab leaves the timeline as usual.
      return place >= 0 && place < selected.row.length
        ? () => this.select({ row: selected.row, place }, true)
        : null;
    }
    const down = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (!down) return null;
    const row = timeline.rows[timeline.rows.indexOf(selected.row) + down];
    return () =>
      row && this.select({ row, place: nearest(row, selected.row.begin[selected.place]) }, true);
  }

  #selectAtPointer() {
    const { timeline, view } = this;
    if (timeline.hovered) {
      this.select(timeline.hovered);
      return;
    }
    const middle = (view.begin + view.end) / 2;
    const distance = (row) => Math.abs(row.begin[nearest(row, middle)] - middle);
    const rows = timeline.rows.slice().sort((a, b) => distance(a) - distance(b));
    if (rows.length) this.select({ row: rows[0], place: nearest(rows[0], middle) }, true);
  }

  #zoomToSelection() {
    const { selected, range } = this.timeline;
    if (selected) {
      const begin = selected.row.begin[selected.place];
      const length = Math.max(selected.row.end[selected.place] - begin, SMALLEST_VIEW);
      this.view.show(begin - length, begin + 2 * length);
    } else if (range) {
      this.view.show(Math.min(range.begin, range.end), Math.max(range.begin, range.end));
    }
  }

  /** Esc: the selection first, then the search. */
  #giveUp() {
    const { timeline } = this;
    if (timeline.selected || timeline.range) {
      timeline.range = null;
      this.select(null);
    } else if (timeline.search.active) {
      this.searchFor("", false);
    }
  }

  #listenToControls() {
    const { view, timeline } = this;
    const middle = () => (view.begin + view.end) / 2;
    byId("zoom-in").addEventListener("click", () => view.zoom(0.5, middle()));
    byId("zoom-out").addEventListener("click", () => view.zoom(2, middle()));
    byId("fit").addEventListener("click", () => view.fit());
    byId("show-help").addEventListener("click", () => byId("help").showModal());
    byId("next").addEventListener("click", () => this.step(1));
    byId("previous").addEventListener("click", () => this.step(-1));
    byId("search").addEventListener("input", (event) => this.searchFor(event.target.value, false));
    const fit = new ResizeObserver(() => {
      timeline.resize();
      timeline.draw();
    });
    fit.observe(timeline.scroller);
    timeline.scroller.addEventListener("scroll", () => this.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      timeline.readColours();
      this.redraw();
    });
  }
}

/** The bar of a row whose begin is nearest to a moment. */
function nearest(row, time) {
  const after = Math.min(lowerBound(row.begin, time), row.length - 1);
  return after > 0 && time - row.begin[after - 1] < row.begin[after] - time ? after - 1 : after;
}

async function open() {
  const source = byId("data");
  const recording = await Recording.read(source.textContent);
  source.remove();
  const page = new Page(recording);
  const { timeline, view } = page;
  const number = (item) =>
    item && { kind: item.row.kind, index: item.row.index[item.place], count: item.count ?? 1 };
  /** For tests and for the curious. Points are those of the window. */
  window.afterglow = {
    recording,
    timeline,
    view,
    loadTime: performance.now(),
    counts: Object.fromEntries(
      ["calls", "runs", "waits", "spans", "marks"].map((table) => [table, recording[table].begin.length]),
    ),
    lanes: () =>
      timeline.lanes.map(({ name, rows, plots }) => ({
        name,
        rows: rows.map((row) => ({ kind: row.kind, label: row.label, bars: row.length })),
        plots: plots.map((plot) => plot.name),
      })),
    state: () => ({
      begin: view.begin,
      end: view.end,
      selected: number(timeline.selected),
      hovered: number(timeline.hovered),
      range: timeline.range,
      hits: timeline.search.count,
      rank: timeline.search.rank,
      draws: timeline.draws,
      drawTime: timeline.drawTime,
      arrows: timeline.arrows,
      copies: timeline.copies,
    }),
    hit(x, y) {
      const box = timeline.bars.getBoundingClientRect();
      return number(timeline.hit(x - box.left, y - box.top + timeline.scroller.scrollTop));
    },
    /** Where the middle of a bar is. */
    where(table, index) {
      const { row, place } = timeline.itemOf(table, index);
      const box = timeline.bars.getBoundingClientRect();
      const x = box.left + timeline.x((row.begin[place] + row.end[place]) / 2);
      return { x, y: box.top + row.top + ROW_HEIGHT / 2 - timeline.scroller.scrollTop };
    },
    depthAt: (time) =>
      timeline.lanes.find((lane) => lane.name === "queue depth").plots[0].steps.at(time),
    /** The colour that is drawn at a point: [red, green, blue, opacity]. */
    colourAt(x, y) {
      const box = timeline.bars.getBoundingClientRect();
      const ratio = timeline.bars.width / timeline.width;
      return Array.from(
        timeline.bars
          .getContext("2d")
          .getImageData((x - box.left) * ratio, (y - box.top) * ratio, 1, 1).data,
      );
    },
    /** Draw again now, and return how many milliseconds it took. */
    redraw() {
      timeline.draw();
      return timeline.drawTime;
    },
  };
}

open().catch((problem) => {
  byId("headline").textContent = `The recording could not be read: ${problem.message}`;
  throw problem;
});
