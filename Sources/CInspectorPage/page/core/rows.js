import * as api from "./api.js";

const LIMIT = 5000;
// The most rows in one answer.
const MOST = 500;
// Rows above and below the screen that are fetched along with it.
const AROUND = 60;
// More rows are fetched while scrolling when fewer than these are left ahead.
const AHEAD = 250;

/** The rows of a list by their position, fetched when they come into view; exchanges that are still open follow them. */
export class Rows {
  constructor(changed) {
    this.changed = changed;
    this.rows = new Map();
    this.asked = new Set();
    this.keys = null;
    this.total = 0;
    this.epoch = 0;
    this.open = [];
    this.last = 0;
    /** Changes with the cassette: two of them may have the same epoch. */
    this.generation = 0;
  }

  /** Another cassette is shown from now on. */
  restart() {
    this.generation += 1;
    this.rows.clear();
    this.asked.clear();
    this.open = [];
    this.reset(-1, 0, null);
  }

  /** How many rows are in the cassette. */
  get stored() { return this.keys ? this.keys.length : this.total; }
  get count() { return this.stored + this.open.length; }

  /** - keys: of the view in order; null for all rows in the file's order. */
  reset(epoch, total, keys) {
    if (epoch !== this.epoch) { this.rows.clear(); this.asked.clear(); }
    this.epoch = epoch;
    this.total = total;
    this.keys = keys;
  }

  key(place) { return place >= this.stored ? this.open[place - this.stored]?.key : this.keys ? this.keys[place] : place + 1; }

  place(key) {
    if (typeof key === "string") { const found = this.open.findIndex((one) => one.key === key); return found < 0 ? -1 : this.stored + found; }
    if (!this.keys) return key >= 1 && key <= this.total ? key - 1 : -1;
    return this.keys.indexOf(key);
  }

  at(place) { return place >= this.stored ? this.open[place - this.stored] : this.rows.get(this.key(place)); }

  /** Takes an answer with the rows as columns. */
  add(columns) {
    if (columns.epoch !== this.epoch) return;
    const { epoch: _, ...all } = columns;
    const names = Object.keys(all);
    columns.key.forEach((key, index) => {
      const row = {};
      for (const name of names) row[name] = all[name][index];
      this.rows.set(key, row);
    });
    if (this.rows.size <= LIMIT) return;
    let surplus = this.rows.size - LIMIT;
    for (const key of this.rows.keys()) { if (surplus-- <= 0) break; this.rows.delete(key); }
  }

  /** Has the rows at these positions fetched, and more in the direction in which the list moves. */
  want(from, to) {
    const step = from - this.last;
    this.last = from;
    const isMoving = Math.abs(step) > 1;
    const low = Math.max(0, from - (isMoving && step < 0 ? MOST - AROUND : AROUND));
    const high = Math.min(this.stored, to + (isMoving && step > 0 ? MOST - AROUND : AROUND));
    const isMissing = (place) => { const key = this.key(place); return !this.rows.has(key) && !this.asked.has(key); };
    let isUrgent = false;
    for (let place = Math.max(low, from - AHEAD); place < Math.min(high, to + AHEAD) && !isUrgent; place += 1) isUrgent = isMissing(place);
    if (!isUrgent) return;
    // Those on the screen come first, if there is no room for all.
    const wanted = [];
    const take = (place) => { if (wanted.length < MOST && isMissing(place)) wanted.push(this.key(place)); };
    for (let place = from; place < Math.min(to, high); place += 1) take(place);
    if (step < 0) { for (let place = from - 1; place >= low; place -= 1) take(place); for (let place = to; place < high; place += 1) take(place); } else { for (let place = to; place < high; place += 1) take(place); for (let place = from - 1; place >= low; place -= 1) take(place); }
    if (wanted.length) this.fetch(wanted);
  }

  async fetch(wanted) {
    for (const key of wanted) this.asked.add(key);
    const { epoch, generation } = this;
    try {
      // Consecutive keys, as in the list of an unfiltered cassette, are asked for as a range.
      const isRange = wanted.length > 1 && wanted.every((key, index) => key === wanted[0] + index);
      const columns = await api.json(isRange ? `/api/rows?from=${wanted[0] - 1}&count=${wanted.length}` : "/api/rows?at=" + wanted.join(","));
      if (epoch !== this.epoch || generation !== this.generation) return;
      this.add(columns);
      this.changed();
    } catch { /* asked again when the rows are next in view */ } finally {
      if (generation === this.generation) for (const key of wanted) this.asked.delete(key);
    }
  }
}
