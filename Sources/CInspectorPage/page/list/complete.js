import { element, clear } from "../core/dom.js";

const KEY = "wiretape-filters";
// How many earlier filters are kept.
const KEPT = 20;

// Conditions of the filter language, each with a line of help and an example.
const CONDITIONS = [
  ["~m", "method", "~m POST"], ["~u", "URL", "~u /pets"], ["~d", "domain", "~d api.example"], ["~c", "status", "~c 404"], ["~t", "type of the request or the answer", "~t json"],
  ["~tq", "type of the request", "~tq multipart"], ["~ts", "type of the answer", "~ts image"], ["~b", "text in a body", "~b error"], ["~bq", "text in the request's body", "~bq token"],
  ["~bs", "text in the answer's body", "~bs error"], ["~h", "text in a header field", "~h cookie"], ["~hq", "text in a request's field", "~hq authorization"], ["~hs", "text in an answer's field", "~hs set-cookie"],
  ["~e", "cut or failed", "~e"], ["~q", "without an answer", "~q"], ["~s", "with an answer", "~s"], ["~a", "images, styles, scripts", "!~a"], ["~dst", "address of the server", "~dst 127.0.0.1"],
  ["~hv", "version of HTTP", "~hv 2"], ["~grpc", "status of gRPC", "~grpc 5"], ["~websocket", "WebSockets", "~websocket"], ["~http", "HTTP", "~http"], ["~all", "everything", "~all"],
];

function kept() { try { const found = JSON.parse(sessionStorage.getItem(KEY)); return Array.isArray(found) ? found : []; } catch { return []; } }

/** Completes the filter while it is typed, and offers earlier ones. Filters may hold secrets, so that they are kept for this tab only. */
export class Completion {
  /** - apply: called with the whole filter after a choice. */
  constructor(input, apply) {
    this.input = input;
    this.apply = apply;
    this.list = element("ul", { id: "filter-choices", role: "listbox", "aria-label": "Conditions and earlier filters", hidden: true });
    this.shown = [];
    this.place = -1;
    for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", "filter-choices"], ["aria-autocomplete", "list"]]) input.setAttribute(name, value);
    input.after(this.list);
    input.addEventListener("input", () => this.offer());
    input.addEventListener("blur", () => setTimeout(() => this.hide(), 150));
    input.addEventListener("keydown", (event) => this.key(event), true);
  }

  /** Remembers a filter that found something. */
  keep(text) {
    if (!text.trim()) return;
    try { sessionStorage.setItem(KEY, JSON.stringify([text, ...kept().filter((one) => one !== text)].slice(0, KEPT))); } catch { /* applies to this page only */ }
  }

  get word() { return /(?:^|[\s!(&|])(~[a-z]*)$/.exec(this.input.value.slice(0, this.input.selectionStart))?.[1]; }

  /** Whether the filter ends within the name of a condition, so that nothing can be said about it yet. */
  get isIncomplete() { const { word } = this; return document.activeElement === this.input && word !== undefined && CONDITIONS.some(([text]) => text !== word && text.startsWith(word)) && !CONDITIONS.some(([text, , example]) => text === word && !example.includes(" ")); }

  /** - isAsked: by the arrow key, which also offers everything. */
  offer(isAsked = false) {
    const { word } = this;
    const isEmpty = !this.input.value.trim();
    this.shown = isEmpty && isAsked ? [...kept().map((text) => ({ text, words: "earlier filter", isWhole: true })), ...CONDITIONS.map(([text, words, example]) => ({ text, words, example }))]
      : word !== undefined || isAsked ? CONDITIONS.filter(([text]) => text.startsWith(word ?? "~")).map(([text, words, example]) => ({ text, words, example })) : [];
    // Nothing is left to complete.
    if (this.shown.length === 1 && this.shown[0].text === word) this.shown = [];
    this.place = -1;
    this.render();
  }

  render() {
    const { input, list } = this;
    list.hidden = !this.shown.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    clear(list, this.shown.map((one, index) => element("li", { role: "option", id: "filter-choice-" + index, "aria-selected": String(index === this.place), onmousedown: (event) => { event.preventDefault(); this.take(one); } },
      element("code", { text: one.text }), element("span", { text: one.words }), one.example ? element("code", { class: "example", text: one.example }) : null)));
    if (this.place >= 0) input.setAttribute("aria-activedescendant", "filter-choice-" + this.place);
    else input.removeAttribute("aria-activedescendant");
    list.children[this.place]?.scrollIntoView({ block: "nearest" });
  }

  hide() { this.shown = []; this.render(); }

  take(one) {
    const { input } = this;
    if (one.isWhole) { input.value = one.text; this.hide(); this.apply(one.text); return; }
    const end = input.selectionStart;
    const start = end - (this.word?.length ?? 0);
    const needsValue = one.example.includes(" ");
    const text = one.text + (needsValue ? " " : "");
    input.setRangeText(text, start, end, "end");
    this.hide();
    if (!needsValue) this.apply(input.value);
  }

  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!this.shown.length) return this.offer(true);
      this.place = (this.place + (event.key === "ArrowDown" ? 1 : -1) + this.shown.length + (this.place < 0 && event.key === "ArrowUp" ? 1 : 0)) % this.shown.length;
      this.render();
    } else if (this.shown.length && this.place >= 0 && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      this.take(this.shown[this.place]);
    } else if (this.shown.length && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.hide();
    } else if (event.key === "Enter") this.hide();
    return undefined;
  }
}
