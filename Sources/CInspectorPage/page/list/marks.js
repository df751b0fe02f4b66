import { element, clear, recorded } from "../core/dom.js";
import { count, plain } from "../core/text.js";
import * as api from "../core/api.js";
import * as dialogs from "../core/dialogs.js";

// A longer comment belongs elsewhere.
const LONGEST = 2000;

/** What can be done with several chosen rows at once: export, compare, comment, delete. */
export class Marks {
  /** - actions: `say(text)`, `epoch()`, `compare(left, right)`, `writes()`. */
  constructor(bar, grid, actions) {
    this.bar = bar;
    this.grid = grid;
    this.actions = actions;
  }

  get keys() { return [...this.grid.marked].filter((key) => typeof key === "number").sort((a, b) => a - b); }

  /** Call it after the chosen rows have changed. */
  render() {
    const { keys } = this;
    this.bar.hidden = keys.length < 2;
    if (this.bar.hidden) return;
    const button = (text, run) => element("button", { type: "button", text, onclick: run });
    clear(this.bar, element("strong", { role: "status", text: `${count(keys.length, "exchange")} chosen` }),
      button("Export HAR", () => this.export("har")), button("Export curl", () => this.export("curl")), button("Export bodies", () => this.export("zip")),
      keys.length === 2 ? button("Compare", () => this.actions.compare(...keys)) : null,
      button("Comment…", () => this.comment(keys)), button("Delete…", () => this.remove(keys)), button("None", () => this.grid.unmark()));
  }

  async export(format) {
    try {
      const { path } = await (await api.post("/api/tickets", { format, keys: this.keys })).json();
      element("a", { href: path, download: path.split("/").pop() }).click();
    } catch (error) { this.actions.say(plain(error.message)); }
  }

  /** Asks for a comment on exchanges, which is written into the cassette. - before: the comment they have. */
  comment(keys, before = "") {
    const area = element("textarea", { id: "comment-text", rows: 3, maxlength: LONGEST, "aria-label": "Comment" });
    area.value = before;
    const problem = element("p", { class: "problem", role: "alert" });
    const send = async () => {
      try { await this.order("/api/comments", { keys, text: area.value.trim() }); dialogs.close(); this.actions.say(area.value.trim() ? "the comment is in the cassette" : "the comment was removed"); } catch (error) { clear(problem, recorded(error.message)); }
    };
    area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(); });
    dialogs.show(`Comment on ${count(keys.length, "exchange")}`, element("p", { class: "facts", text: "It is written into the cassette, where everybody who has the file can read it. An empty one is removed." }), area, problem, element("button", { type: "button", text: "Write", title: "Ctrl-Enter", onclick: send }), " ");
    area.focus();
  }

  remove(keys) {
    const problem = element("p", { class: "problem", role: "alert" });
    dialogs.show(`Delete ${count(keys.length, "exchange")}?`, element("p", { text: "They and their body files are removed from the cassette. This cannot be undone." }), problem,
      element("button", { type: "button", text: "Delete", onclick: async () => {
        try { await this.order("/api/deletions", { keys }); dialogs.close(); this.grid.unmark(); this.actions.say(`${count(keys.length, "exchange")} deleted`); } catch (error) { clear(problem, recorded(error.message)); }
      } }), " ");
  }

  order(path, body) { return api.post(path, body, undefined, { "If-Match": `"${this.actions.epoch()}"` }); }
}
