import { element, clear, recorded } from "../core/dom.js";
import { bytes, milliseconds, number } from "../core/text.js";
import { Waterfall } from "./waterfall.js";

const HEIGHT = 24;
// Chromium lays out at most 2^25 pixels; a list that is longer scrolls in larger steps.
const TALLEST = 16_000_000;
const COLUMNS = [["start", "#", "n"], ["method", "method", "method"], ["url", "url", "url"], ["status", "status", "status"], ["type", "type", "type"], ["size", "size", "size"], ["time", "time", "time"]];

/** What a status means, by shape, word and colour. */
export function statusOf(row) {
  if (row.pending) return ["…", "open", ""];
  if (row.outcome) return ["✗", row.outcome.startsWith("failed") ? row.outcome.slice(7) : `${row.status || ""} ${row.outcome}`.trim(), "bad"];
  if (row.grpc > 0) return ["▲", `${row.status} grpc ${row.grpc}`, "bad"];
  if (row.status >= 500) return ["✗", String(row.status), "bad"];
  if (row.status >= 400) return ["▲", String(row.status), "warn"];
  if (row.status >= 300) return ["→", String(row.status), "good"];
  return ["✓", String(row.status || "-"), "good"];
}

/** The list of exchanges: a few rows of the page that are used again for whatever is on the screen. */
export class Grid {
  /** - actions: `open(key)`, `sort(name)`, `mode()`. */
  constructor(parent, rows, actions) {
    this.rows = rows;
    this.actions = actions;
    this.selected = null;
    this.selectedPlace = -1;
    this.pool = [];
    this.headers = new Map();
    this.axisWords = [element("span"), element("span"), element("span")];
    const mode = element("button", { type: "button", title: "By time of day, or each from its own start", text: "time", onclick: () => { this.waterfall.mode = this.waterfall.mode === "time" ? "length" : "time"; mode.textContent = this.waterfall.mode; this.paint(); } });
    const head = element("div", { class: "head", role: "row", "aria-rowindex": 1 });
    COLUMNS.forEach(([name, label, kind], index) => {
      const button = element("button", { type: "button", text: label, onclick: () => actions.sort(name) });
      const cell = element("div", { role: "columnheader", class: kind, "aria-colindex": index + 1 }, button);
      this.headers.set(name, cell);
      head.append(cell);
    });
    head.append(element("div", { role: "columnheader", "aria-colindex": COLUMNS.length + 1, "aria-label": "waterfall", class: "axis" }, this.axisWords[0], this.axisWords[1], this.axisWords[2], mode));
    this.head = head;
    this.spacer = element("div", { class: "spacer", role: "rowgroup" });
    this.grid = element("div", { class: "viewport", role: "grid", tabindex: 0, "aria-label": "Exchanges", "aria-colcount": COLUMNS.length + 1 }, head, this.spacer);
    this.viewport = this.grid;
    this.canvas = element("canvas", { class: "waterfall", "aria-hidden": "true" });
    this.empty = element("p", { class: "empty", hidden: true });
    clear(parent, this.empty, element("div", { class: "grid" }, this.grid, this.canvas));
    this.waterfall = new Waterfall(this.canvas, (...words) => words.forEach((word, index) => { this.axisWords[index].textContent = word; }));
    this.viewport.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.viewport.addEventListener("wheel", () => actions.unfollow(), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.viewport.addEventListener("mousedown", (event) => {
      const row = event.target.closest?.(".row");
      if (row) this.select(Number(row.dataset.place), true);
    });
    new ResizeObserver(() => this.paint()).observe(this.viewport);
  }

  get factor() { return Math.max(1, (this.rows.count * HEIGHT) / TALLEST); }
  get room() { return Math.max(0, this.viewport.clientHeight - this.head.offsetHeight); }
  get shown() { return Math.max(1, Math.floor(this.room / HEIGHT)); }
  get first() { return this.factor === 1 ? this.viewport.scrollTop / HEIGHT : (this.viewport.scrollTop / Math.max(1, this.spacer.offsetHeight - this.room)) * Math.max(0, this.rows.count - this.shown); }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => { this.isScheduled = false; this.paint(); });
  }

  sorted(name, descends) {
    for (const [column, cell] of this.headers) {
      if (column === name) cell.setAttribute("aria-sort", descends ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      cell.querySelector("button").textContent = COLUMNS.find((one) => one[0] === column)[1] + (column === name && (name !== "start" || descends) ? (descends ? " ↓" : " ↑") : "");
    }
  }

  /** After the rows became others or more. */
  update(emptyWords) {
    this.spacer.style.height = Math.min(this.rows.count * HEIGHT, TALLEST) + "px";
    this.grid.setAttribute("aria-rowcount", this.rows.count + 1);
    this.empty.hidden = this.rows.count > 0;
    this.empty.textContent = emptyWords;
    if (this.selected !== null) this.selectedPlace = this.rows.key(this.selectedPlace) === this.selected ? this.selectedPlace : this.rows.place(this.selected);
    this.paint();
  }

  paint() {
    const from = Math.floor(this.first);
    const offset = this.factor === 1 ? 0 : this.viewport.scrollTop - from * HEIGHT;
    const to = Math.min(this.rows.count, from + this.shown + 2);
    this.rows.want(from, to);
    while (this.pool.length < to - from) { const row = this.makeRow(); this.pool.push(row); this.spacer.append(row.element); }
    const drawn = [];
    // A row keeps its place while it is on the screen, so that few change at each step.
    const size = this.pool.length;
    for (let index = 0; index < size; index += 1) {
      const place = from + ((index - (from % size) + size) % size);
      const row = this.pool[index];
      if (place >= to) { row.element.hidden = true; continue; }
      const data = this.rows.at(place);
      this.fill(row, place, data);
      row.element.style.transform = `translateY(${place * HEIGHT + offset}px)`;
      row.element.hidden = false;
      if (data) drawn.push({ row: data, top: place * HEIGHT + offset - this.viewport.scrollTop });
    }
    this.canvas.style.right = this.viewport.offsetWidth - this.viewport.clientWidth + "px";
    const last = this.head.lastElementChild.getBoundingClientRect();
    this.waterfall.draw(drawn, Math.max(10, last.width), this.room);
    const active = this.selectedPlace >= from && this.selectedPlace < to ? this.pool[this.selectedPlace % size] : null;
    if (active && active.place === this.selectedPlace) this.grid.setAttribute("aria-activedescendant", active.element.id);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  makeRow() {
    const cells = [...COLUMNS.map(([, , kind]) => kind), "fall"].map((kind, index) => element("span", { role: "gridcell", class: kind, "aria-colindex": index + 1 }));
    return { element: element("div", { class: "row", role: "row", id: "row-" + this.pool.length }, cells), cells, place: -1, data: null };
  }

  fill(row, place, data) {
    const isSelected = place === this.selectedPlace;
    if (row.isSelected !== isSelected) { row.element.setAttribute("aria-selected", String(isSelected)); row.isSelected = isSelected; }
    if (row.place === place && row.data === data && data) return;
    row.place = place;
    row.data = data;
    row.element.dataset.place = place;
    row.element.setAttribute("aria-rowindex", place + 2);
    const [n, method, url, status, type, size, time, fall] = row.cells;
    if (!data) {
      for (const cell of row.cells) cell.textContent = "";
      n.textContent = "…";
      return;
    }
    const [shape, words, kind] = statusOf(data);
    n.textContent = data.number;
    clear(method, recorded(data.method));
    clear(url, this.url(data.url));
    status.className = "status " + kind;
    clear(status, element("span", { "aria-hidden": "true", text: shape + " " }), recorded(words), data.secret ? element("span", { class: "marked", title: "has redacted values", text: " ◆" }, element("span", { class: "skip", text: "redacted" })) : null);
    clear(type, recorded(data.messages >= 0 ? `websocket ${data.messages}` : data.type ?? ""));
    size.textContent = bytes(data.size);
    time.textContent = milliseconds(data.phases[7]);
    fall.textContent = "";
  }

  url(text) {
    const match = /^[a-z]+:\/\//i.exec(text);
    if (!match) return recorded(text);
    const end = text.slice(match[0].length).search(/[/?#]/);
    const cut = end < 0 ? text.length : match[0].length + end;
    const fragment = document.createDocumentFragment();
    const host = element("span", { class: "dim" }, recorded(text.slice(match[0].length, cut)));
    fragment.append(host, recorded(text.slice(cut) || "/"));
    return fragment;
  }

  // MARK: Moving

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
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

  reveal(place) {
    if (this.factor > 1) {
      if (place < this.first || place >= this.first + this.shown) this.viewport.scrollTop = (place / this.rows.count) * (this.spacer.offsetHeight - this.room);
      return;
    }
    const top = place * HEIGHT;
    if (top < this.viewport.scrollTop) this.viewport.scrollTop = top;
    else if (top + HEIGHT > this.viewport.scrollTop + this.room) this.viewport.scrollTop = top + HEIGHT - this.room;
  }

  toEnd() { this.viewport.scrollTop = this.spacer.offsetHeight; }
  get words() { return number(this.rows.count); }
}
