import { element, clear, recorded } from "../core/dom.js";
import { count, number, plain } from "../core/text.js";
import * as api from "../core/api.js";
import * as dialogs from "../core/dialogs.js";

/** The cassettes of the page, each in a tab: the command's own is tab 0, and the others were opened or recorded here. */
export class Tabs {
  /** - actions: `show(id)`, `say(text)`, `notice(text)`. */
  constructor(bar, actions) {
    this.bar = bar;
    this.actions = actions;
    this.all = [];
    this.current = 0;
    this.state = {};
    this.shown = "";
  }

  /** The tab in front; undefined for the command's own. */
  get tab() { return this.all.find((one) => one.id === this.current); }

  /** Whether the command has no cassette of its own. */
  get isBlank() { return Boolean(this.state.blank); }

  name(id = this.current) { return id ? this.all.find((one) => one.id === id)?.name ?? "closed" : plain((this.state.file ?? "").split("/").pop()); }

  /** Takes the state of the command's cassette, which also lists the other tabs. */
  take(state) {
    this.state = state;
    this.all = state.tabs ?? [];
    if (this.current && !this.tab) return this.actions.show(0);
    const shown = JSON.stringify([this.current, state.blank, state.file, state.rows, this.all.map((one) => [one.id, one.name, one.rows, one.proxy, one.paused])]);
    if (shown === this.shown) return undefined;
    this.shown = shown;
    return this.render();
  }

  render() {
    this.bar.hidden = !this.all.length;
    if (this.bar.hidden) return;
    const focused = document.activeElement?.dataset?.tab;
    const own = this.isBlank ? null : this.item({ id: 0, name: this.name(0), rows: this.state.rows });
    clear(this.bar, element("ul", {}, [own, ...this.all.map((tab) => this.item(tab))].filter(Boolean)));
    if (focused !== undefined) this.bar.querySelector(`[data-tab="${focused}"]`)?.focus();
  }

  item(tab) {
    const isCurrent = tab.id === this.current;
    const mark = tab.proxy ? (tab.paused ? "❚❚ " : "● ") : "";
    const words = tab.proxy ? (tab.paused ? "recording paused, " : "recording, ") : "";
    return element("li", { class: isCurrent ? "current" : null },
      element("button", { type: "button", "data-tab": tab.id, "aria-current": isCurrent ? "true" : null, "aria-label": `${plain(tab.name)}, ${words}${count(tab.rows ?? 0, "exchange")}`, onclick: () => this.actions.show(tab.id) },
        element("span", { "aria-hidden": "true", class: tab.proxy ? "recording" : null, text: mark }), recorded(tab.name), element("span", { class: "dim", text: ` ${number(tab.rows ?? 0)}` })),
      tab.id ? element("button", { type: "button", class: "close", text: "×", "aria-label": `Close ${plain(tab.name)}`, title: "Close: what was not saved is gone", onclick: () => this.close(tab) }) : null);
  }

  /** The next tab, or the previous one. */
  step(by) {
    const ids = [...(this.isBlank ? [] : [0]), ...this.all.map((one) => one.id)];
    if (ids.length < 2) return this.actions.say("there is only one cassette here: drop another on the page");
    return this.actions.show(ids[(ids.indexOf(this.current) + by + ids.length) % ids.length]);
  }

  async order(action, body) { return (await api.post(`/api/tabs/${action}`, body)).json(); }

  /** Asks first if a recording would be lost. */
  close(tab) {
    const run = async () => {
      try {
        const list = await this.order("close", { tab: tab.id });
        if (this.current === tab.id) await this.actions.show(0);
        this.take({ ...this.state, tabs: list.tabs });
      } catch (error) { this.actions.say(plain(error.message)); }
    };
    if (!tab.proxy && !/^recording-/.test(tab.name)) return run();
    return dialogs.choose(`Close ${plain(tab.name)}? The recording is nowhere else.`, [["Save it first", () => this.save(tab.id)], ["Close it", run]]);
  }

  /** Has the browser save the cassette, with its bodies as a ZIP archive if there are any. */
  async save(id = this.current) {
    try {
      const { path } = await (await api.post(api.of(id, "/api/tickets"), { format: "cassette" })).json();
      element("a", { href: path, download: path.split("/").pop() }).click();
    } catch (error) { this.actions.say(plain(error.message)); }
  }
}
