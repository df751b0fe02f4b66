import { milliseconds } from "../core/text.js";

const NAMES = ["blocked", "dns", "connect", "tls", "send", "wait", "receive"];
const PHASES = [["--wait-0", 0], ["--wait-1", 1], ["--wait-1", 2], ["--wait-1", 3], ["--send", 4], ["--wait", 5], ["--receive", 6]];

/** Draws the bars of the rows on the screen, by time of day or each from its own start. */
export class Waterfall {
  constructor(canvas, axis) {
    this.canvas = canvas;
    this.axis = axis;
    this.mode = "time";
    /** How much of the time is shown, and where that begins: both from 0 to 1. */
    this.part = 1;
    this.start = 0;
    /** The colours of the theme, read before the first drawing. */
    this.colors = null;
    document.addEventListener("theme", () => { this.colors = null; if (this.drawn) this.draw(this.drawn.rows, this.drawn.width, this.drawn.height, true); });
  }

  readColors() {
    const style = getComputedStyle(document.documentElement);
    this.colors = new Map(["--wait-0", "--wait-1", "--send", "--wait", "--receive", "--bad", "--line"].map((name) => [name, style.getPropertyValue(name).trim()]));
  }

  /** The phases of a row in words. */
  words(row) { return [...NAMES.map((name, index) => (row.phases[index] ? `${name} ${milliseconds(row.phases[index])}` : "")), row.phases[7] == null ? "" : `total ${milliseconds(row.phases[7])}`].filter(Boolean).join(" · "); }

  /** The time at a place from 0 to 1, since the first row on the screen began; null before the first drawing. */
  timeAt(place) {
    if (!this.span) return null;
    const room = this.drawn.width - 12;
    return milliseconds(Math.max(0, (this.start + ((place * this.drawn.width - 4) / room) * this.part) * this.span));
  }

  /** Shows less time, or more, around a place from 0 to 1. */
  zoom(place, factor) {
    const part = Math.min(1, Math.max(0.001, this.part / factor));
    this.start = Math.min(1 - part, Math.max(0, this.start + place * (this.part - part)));
    this.part = part;
    this.drawn = null;
  }

  unzoom() {
    if (this.part === 1) return false;
    [this.part, this.start, this.drawn] = [1, 0, null];
    return true;
  }

  static total(row) { return Math.max(row.phases[7] ?? 0, row.phases.slice(0, 7).reduce((sum, value) => sum + (value ?? 0), 0)); }

  /** - rows: with their distances from the top in pixels. */
  draw(rows, width, height, isForced = false) {
    const drawn = this.drawn;
    // Making a canvas takes time, so it waits until there is something to draw.
    if (!drawn && !rows.length) { this.span = 0; return; }
    if (!isForced && drawn && drawn.mode === this.mode && drawn.width === width && drawn.height === height && drawn.rows.length === rows.length && rows.every((one, index) => one.row === drawn.rows[index].row && one.top === drawn.rows[index].top)) return;
    this.drawn = { rows, width, height, mode: this.mode };
    if (!this.colors) this.readColors();
    const scale = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.width = width + "px";
      this.canvas.style.height = height + "px";
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    let first = Infinity;
    let last = 0;
    for (const { row } of rows) {
      const start = this.mode === "time" ? row.start / 1000 : 0;
      first = Math.min(first, start);
      last = Math.max(last, start + Waterfall.total(row));
    }
    const span = Math.max(last - first, 0.001);
    this.span = rows.length ? span : 0;
    if (!rows.length) { this.axis("", ""); return; }
    const shown = span * this.part;
    first += this.start * span;
    // The second label is above the line in the middle.
    this.axis(this.part === 1 ? "0" : milliseconds(this.start * span), milliseconds(this.start * span + shown / 2));
    const room = width - 12;
    context.fillStyle = this.colors.get("--line");
    for (const part of [0.25, 0.5, 0.75]) context.fillRect(4 + room * part, 0, 1, height);
    for (const { row, top } of rows) {
      let at = 4 + (((this.mode === "time" ? row.start / 1000 : 0) - first) / shown) * room;
      let isDrawn = false;
      for (const [color, index] of PHASES) {
        const value = row.phases[index];
        if (!value) continue;
        const length = Math.max((value / shown) * room, 0.5);
        // A canvas draws nothing outside itself.
        context.fillStyle = this.colors.get(color);
        context.fillRect(at, top + 7, length, 10);
        at += (value / shown) * room;
        isDrawn = true;
      }
      if (!isDrawn) { context.fillStyle = this.colors.get("--wait-0"); context.fillRect(at, top + 7, 2, 10); at += 2; }
      // Words and this mark say how it ended, not only the colour.
      if (row.outcome) { context.fillStyle = this.colors.get("--bad"); context.fillRect(at, top + 4, 2, 16); context.fillRect(at - 2, top + 4, 6, 2); context.fillRect(at - 2, top + 18, 6, 2); }
    }
  }
}
