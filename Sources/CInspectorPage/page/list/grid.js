import { element, clear, recorded } from "../core/dom.js";
import { plain } from "../core/text.js";
import { chosen, keepWidth, NARROWEST, TINIEST, statusOf } from "./columns.js";
import * as api from "../core/api.js";
import { Waterfall } from "./waterfall.js";

const HEIGHT = 24;
// Chromium lays out at most 2^25 pixels; a longer list scrolls in larger steps.
const TALLEST = 16_000_000;
// Milliseconds after which the uploads on the screen are checked: not while the list moves.
const CHECKED = 250;
// Matches most texts: no control characters, no placeholders, and no letters that need a closer look.
const SIMPLE = /^[ -z|~]*$/;

/** Puts recorded text into an element that contains nothing else; writes nothing if it is already there. */
function put(target, text) {
  if (target.shown === text) return;
  target.shown = text;
  if (!SIMPLE.test(text)) clear(target, recorded(text));
  else if (target.childNodes.length === 1 && target.firstChild.nodeType === Node.TEXT_NODE) target.firstChild.data = text;
  else target.textContent = text;
}

/** The list of exchanges: a few elements that are reused for whichever rows are on the screen. */
export class Grid {
  constructor(parent, rows) {
    this.rows = rows;
    /** What the page does for the list: `open(key, isAsked)`, `sort(name)`, `unfollow()`. */
    this.actions = { open() {}, sort() {}, unfollow() {} };
    /** The keys of the rows that were chosen together, and what to call when they change. */
    this.marked = new Set();
    this.onmarks = () => {};
    /** Says what a replay did with a row; empty without a replay. */
    this.note = () => "";
    /** How many defects the uploads of rows have, by key. */
    this.defects = new Map();
    this.isNarrow = false;
    this.selected = null;
    this.selectedPlace = -1;
    this.order = { name: "start", descends: false };
    this.pool = [];
    this.height = 0;
    this.axisWords = [element("span"), element("span")];
    this.mode = element("button", { type: "button", title: "By time of day, or each from its own start", text: "by time", onclick: () => { this.waterfall.mode = this.waterfall.mode === "time" ? "length" : "time"; this.mode.textContent = "by " + this.waterfall.mode; this.paint(); } });
    this.head = element("div", { class: "head", role: "row", "aria-rowindex": 1 });
    this.spacer = element("div", { class: "spacer", role: "rowgroup" });
    this.grid = element("div", { class: "viewport", role: "grid", tabindex: 0, "aria-label": "Exchanges", "aria-multiselectable": "true" }, this.head, this.spacer);
    this.viewport = this.grid;
    this.canvas = element("canvas", { class: "waterfall", "aria-hidden": "true" });
    this.empty = element("p", { class: "empty", hidden: true });
    this.ruler = element("div", { class: "ruler", "aria-hidden": "true", hidden: true }, element("span"));
    this.box = element("div", { class: "grid" }, this.grid, this.canvas, this.ruler);
    clear(parent, this.empty, this.box);
    this.waterfall = new Waterfall(this.canvas, (...words) => words.forEach((word, index) => put(this.axisWords[index], word)));
    this.choose();
    this.viewport.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.viewport.addEventListener("wheel", () => this.actions.unfollow(), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.viewport.addEventListener("mousedown", (event) => {
      const row = event.target.closest?.(".row");
      if (!row) return;
      if (event.shiftKey) { event.preventDefault(); this.extend(row.place); } else if (event.ctrlKey || event.metaKey) { event.preventDefault(); this.toggle(row.place); } else this.select(row.place, true);
    });
    this.viewport.addEventListener("mousemove", (event) => this.point(event), { passive: true });
    this.viewport.addEventListener("mouseleave", () => { this.ruler.hidden = true; });
    this.viewport.addEventListener("wheel", (event) => this.zoom(event), { passive: false });
    this.viewport.addEventListener("dblclick", (event) => { if (this.fraction(event) !== null && this.waterfall.unzoom()) this.paint(); });
    const observer = new ResizeObserver(() => { if (this.widths === this.seenWidths) { this.measure(); this.paint(); } else this.choose(); });
    observer.observe(this.viewport);
    observer.observe(this.head);
  }

  /** Which columns there is room for: changes only where other ones are shown. */
  get widths() { return [NARROWEST, TINIEST].filter((width) => this.box.clientWidth < width).length; }

  /** Shows the chosen columns. */
  choose() {
    this.isNarrow = this.box.clientWidth < NARROWEST;
    this.seenWidths = this.widths;
    this.columns = chosen(this.isNarrow, this.box.clientWidth < TINIEST);
    this.box.style.setProperty("--columns", this.columns.map((one) => one.width).join(" "));
    this.headers = this.columns.map((column, index) => {
      const content = column.name === "fall" ? [...this.axisWords, this.mode] : column.sort ? element("button", { type: "button", text: column.label, onclick: () => this.actions.sort(column.sort) }) : element("span", { text: column.label });
      return element("div", { role: "columnheader", class: column.kind, "aria-colindex": index + 1, "aria-label": column.name === "fall" ? "waterfall" : null }, content, this.isNarrow ? null : this.edge(column, index));
    });
    clear(this.head, this.headers);
    this.grid.setAttribute("aria-colcount", this.columns.length);
    for (const row of this.pool) row.element.remove();
    this.pool = [];
    this.pattern = null;
    this.sorted(this.order.name, this.order.descends);
    this.measure();
    this.paint();
  }

  /** The right edge of a heading, which sets the width of its column. A double click gives it the usual one. */
  edge(column, index) {
    const edge = element("span", { class: "edge", "aria-hidden": "true", ondblclick: () => { keepWidth(column.name, null); this.choose(); } });
    edge.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      edge.setPointerCapture(event.pointerId);
      const [start, width] = [event.clientX, this.headers[index].offsetWidth];
      const move = (moved) => {
        const wanted = Math.max(36, width + moved.clientX - start);
        keepWidth(column.name, wanted);
        this.columns[index] = { ...this.columns[index], width: `${Math.round(wanted)}px` };
        this.box.style.setProperty("--columns", this.columns.map((one) => one.width).join(" "));
        this.measure();
        this.schedule();
      };
      edge.addEventListener("pointermove", move);
      edge.addEventListener("pointerup", () => edge.removeEventListener("pointermove", move), { once: true });
    });
    return edge;
  }

  /** Where in the waterfall the mouse is, from 0 to 1; null elsewhere. */
  fraction(event) {
    if (!this.fallWidth) return null;
    const right = this.box.getBoundingClientRect().right - (this.viewport.offsetWidth - this.viewport.clientWidth);
    const part = (event.clientX - (right - this.fallWidth)) / this.fallWidth;
    return part >= 0 && part <= 1 ? part : null;
  }

  /** A ruler at the mouse with its time, and the phases of the row below it. */
  point(event) {
    const part = this.fraction(event);
    const time = part === null ? null : this.waterfall.timeAt(part);
    this.ruler.hidden = time === null;
    if (time === null) return;
    const box = this.box.getBoundingClientRect();
    this.ruler.style.left = event.clientX - box.left + "px";
    this.ruler.firstChild.textContent = time;
    this.ruler.classList.toggle("left", part > 0.6);
    const row = event.target.closest?.(".row");
    const data = row && this.rows.at(row.place);
    const cell = row?.querySelector(".fall");
    if (cell && data) cell.title = this.waterfall.words(data);
  }

  zoom(event) {
    const part = event.ctrlKey ? this.fraction(event) : null;
    if (part === null) return;
    event.preventDefault();
    this.waterfall.zoom(part, event.deltaY < 0 ? 1.25 : 0.8);
    this.paint();
    this.point(event);
  }

  /** Reads sizes, which nothing else does: every reading while rows are written would lay the page out once more. */
  measure() {
    const fall = this.columns.findIndex((one) => one.name === "fall");
    this.canvas.hidden = fall < 0;
    this.fallWidth = fall < 0 ? 0 : Math.max(10, this.headers[fall].offsetWidth);
    this.room = Math.max(0, this.viewport.clientHeight - this.head.offsetHeight);
    this.canvas.style.right = this.viewport.offsetWidth - this.viewport.clientWidth + "px";
  }

  get factor() { return Math.max(1, (this.rows.count * HEIGHT) / TALLEST); }
  get shown() { return Math.max(1, Math.floor(this.room / HEIGHT)); }
  get first() { return this.firstAt(this.viewport.scrollTop); }

  firstAt(top) { return this.factor === 1 ? top / HEIGHT : (top / Math.max(1, this.height - this.room)) * Math.max(0, this.rows.count - this.shown); }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => { this.isScheduled = false; this.paint(); });
  }

  sorted(name, descends) {
    this.order = { name, descends };
    this.columns.forEach((column, index) => {
      const cell = this.headers[index];
      const isIt = column.sort === name && (name !== "start" || column.name === "number");
      if (isIt) cell.setAttribute("aria-sort", descends ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      if (column.sort) cell.firstChild.textContent = column.label + (isIt && (name !== "start" || descends) ? (descends ? " ↓" : " ↑") : "");
    });
  }

  /** Call it after the rows have changed or grown. */
  update(emptyWords) {
    const height = Math.min(this.rows.count * HEIGHT, TALLEST);
    if (height !== this.height) {
      this.height = height;
      this.spacer.style.height = height + "px";
      this.grid.setAttribute("aria-rowcount", this.rows.count + 1);
    }
    this.empty.hidden = this.rows.count > 0;
    this.empty.textContent = emptyWords;
    if (this.selected !== null) this.selectedPlace = this.rows.key(this.selectedPlace) === this.selected ? this.selectedPlace : this.rows.place(this.selected);
    this.paint();
  }

  paint() {
    const top = this.viewport.scrollTop;
    const from = Math.max(0, Math.min(Math.floor(this.firstAt(top)), this.rows.count - 1));
    const offset = this.factor === 1 ? 0 : top - from * HEIGHT;
    const to = Math.min(this.rows.count, from + this.shown + 2);
    this.rows.want(from, to);
    while (this.pool.length < to - from) { const row = this.makeRow(); this.pool.push(row); this.spacer.append(row.element); }
    const drawn = [];
    // A row keeps its element while it is on the screen, so that few change at each step.
    const size = this.pool.length;
    this.isRunning = false;
    for (let index = 0; index < size; index += 1) {
      const place = from + ((index - (from % size) + size) % size);
      const row = this.pool[index];
      if (place >= to) { if (!row.isHidden) row.element.hidden = row.isHidden = true; continue; }
      const data = this.rows.at(place);
      this.fill(row, place, data);
      const position = place * HEIGHT + offset;
      if (row.position !== position) { row.position = position; row.element.style.top = position + "px"; }
      if (row.isHidden) row.element.hidden = row.isHidden = false;
      if (data?.isOpen) this.isRunning = true;
      else if (data && !data.isMiss) drawn.push({ row: data, top: position - top });
    }
    if (this.fallWidth) this.waterfall.draw(drawn, this.fallWidth, this.room);
    const active = this.selectedPlace >= from && this.selectedPlace < to ? this.pool[this.selectedPlace % size] : null;
    const id = active && active.place === this.selectedPlace ? active.element.id : null;
    if (id !== this.activeID) {
      this.activeID = id;
      if (id) this.grid.setAttribute("aria-activedescendant", id);
      else this.grid.removeAttribute("aria-activedescendant");
    }
    if (this.isRunning) this.run();
    this.checkSoon(drawn);
  }

  /** Has the uploads on the screen checked when the list rests. */
  checkSoon(drawn) {
    clearTimeout(this.checkTimer);
    if (!drawn.some(({ row }) => row.sent > 0 && !this.defects.has(row.key))) return;
    this.checkTimer = setTimeout(async () => {
      const wanted = drawn.map(({ row }) => row).filter((row) => row.sent > 0 && !this.defects.has(row.key)).map((row) => row.key).slice(0, 200);
      const { epoch, generation } = this.rows;
      try {
        const found = await api.json("/api/marks?at=" + wanted.join(","));
        if (epoch !== this.rows.epoch || generation !== this.rows.generation || found.epoch !== epoch) return;
        for (const key of wanted) this.defects.set(key, 0);
        for (const [key, count] of found.defects) this.defects.set(key, count);
        this.refill();
      } catch { /* asked again when the list is painted */ }
    }, CHECKED);
  }

  /** Fills all rows again, after something about them has changed that is not in their data. */
  refill() {
    for (const row of this.pool) row.data = null;
    this.schedule();
  }

  /** Updates the durations of exchanges that are still open. */
  run() {
    if (this.runTimer) return;
    this.runTimer = setTimeout(() => { this.runTimer = null; this.schedule(); }, 250);
  }

  /** Copies one row, which is much cheaper for the browser than making its elements one by one. */
  makeRow() {
    this.pattern ??= this.makePattern();
    const made = this.pattern.cloneNode(true);
    made.id = "row-" + this.pool.length;
    const cells = [...made.children];
    const of = (name) => cells[this.columns.findIndex((one) => one.name === name)];
    const status = of("status");
    return { element: made, cells, url: [...of("url").children], status: status ? [status, ...status.children] : null, place: -1, data: null, isHidden: false };
  }

  makePattern() {
    const content = {
      url: () => [element("span", { class: "dim" }), element("span")],
      status: () => [element("span", { "aria-hidden": "true" }), element("span"), element("span", { class: "marked", title: "has redacted values", text: " ◆", hidden: true }, element("span", { class: "skip", text: "redacted" })), element("span", { class: "marked", text: " ✎", hidden: true }, element("span", { class: "skip", text: "changed by rules" })), element("span", { class: "caution", text: " ⚠", hidden: true }, element("span", { class: "skip", text: "broken upload" })), element("span", { class: "note", hidden: true })],
    };
    const cells = this.columns.map((column, index) => element("span", { role: "gridcell", class: column.kind === "axis" ? "fall" : column.kind, "aria-colindex": index + 1 }, content[column.name]?.() ?? []));
    return element("div", { class: "row", role: "row" }, cells);
  }

  fill(row, place, data) {
    const isSelected = place === this.selectedPlace || (this.marked.size > 0 && this.marked.has(this.rows.key(place)));
    if (row.isSelected !== isSelected) { row.element.setAttribute("aria-selected", String(isSelected)); row.isSelected = isSelected; }
    if (row.place === place && row.data === data && data && !data.isOpen) return;
    if (row.place !== place) {
      row.place = row.element.place = place;
      row.element.setAttribute("aria-rowindex", place + 2);
    }
    row.data = data;
    this.columns.forEach((column, index) => { if (column.text) put(row.cells[index], data ? column.text(data) : index ? "" : "…"); });
    const [host, path] = data ? this.url(data.url) : ["", ""];
    put(row.url[0], host);
    put(row.url[1], path);
    if (!row.status) return;
    const [shape, words, kind] = data ? statusOf(data) : ["", "", ""];
    const [cell, mark, text, secret, changed, broken, note] = row.status;
    row.element.classList.toggle("missed", Boolean(data?.isMiss));
    const defects = data ? this.defects.get(data.key) ?? 0 : 0;
    broken.hidden = !defects;
    if (defects) broken.title = `broken upload: ${defects === 1 ? "1 defect" : `${defects} defects`}`;
    const words2 = data && !data.isMiss && !data.isOpen ? this.note(data) : "";
    note.hidden = !words2;
    put(note, words2 && " · " + words2);
    if (row.kind !== kind) { row.kind = kind; cell.className = "status " + kind; }
    put(mark, shape && shape + " ");
    put(text, words);
    const isSecret = Boolean(data?.secret);
    if (secret.hidden === isSecret) secret.hidden = !isSecret;
    const isChanged = Boolean(data?.rules);
    if (changed.hidden === isChanged) changed.hidden = !isChanged;
    if (isChanged) changed.title = `changed by ${plain(data.rules)}`;
  }

  /** The host, and what follows it; the host is empty if it has a column of its own. */
  url(text) {
    const match = /^[a-z]+:\/\/([^/?#]*)/i.exec(text);
    if (!match) return ["", text];
    // A narrow list has no room for a host that most rows share.
    const isKnown = this.isNarrow && this.rows.at(0)?.url.startsWith(match[0]);
    return [isKnown || this.columns.some((one) => one.name === "host") ? "" : match[1], text.slice(match[0].length) || "/"];
  }

  // MARK: Several rows

  /** Chooses all rows from the one that is shown to this one. */
  extend(place) {
    const from = this.selectedPlace < 0 ? place : this.anchor ?? this.selectedPlace;
    this.anchor = from;
    const to = Math.min(Math.max(place, 0), this.rows.count - 1);
    this.marked = new Set();
    for (let at = Math.min(from, to); at <= Math.max(from, to); at += 1) this.marked.add(this.rows.key(at));
    this.lead = to;
    this.reveal(to);
    this.refill();
    this.onmarks();
  }

  /** Chooses or leaves out one row. */
  toggle(place) {
    if (!this.marked.size && this.selected !== null) this.marked.add(this.selected);
    const key = this.rows.key(place);
    if (!this.marked.delete(key)) this.marked.add(key);
    this.refill();
    this.onmarks();
  }

  unmark() {
    this.anchor = null;
    this.lead = null;
    if (!this.marked.size) return;
    this.marked = new Set();
    this.refill();
    this.onmarks();
  }

  // MARK: Moving

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a" && this.rows.count) { event.preventDefault(); event.stopPropagation(); this.anchor = 0; this.extend(this.rows.count - 1); }
      return;
    }
    if (event.shiftKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      event.stopPropagation();
      this.extend((this.lead ?? Math.max(0, this.selectedPlace)) + (event.key === "ArrowDown" ? 1 : -1));
      return;
    }
    if (event.key === "x" && this.selectedPlace >= 0) { event.preventDefault(); event.stopPropagation(); this.toggle(this.selectedPlace); return; }
    const page = Math.max(1, this.shown - 1);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === "Home" || event.key === "g") this.select(0);
    else if (event.key === "End" || event.key === "G") this.select(this.rows.count - 1);
    else if (event.key === "Enter") { if (this.selected !== null) this.actions.open(this.selected, true); } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  move(steps) { this.select(this.selectedPlace < 0 ? (steps > 0 ? Math.ceil(this.first) : this.rows.count - 1) : this.selectedPlace + steps); }

  select(place, isByMouse = false) {
    if (!this.rows.count) return;
    this.selectedPlace = Math.min(Math.max(place, 0), this.rows.count - 1);
    this.selected = this.rows.key(this.selectedPlace);
    this.actions.unfollow();
    if (isByMouse) this.unmark();
    this.anchor = null;
    this.lead = null;
    this.reveal(this.selectedPlace);
    this.paint();
    if (isByMouse) this.grid.focus({ preventScroll: true });
    this.actions.open(this.selected, false);
  }

  /** Marks a row without opening it. */
  mark(key) {
    this.selected = key;
    this.selectedPlace = key === null ? -1 : this.rows.place(key);
    if (this.selectedPlace >= 0) this.reveal(this.selectedPlace);
    this.paint();
  }

  /** Whether the chosen row is on the screen. */
  get showsSelected() { return this.selectedPlace >= Math.floor(this.first) && this.selectedPlace < this.first + this.shown; }

  reveal(place) {
    // The panel next to the list may just have appeared.
    this.measure();
    if (this.factor > 1) {
      if (place < this.first || place >= this.first + this.shown) this.viewport.scrollTop = (place / this.rows.count) * (this.height - this.room);
      return;
    }
    const top = place * HEIGHT;
    if (top < this.viewport.scrollTop) this.viewport.scrollTop = top;
    else if (top + HEIGHT > this.viewport.scrollTop + this.room) this.viewport.scrollTop = top + HEIGHT - this.room;
  }

  toEnd() { this.viewport.scrollTop = this.height; }
}
