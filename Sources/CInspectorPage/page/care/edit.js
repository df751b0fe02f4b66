import { element, clear, recorded } from "../core/dom.js";
import { count, plain } from "../core/text.js";
import * as api from "../core/api.js";
import { changeTable } from "./diff.js";
import { changedLines, offset } from "./lines.js";

/** A longer text needs another editor. */
const LIMIT = 4 << 20;
/** The most changed lines that are shown. */
const LINES = 400;

/** Edits the text of a recorded exchange: the server checks it, and writes it into the cassette or sends it. */
export class Editor {
  /** - actions: `panel(title, ...content)`, `open(key, isAsked, tab)`, `say(text)`, `epoch()`, `name()`; sender: a `Sender`. */
  constructor(actions, sender) {
    this.actions = actions;
    this.sender = sender;
    /** Texts that are not written yet, by exchange, so that leaving the editor loses none. */
    this.drafts = new Map();
    this.key = null;
  }

  async open(exchange) {
    if (exchange.length > LIMIT) return this.actions.say("this exchange is too long for the page: edit the file, then run wiretape verify");
    this.key = exchange.key;
    let draft = this.drafts.get(exchange.key);
    if (!draft) {
      const epoch = this.actions.epoch();
      let text;
      try { text = await api.text(`/api/x/${exchange.key}/text`); } catch (error) { return this.actions.say(plain(error.message)); }
      draft = { epoch, text, original: text };
    }
    this.draft = draft;
    const name = this.actions.name();
    this.area = element("textarea", { id: "edit-text", spellcheck: "false", autocomplete: "off", "aria-label": `Text of exchange ${exchange.number}`, "aria-describedby": "edit-result", rows: 16 });
    this.area.value = draft.text;
    this.area.addEventListener("input", () => { draft.text = this.area.value; this.drafts.set(exchange.key, draft); clear(this.result); });
    this.area.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      const act = { enter: () => this.check(), s: () => this.write() }[event.key.toLowerCase()];
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
    this.result = element("div", { id: "edit-result", role: "status" });
    this.answer = element("div");
    const button = (text, title, act) => element("button", { type: "button", text, title, onclick: act });
    this.actions.panel(`Edit exchange ${exchange.number}`,
      element("div", { class: "viewer-bar" },
        button("Check", "Check it, and show what would change (Ctrl-Enter)", () => this.check()), button(`Write to ${name}`, "Replace the recorded exchange (Ctrl-S)", () => this.write()),
        button("Send", "Send this request, and compare the answer with the recorded one", () => this.sender.send(exchange.key, this.answer, draft)),
        button("Recorded text", "Discard the changes made here", () => this.revert(exchange)), button("Back", "Back to the exchange", () => this.actions.open(exchange.key, true))),
      this.area, this.result, this.answer);
    this.area.focus();
    this.area.setSelectionRange(0, 0);
    this.area.scrollTop = 0;
  }

  async revert(exchange) {
    this.drafts.delete(exchange.key);
    return this.open(exchange);
  }

  /** The editor's present content, because before an answer comes, the user may type more or open another exchange. */
  get edit() { const { key, draft, result } = this; return { key, draft, text: draft.text, result }; }

  /** Shows what is wrong with the text, and what would change. */
  async check(edit = this.edit) {
    try {
      const found = await (await api.post("/api/edits/try", { key: edit.key, text: edit.text })).json();
      this.show(found, edit);
      return found;
    } catch (error) {
      clear(edit.result, element("p", { class: "problem" }, recorded(error.message)));
      return null;
    }
  }

  show(found, edit) {
    const lines = changedLines(edit.draft.original, edit.text);
    const isReady = !found.problems.some((one) => one.blocks);
    clear(edit.result,
      element("p", { class: isReady ? "status good" : "problem" }, isReady ? `✓ it can be written: ${count(lines.length, "changed line")}` : "✗ it cannot be written"),
      found.correctable ? element("p", {}, element("button", { type: "button", text: "Correct sizes and digests", title: "Write the size, SHA-256 and Content-Length that the bodies have now", onclick: () => this.correct(edit) })) : null,
      found.problems.length ? element("ul", { class: "problems" }, found.problems.map((problem) => this.problem(problem))) : null,
      found.changes.length ? [element("h3", { text: "What would change" }), changeTable(found.changes, ["recorded", "edited"])] : null,
      lines.length ? [element("h3", { text: "Changed lines" }), element("pre", { class: "changed", tabindex: 0, role: "region", "aria-label": "Changed lines" },
        lines.slice(0, LINES).flatMap(([mark, number, line]) => [element("span", { class: mark === "+" ? "status good" : "problem" }, `${mark} ${number}  `, recorded(line)), "\n"]), lines.length > LINES ? `and ${lines.length - LINES} more` : null)] : null);
    edit.result.firstElementChild.scrollIntoView({ block: "nearest" });
  }

  /** Corrects sizes, digests and lengths, unless the text has changed since they were found wrong. */
  async correct(edit) {
    try {
      const { text } = await (await api.post("/api/edits/correct", { key: edit.key, text: edit.text })).json();
      if (this.draft !== edit.draft || edit.draft.text !== edit.text) return;
      this.area.value = edit.draft.text = text;
      this.drafts.set(edit.key, edit.draft);
      this.area.focus();
      await this.check();
    } catch (error) { clear(edit.result, element("p", { class: "problem", role: "alert" }, recorded(error.message))); }
  }

  problem(problem) {
    const mark = problem.blocks ? "✗" : "⚠";
    const place = problem.line === undefined ? null : element("button", {
      type: "button", text: `line ${problem.line}${problem.column === undefined ? "" : `, column ${problem.column}`}`,
      onclick: () => {
        const start = offset(this.area.value, problem.line, problem.column);
        this.area.focus();
        this.area.setSelectionRange(start, Math.min(start + 1, this.area.value.length));
      },
    });
    return element("li", { class: problem.blocks ? "problem" : "caution" }, `${mark} `, place, place ? " " : null, recorded(problem.text));
  }

  async write() {
    const { edit } = this;
    const found = await this.check(edit);
    if (!found || found.problems.some((one) => one.blocks)) return;
    const { key, draft, text, result } = edit;
    try {
      const { epoch, problem } = await (await api.post("/api/edits", { key, text }, undefined, { "If-Match": `"${draft.epoch}"` })).json();
      draft.original = text;
      // Whatever was typed meanwhile is not written yet.
      if (draft.text === text) this.drafts.delete(key);
      this.move(draft.epoch, epoch);
      clear(result, element("p", { class: "status good", text: `✓ written into ${this.actions.name()}` }), problem ? element("p", { class: "caution", role: "alert" }, recorded(problem)) : null);
    } catch (error) {
      // The editor keeps the text.
      clear(result, element("p", { class: "problem", role: "alert" }, recorded(error.message)));
    }
  }

  /** Assigns drafts of the file that was just replaced to the new one. - to: undefined if somebody else has replaced that one since. */
  move(from, to) {
    if (to === undefined) return;
    for (const draft of [this.draft, ...this.drafts.values()]) if (draft.epoch === from) draft.epoch = to;
  }
}
