import { element, clear, recorded } from "../core/dom.js";
import { count } from "../core/text.js";
import * as api from "../core/api.js";

const SHOWN = 1000;

/** Searches as a stream: hits are shown as they are found; another search or Stop ends it. */
export class Search {
  /** - actions: `open(key, tab)`, `close()`. */
  constructor(parent, actions) {
    this.parent = parent;
    this.actions = actions;
    this.running = null;
  }

  stop() { this.running?.abort(); this.running = null; }

  async run(text, view) {
    this.stop();
    const running = new AbortController();
    this.running = running;
    const words = element("p", { role: "status", text: "searching" });
    const list = element("ol", { class: "hits", "aria-label": "Hits" });
    const stop = element("button", { type: "button", text: "Stop", onclick: () => { this.stop(); stop.hidden = true; } });
    clear(this.parent, element("div", { class: "detail-head" }, element("h2", {}, "Search: ", recorded(text)), stop, element("button", { type: "button", text: "Close", onclick: () => { this.stop(); this.actions.close(); } })),
      element("div", { role: "region", "aria-label": "Results of the search", tabindex: 0, class: "results" }, words, list));
    let hits = 0;
    let looked = 0;
    let of = 0;
    let isWhole = false;
    try {
      const response = await api.post("/api/searches", { text, view: view ?? null }, running.signal);
      await api.lines(response, (line) => {
        if (line.looked !== undefined) { looked = line.looked; of = line.of; isWhole = line.done ?? isWhole; } else {
          hits += 1;
          if (hits <= SHOWN) list.append(this.hit(line));
        }
        words.textContent = `${count(hits, "hit")}, ${looked.toLocaleString("en-US")} of ${count(of, "exchange")} searched`;
      });
      words.textContent += isWhole ? "" : "; more hits are not shown";
    } catch (error) {
      if (error.name === "AbortError") words.textContent += "; stopped";
      else clear(words, recorded(error.message));
    }
    stop.hidden = true;
  }

  hit(line) {
    const tab = line.side === "webSocket" || line.place.startsWith("message") ? "messages" : line.side;
    return element("li", {}, element("button", { type: "button", onclick: () => this.actions.open(line.key, tab) },
      element("span", { class: "where" }, `${line.key} · ${line.side} · `, recorded(line.place), ` · offset ${line.offset.toLocaleString("en-US")}`), element("br"),
      recorded(line.before), element("mark", {}, recorded(line.hit)), recorded(line.after)));
  }
}
