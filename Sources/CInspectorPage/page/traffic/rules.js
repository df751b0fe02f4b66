import { element, clear, recorded } from "../core/dom.js";
import { count, plain } from "../core/text.js";
import * as api from "../core/api.js";
import { changedLines, offset } from "../care/lines.js";
import { ruleCounts, ruleProblem, ruleSource } from "./words.js";

/** What a new rule begins with. */
const EXAMPLE = "- when: \"~d api.example.com\"\n  block: 403\n";
/** The most changed lines that are shown. */
const LINES = 400;
/** Milliseconds between two looks at the counts. */
const PAUSE = 300;
/** Milliseconds between two looks at the verdict, which takes longer to make. */
const JUDGE = 2000;

/** The traffic rules of a run: their list with counts, their texts, trials, and saving. */
export class Rules {
  /** - actions: `panel(title, ...content)`, `open(key, isAsked)`, `say(text)`, `state()`. */
  constructor(actions) {
    this.actions = actions;
    this.list = null;
    this.seen = null;
    this.judged = -JUDGE;
    this.isAsking = false;
  }

  /** Whether the list is on the screen. */
  get isShown() { return Boolean(this.table?.isConnected); }

  /** Takes the state of the run: looks again if something has happened. */
  take(state) {
    if (!state.traffic || !this.isShown) return;
    if (state.traffic.activity !== this.seen) this.refresh();
  }

  async show(isAsked = true) {
    if (!this.actions.state().traffic) return this.actions.say("nothing runs whose traffic rules could change: see record, run, replay and serve");
    const button = (text, title, act) => element("button", { type: "button", text, title, onclick: act });
    this.words = element("p", { role: "status", id: "rules-words" });
    this.table = element("ol", { class: "rules", "aria-label": "Traffic rules" });
    this.saving = element("div", { id: "rules-result", role: "status" });
    this.verdict = element("div");
    this.actions.panel("Rules",
      element("div", { class: "viewer-bar" },
        button("Add a rule", "Write a rule as YAML or JSON", () => this.edit(null, EXAMPLE)),
        button("Copy YAML", "Copy all rules as they are now", () => this.copy()),
        button("Save", "Show what would change in the settings file, then write it", () => this.save())),
      this.words, this.saving, this.table, this.verdict);
    this.shown = null;
    this.judged = -JUDGE;
    await this.refresh();
    if (isAsked) (this.table.querySelector("button, input") ?? document.querySelector("#side .viewer-bar button"))?.focus();
  }

  async refresh() {
    if (this.isAsking) { this.isStale = true; return; }
    this.isAsking = true;
    const activity = this.actions.state().traffic?.activity;
    try {
      this.render(await api.json("/api/modify"));
      this.seen = activity;
      if (this.list.judges) this.judge();
    } catch (error) { this.problem(error); }
    setTimeout(() => { this.isAsking = false; if (this.isStale) { this.isStale = false; this.refresh(); } }, PAUSE);
  }

  problem(error) { if (this.saving) clear(this.saving, element("p", { class: "problem" }, recorded(error.message))); }

  // MARK: The list

  render(list) {
    // An answer that was overtaken by a later one.
    if (this.list && list.list < this.list.list) return;
    this.list = list;
    const isOld = this.shown === list.list && this.rows?.length === list.rules.length;
    const never = list.rules.filter((rule) => rule.neverMatched).length;
    clear(this.words, list.rules.length ? count(list.rules.length, "rule") : "there are no rules: the traffic passes as it is", never ? element("span", { class: "caution", text: `, ${never} never matched` }) : null);
    if (!isOld) {
      const focused = this.table.contains(document.activeElement) ? document.activeElement.dataset.act : null;
      this.shown = list.list;
      this.rows = list.rules.map((rule, index) => this.row(rule, index));
      clear(this.table, this.rows.map((row) => row.element));
      if (focused) this.table.querySelector(`[data-act="${CSS.escape(this.focusNext ?? focused)}"]`)?.focus();
      this.focusNext = null;
    }
    list.rules.forEach((rule, index) => this.fill(this.rows[index], rule));
  }

  row(rule, index) {
    const number = index + 1;
    const button = (act, text, label, run, disabled = false) => element("button", { type: "button", text, "aria-label": `${label} ${plain(rule.name)}`, title: label, "data-act": `${act} ${number}`, disabled, onclick: run });
    const box = element("input", { type: "checkbox", "data-act": `switch ${number}`, "aria-label": `On: ${plain(rule.name)}`, onchange: () => this.change("switch", { rule: number, enabled: box.checked }) });
    const row = { box, counts: element("span"), notes: element("ul", { class: "problems" }) };
    row.element = element("li", { class: "part rule-item", draggable: "true" },
      element("div", { class: "viewer-bar" },
        element("span", { class: "grip", "aria-hidden": "true", title: "Drag to another place", text: "⠿" }), box,
        element("strong", {}, `${number}. `, recorded(rule.name)), element("span", { class: "kind", text: rule.kind }), row.counts, element("span", { class: "gap" }),
        button("up", "↑", "Earlier:", () => this.move(number, number - 1), index === 0), button("down", "↓", "Later:", () => this.move(number, number + 1), index + 1 === this.list.rules.length),
        button("edit", "Edit", "Edit", () => this.editRule(number)), button("remove", "Remove", "Remove", () => this.remove(number))),
      element("p", { class: "facts" }, rule.when === undefined ? "all requests" : recorded(rule.when), rule.draw === undefined ? null : element("span", {}, " · ", recorded(rule.draw)), " · ", recorded(ruleSource(rule))), row.notes);
    this.drag(row.element, number);
    return row;
  }

  fill(row, rule) {
    row.box.checked = rule.enabled;
    row.element.classList.toggle("off", !rule.enabled);
    row.counts.className = rule.neverMatched ? "caution" : "counts";
    row.counts.textContent = (rule.neverMatched ? "⚠ " : "") + ruleCounts(rule);
    if (row.notes.childElementCount !== rule.notes.length + rule.remarks.length) {
      clear(row.notes, rule.notes.map((note) => element("li", { class: "caution" }, "⚠ ", recorded(note))), rule.remarks.map((remark) => element("li", {}, recorded(remark))));
    }
  }

  /** Rules are dragged to another place by the mouse; the buttons with arrows do the same. */
  drag(item, number) {
    item.addEventListener("dragstart", (event) => { this.dragged = number; event.dataTransfer.effectAllowed = "move"; event.dataTransfer.setData("text/plain", String(number)); });
    item.addEventListener("dragend", () => { this.dragged = null; for (const one of this.table.children) one.classList.remove("target"); });
    item.addEventListener("dragover", (event) => { if (!this.dragged) return; event.preventDefault(); for (const one of this.table.children) one.classList.toggle("target", one === item); });
    item.addEventListener("drop", (event) => { if (!this.dragged) return; event.preventDefault(); const from = this.dragged; this.dragged = null; if (from !== number) this.move(from, number); });
  }

  /** Changes the list that the page shows. */
  async change(change, members) {
    clear(this.saving);
    try {
      const list = await (await api.post(`/api/modify/${change}`, { list: this.list.list, ...members })).json();
      if (this.isShown) this.render(list);
      return list;
    } catch (error) {
      // Somebody else has changed the rules: what the page shows is not true any more.
      this.shown = null;
      if (this.isShown) await this.refresh();
      this.problem(error);
      return null;
    }
  }

  move(from, to) {
    // The focus stays on the rule that moves.
    const act = document.activeElement?.dataset?.act?.split(" ")[0];
    if (act) this.focusNext = `${to === 1 && act === "up" ? "down" : to === this.list.rules.length && act === "down" ? "up" : act} ${to}`;
    return this.change("move", { rule: from, to });
  }

  async remove(number) {
    const { list } = this.list;
    try {
      const { text } = await api.json(`/api/modify/${number}?list=${list}`);
      const { name } = this.list.rules[number - 1];
      this.focusNext = `remove ${Math.min(number, this.list.rules.length - 1)}`;
      if (!await this.change("remove", { rule: number })) return;
      const back = element("button", { type: "button", text: "Put it back", onclick: () => this.change("add", { at: number, text }) });
      clear(this.saving, element("p", {}, "removed ", recorded(name), " ", back));
      if (!this.list.rules.length) back.focus();
    } catch (error) { this.problem(error); }
  }

  // MARK: Texts

  async editRule(number) {
    try {
      const { list } = this.list;
      const { text } = await api.json(`/api/modify/${number}?list=${list}`);
      this.edit(number, text);
    } catch (error) { this.problem(error); }
  }

  /** A rule for an exchange: the server proposes its text, and people change it before it is added. */
  async from(exchange, action) {
    try {
      const { text } = await (await api.post("/api/modify/from", { key: exchange.key, action })).json();
      this.list = await api.json("/api/modify");
      this.edit(null, text, exchange);
    } catch (error) { this.actions.say(plain(error.message)); }
  }

  /** - number: of the rule that the text replaces; null for one more. */
  edit(number, text, exchange = null) {
    const area = element("textarea", { id: "rule-text", spellcheck: "false", autocomplete: "off", "aria-label": number ? `Text of rule ${number}` : "Text of the new rule", "aria-describedby": "rule-result", rows: 12 });
    area.value = text;
    const result = element("div", { id: "rule-result", role: "status" });
    const trial = element("div");
    const key = element("input", { id: "rule-key", inputmode: "numeric", autocomplete: "off", size: 6, "aria-label": "Exchange to try it on" });
    key.value = exchange?.key ?? this.actions.chosen() ?? "";
    const first = element("input", { type: "checkbox", id: "rule-first" });
    first.checked = true;
    let { list } = this.list;
    const members = () => ({ text: area.value, ...(number ? { rule: number } : { at: first.checked ? 1 : this.list.rules.length + 1 }) });
    const fail = (error) => {
      const { line, text: words } = ruleProblem(error.message);
      const place = line === null ? null : element("button", { type: "button", text: `line ${line}`, onclick: () => this.goTo(area, line) });
      area.setAttribute("aria-invalid", "true");
      clear(trial);
      clear(result, element("p", { class: "problem" }, "✗ ", place, place ? " " : null, recorded(words)));
      if (line !== null) this.goTo(area, line);
    };
    const apply = async () => {
      try {
        // A new rule fits any list; a changed one may be at another place by now.
        if (!number) { this.list = await api.json("/api/modify"); list = this.list.list; }
        await api.post(number ? "/api/modify/replace" : "/api/modify/add", { list, ...members() });
        await this.show();
      } catch (error) { fail(error); }
    };
    const attempt = async () => {
      try {
        const found = await (await api.post("/api/modify/try", { key: Number(key.value), ...members() })).json();
        area.removeAttribute("aria-invalid");
        clear(result);
        clear(trial, ...this.trial(found));
      } catch (error) { fail(error); }
    };
    area.addEventListener("input", () => { area.removeAttribute("aria-invalid"); clear(result); });
    area.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      const act = { enter: attempt, s: apply }[event.key.toLowerCase()];
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
    const button = (words, title, act) => element("button", { type: "button", text: words, title, onclick: act });
    this.actions.panel(number ? `Edit rule ${number}` : "New rule",
      element("div", { class: "viewer-bar" },
        button(number ? "Use this text" : "Add", "Ctrl-S", apply),
        number ? null : element("label", { class: "rule" }, first, " before the others"),
        element("span", { class: "gap" }), button("Try on exchange", "Ctrl-Enter", attempt), key,
        button("Back", "Back to the rules", () => this.show())),
      area, result, trial);
    area.focus();
    area.setSelectionRange(0, 0);
  }

  goTo(area, line) {
    const start = offset(area.value, line);
    const end = area.value.indexOf("\n", start);
    area.focus();
    area.setSelectionRange(start, end < 0 ? area.value.length : end);
  }

  // MARK: Trials

  /** Tries the rules in use on an exchange. */
  async tryOn(exchange) {
    try {
      const found = await (await api.post("/api/modify/try", { key: exchange.key })).json();
      this.actions.panel(`Rules for exchange ${exchange.number}`,
        element("div", { class: "viewer-bar" }, element("button", { type: "button", text: "All rules", onclick: () => this.show() }), element("button", { type: "button", text: "Back", onclick: () => this.actions.open(exchange.key, true) })), ...this.trial(found));
      document.querySelector("#side .viewer-bar button").focus();
    } catch (error) { this.actions.say(plain(error.message)); }
  }

  trial(found) {
    const marks = { applies: ["✓", "status good"], off: ["–", "facts"], unmatched: ["✗", "facts"], preceded: ["▲", "caution"], "not-drawn": ["▲", "caution"] };
    const diff = (title, change) => (change ? [element("h3", { text: title }), this.changes(changedLines(change.before, change.after), title)] : element("p", { class: "facts", text: `${title}: unchanged` }));
    return [
      found.rules.length ? element("ul", { class: "problems", "aria-label": "What each rule does" }, found.rules.map((rule) => element("li", { class: marks[rule.outcome][1] }, `${marks[rule.outcome][0]} `, element("strong", {}, recorded(rule.name)), " ", recorded(rule.words)))) : element("p", { class: "empty", text: "there are no rules" }),
      ...[diff("Request", found.request), diff("Answer", found.answer)].flat(),
      ...found.effects.map((effect) => element("p", {}, recorded(effect))), ...found.notes.map((note) => element("p", { class: "caution" }, "⚠ ", recorded(note))),
    ];
  }

  changes(lines, title) {
    return element("pre", { class: "changed", tabindex: 0, role: "region", "aria-label": `Changed lines: ${title}` },
      lines.slice(0, LINES).flatMap(([mark, number, line]) => [element("span", { class: mark === "+" ? "status good" : "problem" }, `${mark} ${number}  `, recorded(line)), "\n"]), lines.length > LINES ? `and ${lines.length - LINES} more` : null);
  }

  // MARK: Saving

  async copy() {
    try { await navigator.clipboard.writeText((await api.json("/api/modify/yaml")).text); this.actions.say("rules copied"); } catch (error) { this.actions.say(error.code ? plain(error.message) : "the browser does not let the page copy"); }
  }

  /** Shows what would change in the settings file. Nothing is written before somebody has seen that. */
  async save() {
    try {
      const { list } = this.list;
      const found = await (await api.post("/api/modify/save", { list })).json();
      const others = found.elsewhere.map((words) => element("p", { class: "caution" }, "⚠ ", recorded(words)));
      const name = plain(found.file);
      if (!found.changes) return clear(this.saving, element("p", { class: "status good" }, "✓ ", recorded(name), " has these rules already"), ...others);
      const write = element("button", { type: "button", text: `Write ${name.split("/").pop()}`, title: name, onclick: () => this.write(list, found.digest) });
      clear(this.saving, element("h3", { text: `What would change in ${name}` }), this.changes(changedLines(found.before, found.after), "settings"), ...others,
        element("div", { class: "viewer-bar" }, write, element("button", { type: "button", text: "Do not write", onclick: () => clear(this.saving) })));
      write.focus();
      return null;
    } catch (error) { return clear(this.saving, element("p", { class: "problem" }, recorded(error.message))); }
  }

  async write(list, digest) {
    try {
      const found = await (await api.post("/api/modify/save", { list, digest })).json();
      this.shown = null;
      await this.refresh();
      clear(this.saving, element("p", { class: "status good" }, "✓ written into ", recorded(plain(found.file))));
    } catch (error) { clear(this.saving, element("p", { class: "problem" }, recorded(error.message))); }
  }

  // MARK: The verdict on the clients

  /** Looks at the verdict, now or when it is time again. */
  async judge() {
    clearTimeout(this.judging);
    const rest = this.judged + JUDGE - performance.now();
    if (!this.isShown) return;
    if (rest > 0) { this.judging = setTimeout(() => this.judge(), rest); return; }
    this.judged = performance.now();
    try {
      const { findings } = await api.json("/api/modify/verdict");
      const text = JSON.stringify(findings);
      if (this.verdict.shown === text) return;
      this.verdict.shown = text;
      clear(this.verdict, element("h3", { text: "What the clients did with answers that failed" }),
        findings.length ? element("ul", { class: "problems", "aria-label": "Verdict on the clients" }, findings.map((one) => element("li", { class: one.certainty === "sure" ? "problem" : "caution" }, one.certainty === "sure" ? "✗ " : "⚠ likely: ", element("strong", { text: one.kind }), " ", recorded(one.text), ` (${one.requests.length === 1 ? "request" : "requests"} ${one.requests.slice(0, 20).join(", ")})`))) : element("p", { class: "status good", text: "✓ nothing to object to" }));
    } catch { /* the next look tries again */ }
  }
}
