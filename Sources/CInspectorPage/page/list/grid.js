import { element, clear, recorded } from "../core/dom.js";
import { plain } from "../core/text.js";
import { chosen, narrow, statusOf } from "./columns.js";
import { Waterfall } from "./waterfall.js";

const HEIGHT = 24;
// Chromium lays out at most 2^25 pixels; a longer list scrolls in larger steps.
const TALLEST = 16_000_000;
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
    this.selected = null;
    this.selectedPlace = -1;
    this.order = { name: "start", descends: false };
    this.pool = [];
    this.height = 0;
    this.axisWords = [element("span"), element("span")];
    this.mode = element("button", { type: "button", title: "By time of day, or each from its own start", text: "by time", onclick: () => { this.waterfall.mode = this.waterfall.mode === "time" ? "length" : "time"; this.mode.textContent = "by " + this.waterfall.mode; this.paint(); } });
    this.head = element("div", { class: "head", role: "row", "aria-rowindex": 1 });
    this.spacer = element("div", { class: "spacer", role: "rowgroup" });
    this.grid = element("div", { class: "viewport", role: "grid", tabindex: 0, "aria-label": "Exchanges" }, this.head, this.spacer);
    this.viewport = this.grid;
    this.canvas = element("canvas", { class: "waterfall", "aria-hidden": "true" });
    this.empty = element("p", { class: "empty", hidden: true });
    this.box = element("div", { class: "grid" }, this.grid, this.canvas);
    clear(parent, this.empty, this.box);
    this.waterfall = new Waterfall(this.canvas, (...words) => words.forEach((word, index) => put(this.axisWords[index], word)));
    this.choose();
    this.viewport.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.viewport.addEventListener("wheel", () => this.actions.unfollow(), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.viewport.addEventListener("mousedown", (event) => {
      const row = event.target.closest?.(".row");
      if (row) this.select(row.place, true);
    });
    const observer = new ResizeObserver(() => { this.measure(); this.paint(); });
    observer.observe(this.viewport);
    observer.observe(this.head);
    narrow.addEventListener("change", () => this.choose());
  }

  /** Shows the chosen columns. */
  choose() {
    this.columns = chosen();
    this.box.style.setProperty("--columns", this.columns.map((one) => one.width).join(" "));
    this.headers = this.columns.map((column, index) => {
      const content = column.name === "fall" ? [...this.axisWords, this.mode] : column.sort ? element("button", { type: "button", text: column.label, onclick: () => this.actions.sort(column.sort) }) : element("span", { text: column.label });
      return element("div", { role: "columnheader", class: column.kind, "aria-colindex": index + 1, "aria-label": column.name === "fall" ? "waterfall" : null }, content);
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
      else if (data) drawn.push({ row: data, top: position - top });
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
      status: () => [element("span", { "aria-hidden": "true" }), element("span"), element("span", { class: "marked", title: "has redacted values", text: " ◆", hidden: true }, element("span", { class: "skip", text: "redacted" })), element("span", { class: "marked", text: " ✎", hidden: true }, element("span", { class: "skip", text: "changed by rules" }))],
    };
    const cells = this.columns.map((column, index) => element("span", { role: "gridcell", class: column.kind === "axis" ? "fall" : column.kind, "aria-colindex": index + 1 }, content[column.name]?.() ?? []));
    return element("div", { class: "row", role: "row" }, cells);
  }

  fill(row, place, data) {
    const isSelected = place === this.selectedPlace;
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
    const [cell, mark, text, secret, changed] = row.status;
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
    return [this.columns.some((one) => one.name === "host") ? "" : match[1], text.slice(match[0].length) || "/"];
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
