import { element, clear, recorded } from "../core/dom.js";
import { count, plain } from "../core/text.js";
import * as api from "../core/api.js";
import { bodyDiff } from "./bodies.js";
import { uploads } from "./uploads.js";

/** The differences, field by field. */
export function changeTable(changes, [before, after] = ["before", "after"]) {
  if (!changes.length) return element("p", { class: "status good", text: "✓ no differences except incidental ones: dates, connections, durations" });
  const side = (text) => element("td", {}, text === undefined ? element("em", { text: "missing" }) : recorded(text));
  return element("table", { "aria-label": "Differences" }, element("thead", {}, element("tr", {}, ["place", before, after].map((text) => element("th", { scope: "col", text })))),
    element("tbody", {}, changes.map((change) => element("tr", {}, element("th", { scope: "row" }, recorded(change.place)), side(change.old), side(change.new)))));
}

/** Compares two exchanges, or the cassette with an older one. */
export class Diff {
  /** - actions: `panel(title, ...content)`, `openNumber(number)`, `say(text)`, `cassette()`, `cassetteName(id)`. */
  constructor(actions) {
    this.actions = actions;
    this.marked = null;
  }

  name({ tab, key }, other) { return tab === other.tab ? `exchange ${key}` : `${key} of ${this.actions.cassetteName(tab)}`; }

  /** Compares two exchanges, which may be in different cassettes. - left, right: `{tab, key}`. */
  async compare(left, right) {
    const names = [this.name(left, right), this.name(right, left)];
    const views = [
      ["fields", "Fields", async () => changeTable((await (await api.post("/api/diffs?all", { left, right })).json()).changes, names)],
      ["uploads", "Uploads", () => uploads(left, right, names)],
      ["request", "Request bodies", () => bodyDiff(left, right, "request", names)],
      ["response", "Response bodies", () => bodyDiff(left, right, "response", names)],
    ];
    const box = element("div", { id: "comparison" });
    let last = null;
    const show = async (name) => {
      last = name;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === name));
      clear(box, element("p", { role: "status", text: "comparing" }));
      try {
        const made = await views.find(([one]) => one === name)[2]();
        if (last === name) clear(box, made);
      } catch (error) { if (last === name) clear(box, element("p", { class: "problem", role: "alert" }, recorded(error.message))); }
    };
    const buttons = views.map(([name, label]) => element("button", { type: "button", "data-view": name, "aria-pressed": "false", text: label, onclick: () => show(name) }));
    const swap = element("button", { type: "button", text: "Swap", title: "Exchange the two sides", onclick: () => this.compare(right, left) });
    this.actions.panel(`${plain(names[0])} and ${plain(names[1])}`, element("div", { class: "viewer-bar", role: "group", "aria-label": "What is compared" }, buttons, element("span", { class: "gap" }), swap), box);
    const isUpload = async (of) => { const { request } = await api.json(api.of(of.tab, `/api/x/${of.key}`)); return Boolean(request.body?.multipart || request.body?.defects); };
    // Two uploads are compared to find out why one of them does not work.
    const [one, other] = await Promise.all([isUpload(left), isUpload(right)].map((promise) => promise.catch(() => false)));
    if (last === null) { await show(one && other ? "uploads" : "fields"); buttons.find((button) => button.dataset.view === last)?.focus(); }
  }

  /** The first call marks an exchange, the second compares another one with it. */
  async mark(key) {
    if (typeof key !== "number") return this.actions.say("choose an exchange of the cassette first");
    const chosen = { tab: this.actions.cassette(), key };
    if (!this.marked || (this.marked.key === key && this.marked.tab === chosen.tab)) { this.marked = chosen; return this.actions.say(`exchange ${key} is marked: choose another, here or in another cassette, and press d`); }
    const [left, right] = [this.marked, chosen];
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
