import * as api from "./api.js";

const LIMIT = 5000;
const MOST = 500;

/** The rows of a list by their place, fetched when they are looked at. */
export class Rows {
  constructor(changed) {
    this.changed = changed;
    this.rows = new Map();
    this.asked = new Set();
    this.keys = null;
    this.total = 0;
    this.epoch = 0;
  }

  get count() { return this.keys ? this.keys.length : this.total; }

  /** - keys: of the view in order; null for all rows in the order of the file. */
  reset(epoch, total, keys) {
    if (epoch !== this.epoch) { this.rows.clear(); this.asked.clear(); }
    this.epoch = epoch;
    this.total = total;
    this.keys = keys;
  }

  key(place) { return this.keys ? this.keys[place] : place + 1; }

  place(key) {
    if (!this.keys) return key >= 1 && key <= this.total ? key - 1 : -1;
    return this.keys.indexOf(key);
  }

  at(place) { return this.rows.get(this.key(place)); }

  /** Has the rows of these places fetched, and some around them. */
  async want(from, to) {
    const wanted = [];
    let isVisible = false;
    for (let place = Math.max(0, from - 60); place < Math.min(this.count, to + 60) && wanted.length < MOST; place += 1) {
      const key = this.key(place);
      if (this.rows.has(key) || this.asked.has(key)) continue;
      wanted.push(key);
      isVisible ||= place >= from && place < to;
    }
    if (!wanted.length || (wanted.length < 40 && !isVisible)) return;
    for (const key of wanted) this.asked.add(key);
    const epoch = this.epoch;
    try {
      const columns = await api.json("/api/rows?at=" + wanted.join(","));
      if (columns.epoch !== epoch || epoch !== this.epoch) return;
      const { epoch: _, ...all } = columns;
      const names = Object.keys(all);
      columns.key.forEach((key, index) => {
        const row = {};
        for (const name of names) row[name] = all[name][index];
        this.rows.set(key, row);
      });
      if (this.rows.size > LIMIT) for (const key of [...this.rows.keys()].slice(0, this.rows.size - LIMIT)) this.rows.delete(key);
      this.changed();
    } catch { /* asked again when it is looked at again */ } finally {
      for (const key of wanted) this.asked.delete(key);
    }
  }
}
