import { element, clear, recorded } from "../core/dom.js";
import { plain } from "../core/text.js";
import * as api from "../core/api.js";
import * as sections from "./sections.js";
import { copied, FORMS } from "./copy.js";
import * as dialogs from "../core/dialogs.js";
import { viewer } from "./viewer.js";

/** Shows one exchange in tabs. */
export class Detail {
  /** - actions: `tab(name)`, `close()`, `find(text)`, `say(text)`, `epoch()`, `edit()`, `resend()`, `rule()`, `hasRules()`, `ended(key)`. */
  constructor(parent, actions) {
    this.parent = parent;
    this.actions = actions;
    /** The key of the exchange that is shown or was asked for; null if there is none. */
    this.key = null;
    this.exchange = null;
    this.tabs = [];
    this.tab = "response";
    this.loading = null;
  }

  /** - isMoved: whether a person came here by moving in the list, and asked for no tab. */
  async open(key, tab, isMoved = false) {
    this.loading?.abort();
    const loading = new AbortController();
    this.loading = loading;
    this.key = key;
    try {
      // The key of an exchange that is still open is "o" followed by its id.
      const base = api.here(typeof key === "string" ? "/api/open/" + key.slice(1) : "/api/x/" + key);
      const epoch = this.actions.epoch();
      const exchange = await api.json(base, loading.signal);
      if (loading.signal.aborted) return;
      if (exchange.ended) return this.actions.ended(exchange.ended);
      exchange.base = base;
      exchange.epoch = epoch;
      exchange.isOpen = typeof key === "string";
      this.exchange = exchange;
      this.show(tab, isMoved);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.exchange = null;
      clear(this.parent, element("div", { class: "detail-head" }, element("h2", { id: "detail-title", text: typeof key === "string" ? "open" : `Exchange ${key}` }), element("button", { type: "button", text: "Close", onclick: () => this.actions.close() })),
        element("p", { class: typeof key === "string" ? "empty" : "problem", role: "alert" }, recorded(error.message)));
    }
  }

  show(tab, isMoved) {
    const exchange = this.exchange;
    const panel = element("div", { role: "tabpanel", id: "panel", tabindex: 0, "aria-labelledby": "tab-response" });
    const defects = (exchange.request.body?.defects ?? 0) + (exchange.response?.body?.defects ?? 0);
    const hasParts = exchange.request.body?.multipart || exchange.response?.body?.multipart;
    const hasMessages = exchange.webSocket !== undefined || [exchange.request, exchange.response].some((one) => one?.body?.events !== undefined || one?.body?.messages !== undefined);
    this.tabs = [
      ["request", "Request", () => sections.request(exchange)],
      ["response", "Response", () => sections.response(exchange)],
      hasParts || defects ? ["parts", (hasParts ? "Parts" : "Defects") + (defects ? ` ⚠ ${defects}` : ""), () => sections.parts(exchange)] : null,
      hasMessages ? ["messages", exchange.response?.body?.events !== undefined ? "Events" : "Messages", () => sections.messages(exchange)] : null,
      ["timing", "Timing", () => sections.timing(exchange)],
      ["connection", exchange.connection?.tls ? "TLS" : "Connection", () => sections.connection(exchange)],
      ["redacted", exchange.redactions.length ? `Redacted ${exchange.redactions.length}` : "Redacted", () => sections.redactions(exchange, this.actions.find)],
      ["raw", "Raw", () => [element("p", { class: "facts", text: exchange.isOpen ? "as the cassette would contain it if the recorder stopped now" : `as it is in the cassette, from offset ${exchange.from.toLocaleString("en-US")}` }), viewer({ path: `${exchange.base}/text`, form: "text", size: exchange.length, name: `${exchange.number}.json` })]],
    ].filter(Boolean);
    const list = element("div", { role: "tablist", "aria-label": "Views of the exchange" }, this.tabs.map(([name, label], index) => element("button", {
      type: "button", role: "tab", id: "tab-" + name, "aria-controls": "panel", "aria-selected": "false", tabindex: -1, title: `${index + 1}`, text: label,
      onclick: () => this.choose(name, true),
    })));
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const place = this.tabs.findIndex(([name]) => name === this.tab);
      this.choose(this.tabs[(place + step + this.tabs.length) % this.tabs.length][0], true);
      this.parent.querySelector(`#tab-${this.tab}`).focus();
    });
    // An exchange that is still open has no text to edit and no key to link to.
    const whole = (button) => (exchange.isOpen ? null : button);
    const head = element("div", { class: "detail-head" },
      element("h2", { id: "detail-title" }, exchange.isOpen ? "open " : `${exchange.number} `, recorded(`${exchange.request.method} ${exchange.request.url}`)),
      whole(element("button", { type: "button", text: "Copy as…", title: "Copy the request as curl (c), fetch, Python, Swift, HTTPie or raw", "aria-haspopup": "dialog", onclick: () => this.copyAs() })),
      whole(element("button", { type: "button", text: exchange.comment === undefined ? "Comment" : "Comment ✎", title: "A comment in the cassette", "aria-haspopup": "dialog", onclick: () => this.actions.comment(exchange) })),
      whole(element("button", { type: "button", text: "Edit", title: "Edit it (e)", onclick: () => this.actions.edit() })),
      whole(element("button", { type: "button", text: "Form", title: "Edit the request in a form, and send it (E)", onclick: () => this.actions.form() })),
      whole(element("button", { type: "button", text: "Resend", title: "Send the request again (r)", onclick: () => this.actions.resend() })),
      this.actions.hasRules() ? whole(element("button", { type: "button", text: "Rule", title: "A rule for such requests (b)", "aria-haspopup": "dialog", onclick: () => this.actions.rule() })) : null,
      whole(element("button", { type: "button", text: "Link", title: "Copy a link", onclick: () => this.copy(location.href, "link copied") })),
      element("button", { type: "button", text: "Close", title: "Close (Escape)", onclick: () => this.actions.close() }));
    this.panel = panel;
    clear(this.parent, head, exchange.comment === undefined ? null : element("p", { class: "comment" }, recorded(exchange.comment, { lines: true })), list, panel);
    // What was said is what people look for in a conversation.
    if (hasMessages && isMoved && [null, undefined, "request", "response"].includes(tab)) tab = "messages";
    this.choose(this.tabs.some(([name]) => name === tab) ? tab : this.tabs.some(([name]) => name === this.tab) ? this.tab : "response", false);
  }

  async choose(name, isAsked) {
    this.tab = name;
    for (const button of this.parent.querySelectorAll("[role=tab]")) {
      const isChosen = button.id === "tab-" + name;
      button.setAttribute("aria-selected", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
    }
    const panel = this.panel;
    panel.setAttribute("aria-labelledby", "tab-" + name);
    if (isAsked && !this.exchange?.isOpen) this.actions.tab(name);
    try {
      const made = await this.tabs.find(([one]) => one === name)[2]();
      if (this.panel === panel && this.tab === name) { clear(panel, made); panel.scrollTop = 0; }
    } catch (error) {
      if (this.panel === panel) clear(panel, element("p", { class: "problem", role: "alert" }, recorded(error.message)));
    }
  }

  chooseNumber(number) {
    const tab = this.tabs[number - 1];
    if (this.exchange && tab) this.choose(tab[0], true);
  }

  copyCurl() { return this.copyForm("curl", "curl command"); }

  copyAs() {
    if (this.exchange) dialogs.choose("Copy the request as", FORMS.map(([form, words]) => [words, () => this.copyForm(form, words)]));
  }

  async copyForm(form, words) {
    if (!this.exchange) return;
    if (this.exchange.isOpen) { this.actions.say("the exchange is still open"); return; }
    try {
      const text = await copied(this.exchange, form, this.actions.path());
      await this.copy(text, text.startsWith("# first, ") ? `${words} copied; it sends files: its first line says how to get them` : `${words} copied`);
    } catch (error) { this.actions.say(plain(error.message)); }
  }

  async copy(text, words) {
    try { await navigator.clipboard.writeText(text); this.actions.say(words); } catch { this.actions.say("the browser does not let the page copy"); }
  }

  clear() {
    this.loading?.abort();
    this.key = null;
    this.exchange = null;
    clear(this.parent);
  }
}
