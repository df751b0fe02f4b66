import { element, clear, recorded } from "../core/dom.js";
import { bytes, count, plain } from "../core/text.js";
import * as api from "../core/api.js";
import { answerOf, clock, contentOf, decisions, stageWords } from "./words.js";

/** Milliseconds between two steps of the clocks. */
const STEP = 100;

/** The messages that rules have paused: their list, and an editor that lets one go on. */
export class Paused {
  /** - actions: `panel(title, ...content)`, `isInPanel()`, `say(text)`, `state()`; bar: the element that says how many wait. */
  constructor(actions, bar) {
    this.actions = actions;
    this.bar = bar;
    this.items = [];
    this.seen = null;
    this.waiting = 0;
    this.id = null;
    // Requests are numbered, so that an answer that was overtaken by a later one is not shown.
    this.asked = 0;
    this.taken = 0;
    bar.addEventListener("click", () => this.show());
  }

  get isShown() { return Boolean(this.list?.isConnected); }

  /** Takes the state of the run. */
  take(state) {
    const traffic = state.traffic;
    this.bar.hidden = !traffic?.paused;
    if (!traffic) return;
    this.bar.textContent = `‖ Paused ${traffic.paused}`;
    if (traffic.pausedChange === this.seen) return;
    this.seen = traffic.pausedChange;
    this.refresh();
  }

  async refresh() {
    if (!this.isShown && !this.actions.state().traffic?.paused) return;
    const number = ++this.asked;
    try {
      this.keep((await api.json("/api/paused")).paused, number);
      if (this.isShown) this.render();
    } catch { /* the next tick tries again */ }
  }

  /** Takes a list, unless a later one is here already. */
  keep(items, number) {
    if (number < this.taken) return;
    this.taken = number;
    this.items = items.map((item) => ({ ...item, at: performance.now() }));
  }

  async show() {
    if (!this.actions.state().traffic) return this.actions.say("nothing runs whose messages could be paused: see record, run, replay and serve");
    this.words = element("p", { role: "status" });
    this.list = element("ol", { class: "rules", "aria-label": "Paused messages" });
    this.editor = element("div", { id: "paused-editor" });
    this.id = null;
    this.shown = null;
    this.actions.panel("Paused", this.words, this.list, this.editor);
    await this.refresh();
    this.render();
    this.list.querySelector("button")?.focus();
    this.run();
  }

  /** Moves the clocks while they are on the screen. */
  run() {
    clearTimeout(this.timer);
    if (!this.isShown) return;
    for (const row of this.rows ?? []) row.tick();
    this.timer = setTimeout(() => this.run(), STEP);
  }

  render() {
    const waiting = this.items.filter((item) => !item.gone).length;
    this.words.textContent = waiting ? `${count(waiting, "message")} waiting, the longest first` : "no message is waiting";
    const shown = JSON.stringify(this.items.map(({ id, gone }) => [id, gone]));
    if (shown !== this.shown) {
      this.shown = shown;
      const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.item : null;
      this.rows = this.items.map((item) => this.row(item));
      clear(this.list, this.rows.map((row) => row.element));
      if (focused) (this.list.querySelector(`[data-item="${CSS.escape(focused)}"]`) ?? this.list.querySelector("button"))?.focus();
    } else this.rows.forEach((row, index) => { row.item = this.items[index]; });
    this.mark();
    if (this.id !== null && !this.items.some((item) => item.id === this.id && !item.gone) && !this.isOver) this.over();
  }

  row(item) {
    const clocks = element("span", { class: "counts" });
    const title = recorded(`${item.method} ${item.url}`);
    const words = [element("span", { class: "kind", text: stageWords(item) + (item.status ? ` ${item.status}` : "") }), " ", item.gone ? element("s", {}, title) : title];
    const choose = item.gone ? element("span", {}, words, element("span", { class: "caution", text: " the client has left" })) : element("button", { type: "button", class: "link", "data-item": String(item.id), onclick: () => this.open(item.id) }, words);
    const pass = item.gone ? null : element("button", { type: "button", text: "Go on", "aria-label": `Go on: ${plain(`${item.method} ${item.url}`)}`, "data-item": `pass ${item.id}`, onclick: () => this.pass(item.id) });
    const row = { item, element: element("li", { class: "part" }, element("div", { class: "viewer-bar" }, choose, element("span", { class: "gap" }), clocks, pass), element("p", { class: "facts" }, "rule ", recorded(item.rule))) };
    row.tick = () => {
      const passed = performance.now() - row.item.at;
      const text = row.item.gone ? `goes in ${clock(row.item.left - passed)}` : `client waits ${clock(row.item.waits + passed)}, goes on in ${clock(row.item.left - passed)}`;
      if (clocks.textContent !== text) clocks.textContent = text;
    };
    row.tick();
    return row;
  }

  mark() { for (const button of this.list.querySelectorAll("button.link")) button.setAttribute("aria-current", String(button.dataset.item === String(this.id))); }

  // MARK: One message

  async open(id) {
    let item;
    try { item = await api.json(`/api/paused/${id}`); } catch (error) { this.actions.say(plain(error.message)); return this.refresh(); }
    this.id = id;
    this.warned = null;
    this.isOver = false;
    this.mark();
    const { stage, content } = item;
    const isHead = stage === "request" || stage === "response";
    this.result = element("p", { role: "status", id: "paused-result" });
    const input = (name, label, value) => {
      const made = element("input", { id: `paused-${name}`, autocomplete: "off", spellcheck: "false" });
      made.value = value;
      return [made, element("p", { class: "labelled" }, element("label", { for: `paused-${name}`, text: label }), made)];
    };
    const area = (name, label, value, rows) => {
      const made = element("textarea", { id: `paused-${name}`, rows, autocomplete: "off", spellcheck: "false" });
      made.value = value;
      return [made, element("p", { class: "labelled" }, element("label", { for: `paused-${name}`, text: label }), made)];
    };
    const fields = {};
    const lines = [];
    const add = (name, [made, line]) => { fields[name] = made; lines.push(line); };
    if (stage === "request") { add("method", input("method", "Method", content.method)); add("url", input("url", "URL", content.url)); }
    if (stage === "response") { add("status", input("status", "Status", String(content.status))); add("reason", input("reason", "Reason", content.reason)); }
    if (isHead) add("headers", area("headers", "Header fields", content.headers.join("\n"), Math.min(10, content.headers.length + 1)));
    if (content.note !== undefined) lines.push(element("p", { class: "caution" }, "⚠ the body stays as it is: ", recorded(content.note)));
    else {
      add("body", area("body", content.size === undefined ? "Body" : `Body, ${bytes(content.size)}`, content.body ?? "", 8));
      if (content.base64 !== undefined) lines.push(element("p", { class: "caution", text: "⚠ the body is no text: it stays as it is unless you type another one" }));
    }
    const typed = () => Object.fromEntries(Object.entries(fields).map(([name, made]) => [name, made.value]));
    const answer = {};
    const everything = () => JSON.stringify([typed(), Object.values(answer).map((made) => made.value)]);
    const send = (decision, always = false) => this.decide(id, { decision, ...(always ? { always } : {}), ...(decision === "change" ? { content: contentOf(stage, typed(), content) } : {}), ...(decision === "answer" ? { content: answerOf(Object.fromEntries(Object.entries(answer).map(([name, made]) => [name, made.value]))) } : {}) });
    const button = (text, title, act) => element("button", { type: "button", text, title, onclick: act });
    const titles = { pass: "As it is", change: "With the changes below", drop: isHead ? "Close the connection" : "Leave it out", answer: "With the answer below" };
    const bar = element("div", { class: "viewer-bar", role: "group", "aria-label": "Decision" }, decisions(stage).filter(([name]) => name !== "answer").map(([name, label]) => button(label, titles[name], () => (name === "pass" ? this.pass(id) : send(name)))));
    if (stage === "response") bar.append(button("Answer so from now on", "With the changes below, and as a rule for this method and URL, whatever a request has in its body", () => send("change", true)));
    const parts = [element("h3", {}, `Paused ${stageWords(item)}: `, recorded(`${item.method} ${item.url}`)), bar, this.result, ...lines];
    if (stage === "request") {
      const one = (name, [made, line]) => { answer[name] = made; return line; };
      parts.push(element("h3", { text: "Or answer it here" }), element("div", { class: "viewer-bar", role: "group", "aria-label": "Answer" }, button("Answer", "With this, and send nothing", () => send("answer")), button("Answer so from now on", "With this, and as a rule for this method and URL, whatever a request has in its body", () => send("answer", true))),
        one("status", input("answer-status", "Status", "200")), one("headers", area("answer-headers", "Header fields", "Content-Type: application/json", 2)), one("body", area("answer-body", "Body", "", 5)));
    }
    clear(this.editor, ...parts);
    const before = everything();
    this.drops = () => everything() !== before;
    for (const made of [...Object.values(fields), ...Object.values(answer)]) made.addEventListener("input", () => { if (this.warned === id) { this.warned = null; clear(this.result); } });
    this.editor.scrollIntoView({ block: "start" });
    bar.querySelector("button").focus({ preventScroll: true });
    return null;
  }

  /** A message goes on as it is. What was typed for it would be lost: that takes a second press. */
  pass(id) {
    if (this.id === id && !this.isOver && this.result?.isConnected && this.drops() && this.warned !== id) {
      this.warned = id;
      clear(this.result, element("span", { class: "caution", text: "⚠ this sends nothing of what you typed: press again to go on without it, or press Go on changed" }));
      return null;
    }
    return this.decide(id, { decision: "pass" });
  }

  async decide(id, decision) {
    const number = ++this.asked;
    try {
      this.keep((await (await api.post(`/api/paused/${id}`, decision)).json()).paused, number);
      this.actions.say(decision.always ? "answered, and so from now on for this method and URL, whatever is in a request's body: a rule that pauses such requests still does" : { pass: "it goes on", change: "it goes on changed", answer: "answered", drop: "dropped" }[decision.decision]);
      if (this.id === id) { this.id = null; clear(this.editor); }
      if (!this.isShown) return;
      this.render();
      const next = this.list.querySelector("button");
      if (next) next.focus();
      else document.querySelector("#side .detail-head button")?.focus();
    } catch (error) {
      if (this.result?.isConnected) clear(this.result, element("span", { class: "problem" }, recorded(error.message)));
      else this.actions.say(plain(error.message));
      if (error.code === "gone") this.refresh();
    }
  }

  /** The message that is being edited waits no longer. What was typed stays, so that it can be copied. */
  over() {
    this.isOver = true;
    for (const button of this.editor.querySelectorAll("button")) button.disabled = true;
    if (this.result) clear(this.result, element("span", { class: "problem", text: "✗ this message no longer waits: its time was over, its client has left, or somebody else decided" }));
  }
}
