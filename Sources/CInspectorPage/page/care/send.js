import { element, clear, recorded } from "../core/dom.js";
import { bytes, commandLine } from "../core/text.js";
import * as api from "../core/api.js";
import { fieldTable } from "../detail/sections.js";
import { changeTable } from "./diff.js";

/** Sends a recorded request again, by the rules of wiretape check, and shows the new answer next to the recorded one. */
export class Sender {
  /** - actions: `panel(title, ...content)`, `open(key, isAsked)`, `say(text)`, `sends()`, `run()`. */
  constructor(actions) { this.actions = actions; }

  /** Sends the request of an exchange as it was recorded. */
  resend(exchange) {
    const box = element("div");
    if (!this.actions.sends()) {
      this.actions.panel(`Exchange ${exchange.number} is not sent`, element("div", { class: "viewer-bar" }, element("button", { type: "button", text: "Back", onclick: () => this.actions.open(exchange.key, true) })), box);
      return this.explain(box);
    }
    const shown = { epoch: exchange.epoch };
    this.actions.panel(`Sent again: exchange ${exchange.number}`, element("div", { class: "viewer-bar" },
      element("button", { type: "button", text: "Send again", onclick: () => this.send(exchange.key, box, shown) }), element("button", { type: "button", text: "Back", onclick: () => this.actions.open(exchange.key, true) })), box);
    return this.send(exchange.key, box, shown);
  }

  /** Explains why this page sends nothing, and which one can. */
  explain(box) {
    const { mode, path } = this.actions.run();
    const why = mode === "serve" ? "A session takes requests only from its clients, so its page sends none." : "A replay answers from the cassette and never contacts an origin, and neither does its page.";
    const command = commandLine("wiretape", "inspect", path, "--web", "--open");
    clear(box, element("p", { class: "caution", role: "status", text: why }), element("p", { text: "Open the cassette on its own, and send from there:" }),
      element("pre", { tabindex: 0, role: "region", "aria-label": "Command" }, recorded(command)),
      element("p", {}, element("button", { type: "button", text: "Copy command", onclick: async () => { try { await navigator.clipboard.writeText(command); this.actions.say("command copied"); } catch { this.actions.say("the browser does not let the page copy"); } } })));
  }

  /** - shown: `epoch` of the file in which the exchange was seen, and its `text` if it was edited. */
  async send(key, box, { epoch, text }, unsafe = false) {
    if (!this.actions.sends()) return this.explain(box);
    clear(box, element("p", { role: "status", text: "sending" }));
    try {
      const sent = await (await api.post("/api/send", { key, text, unsafe }, undefined, { "If-Match": `"${epoch}"` })).json();
      clear(box, ...this.shown(sent));
    } catch (error) {
      clear(box, element("p", { class: "problem", role: "alert" }, recorded(error.message)));
      if (error.code !== "unsafe-method") return;
      const button = element("button", { type: "button", text: "Send it anyway", onclick: () => this.send(key, box, { epoch, text }, true) });
      box.append(element("p", {}, button));
      button.focus();
    }
  }

  shown(sent) {
    const isAnswered = sent.status !== undefined;
    return [
      element("h3", { text: "Answer" }),
      ...sent.notes.map((note) => element("p", { class: "caution" }, recorded(note))),
      isAnswered ? element("p", { class: "startline", role: "status" }, recorded(`${sent.version} ${sent.status} ${sent.reason}`)) : element("p", { class: "problem", role: "status", text: "✗ no answer" }),
      element("h3", { text: "Changes since it was recorded" }), changeTable(sent.changes, ["recorded", "now"]),
      isAnswered ? element("h3", { text: "Header fields" }) : null, isAnswered ? fieldTable(sent.headers, "Header fields of the answer") : null,
      sent.body === undefined ? null : element("h3", { text: `Body, ${bytes(sent.size)}${sent.whole ? "" : ", its beginning"}` }),
      sent.body === undefined ? null : element("pre", { tabindex: 0, role: "region", "aria-label": "Body of the answer", dir: "auto" }, recorded(sent.body, { lines: true })),
    ];
  }
}
