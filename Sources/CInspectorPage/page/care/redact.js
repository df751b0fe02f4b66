import { element, clear, recorded } from "../core/dom.js";
import { commandLine, count, number } from "../core/text.js";
import * as api from "../core/api.js";

/** Shows what rules would remove from the cassette, and where, without writing anything. */
export class RedactionTrial {
  /** - actions: `panel(title, ...content)`, `open(key, isAsked, tab)`, `say(text)`, `path()`. */
  constructor(actions) {
    this.actions = actions;
    this.texts = { redact: "", keep: "", values: "" };
  }

  /** - rule: one to begin with. */
  show(rule) {
    if (rule && !this.lines("redact").includes(rule)) this.texts.redact = [...this.lines("redact"), rule].join("\n");
    const field = (name, label, hint) => {
      const area = element("textarea", { id: "redact-" + name, rows: 2, spellcheck: "false", autocomplete: "off", placeholder: hint });
      area.value = this.texts[name];
      area.addEventListener("input", () => { this.texts[name] = area.value; });
      area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.run(); } });
      return element("p", { class: "labelled" }, element("label", { for: "redact-" + name, text: label }), area);
    };
    this.result = element("div", { role: "status" });
    this.actions.panel("What would be redacted",
      element("p", { class: "facts", text: "The cassette's own rules and the default rules apply too. Write one rule or value per line. Nothing is written to the cassette." }),
      field("redact", "Remove", "json:/user/email, header:x-key, text=[0-9]{16}"), field("keep", "Keep", "header:x-api-key, jwt"), field("values", "These values, wherever they are", "a secret that you know"),
      element("div", { class: "viewer-bar" },
        element("button", { type: "button", text: "Try", title: "Ctrl-Enter", onclick: () => this.run() }),
        element("button", { type: "button", text: "Copy command", title: "Copy the command that does it, without the values", onclick: () => this.copy() })),
      this.result);
    document.getElementById("redact-redact").focus();
    if (rule) this.run();
  }

  lines(name) { return this.texts[name].split("\n").map((line) => line.trim()).filter(Boolean); }

  async run() {
    clear(this.result, "searching");
    try {
      const found = await (await api.post("/api/redactions/try", { redact: this.lines("redact"), keep: this.lines("keep"), values: this.lines("values") })).json();
      clear(this.result, ...this.shown(found));
    } catch (error) { clear(this.result, element("p", { class: "problem" }, recorded(error.message))); }
  }

  shown(found) {
    if (!found.changed) return [element("p", { class: "status good", text: `✓ nothing would be redacted in ${count(found.exchanges, "exchange")}` })];
    return [
      element("p", { text: `${count(found.places, "place")} in ${number(found.changed)} of ${count(found.exchanges, "exchange")}${found.found.length < found.places ? `; ${number(found.found.length)} of them are listed` : ""}` }),
      element("table", { "aria-label": "Places" },
        element("thead", {}, element("tr", {}, ["exchange", "place", "placeholder", "text with it"].map((text) => element("th", { scope: "col", text })))),
        element("tbody", {}, found.found.map((one) => element("tr", {},
          element("td", {}, element("button", { type: "button", text: String(one.key), "aria-label": `Exchange ${one.key}`, onclick: () => this.actions.open(one.key, true) })),
          element("td", {}, recorded(one.place)), element("td", {}, one.placeholder === undefined ? element("em", { text: "in coded bytes" }) : recorded(one.placeholder)), element("td", { dir: "auto" }, recorded(one.excerpt)))))),
    ];
  }

  async copy() {
    const options = [...this.lines("redact").map((rule) => ["--redact", rule]), ...this.lines("keep").map((place) => ["--keep", place])].flat();
    try { await navigator.clipboard.writeText(commandLine("wiretape", "redact", this.actions.path(), ...options)); this.actions.say("command copied"); } catch { this.actions.say("the browser does not let the page copy"); }
  }
}
