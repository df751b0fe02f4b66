import { element, clear, recorded } from "../core/dom.js";
import { count, plain } from "../core/text.js";
import * as api from "../core/api.js";

/** The differences, field by field. */
export function changeTable(changes, [before, after] = ["before", "after"]) {
  if (!changes.length) return element("p", { class: "status good", text: "✓ no differences except incidental ones: dates, connections, durations" });
  const side = (text) => element("td", {}, text === undefined ? element("em", { text: "missing" }) : recorded(text));
  return element("table", { "aria-label": "Differences" }, element("thead", {}, element("tr", {}, ["place", before, after].map((text) => element("th", { scope: "col", text })))),
    element("tbody", {}, changes.map((change) => element("tr", {}, element("th", { scope: "row" }, recorded(change.place)), side(change.old), side(change.new)))));
}

/** Compares two exchanges, or the cassette with an older one. */
export class Diff {
  /** - actions: `panel(title, ...content)`, `openNumber(number)`, `say(text)`. */
  constructor(actions) {
    this.actions = actions;
    this.marked = null;
  }

  async compare(left, right) {
    try { this.actions.panel(`Exchanges ${left} and ${right}`, changeTable((await (await api.post("/api/diffs", { left, right })).json()).changes, [`exchange ${left}`, `exchange ${right}`])); } catch (error) { this.actions.say(plain(error.message)); }
  }

  /** The first call marks an exchange, the second compares another one with it. */
  async mark(key) {
    if (typeof key !== "number") return this.actions.say("choose an exchange of the cassette first");
    if (!this.marked || this.marked === key) { this.marked = key; return this.actions.say(`exchange ${key} is marked: choose another and press d`); }
    const [left, right] = [this.marked, key];
    this.marked = null;
    this.actions.say("");
    return this.compare(left, right);
  }

  /** Lists the differences between the cassette and the older one as they come. */
  async cassettes(words, list) {
    const counts = { added: 0, removed: 0, changed: 0 };
    try {
      await api.lines(await api.post("/api/diffs", {}), (line) => {
        if (line.same !== undefined) { words.textContent = `${count(line.same, "exchange")} the same, ${counts.changed} changed, ${counts.added} added, ${counts.removed} removed`; return; }
        counts[line.kind] += 1;
        const mark = { added: "+", removed: "−", changed: "≠" }[line.kind];
        list.append(element("li", { class: "part" }, element("p", {}, `${mark} ${line.kind} `, line.new ? element("button", { type: "button", text: `exchange ${line.new}`, onclick: () => this.actions.openNumber(line.new) }) : `exchange ${line.old} of the older cassette`, " ", recorded(line.request)), line.changes ? changeTable(line.changes) : null));
      });
    } catch (error) { clear(words, recorded(error.message)); }
  }

  show(older) {
    if (!older) return this.actions.say("there is no older cassette: start with --against FILE");
    const list = element("ol", { class: "parts" });
    const words = element("p", { role: "status", text: "comparing" });
    this.actions.panel(`Since ${plain(older.split("/").pop())}`, words, list);
    return this.cassettes(words, list);
  }
}
