import { element, clear, recorded } from "../core/dom.js";
import { plain } from "../core/text.js";
import * as api from "../core/api.js";

const WORDS = {
  accepted: "✓ accepted: the new recording has replaced the old one", rejected: "✓ refused: the new recording is removed", pending: "both recordings are kept",
  same: "✓ nothing differs: the new recording has replaced the old one", accept: "accepted: replacing the old recording", reject: "refused: removing the new recording", later: "both recordings are kept",
};

/** Asks whether the new recording replaces the old one. Whichever answers first counts: this page or the terminal. */
export class Review {
  /** - actions: `panel(title, ...content)`, `isInPanel()`, `notice(text)`, `say(text)`; diff: a `Diff`. */
  constructor(actions, diff) {
    this.actions = actions;
    this.diff = diff;
    this.phase = null;
  }

  /** Takes the state of the run, and asks the question when the recording has ended. */
  take(state) {
    const review = state.review;
    if (!review || review.phase === this.phase) return;
    this.phase = review.phase;
    this.older = state.older;
    this.review = review;
    // Does not take the panel from somebody who is typing in it: the status line says what to press.
    if (review.phase === "open") { if (!this.actions.isInPanel()) this.show(false); }
    else if (review.phase !== "closed") this.told();
  }

  get isOpen() { return this.phase === "open"; }

  get isOver() { return this.phase === "done" || this.phase === "failed"; }

  /** - isAsked: by a key or a command; otherwise somebody may be typing, so no button gets the focus. */
  show(isAsked = true) {
    if (!this.phase || this.phase === "closed") return this.actions.say("there is nothing to accept: --review asks when the recording has ended");
    const name = plain(this.older.split("/").pop());
    const words = element("p", { role: "status", text: "comparing" });
    const list = element("ol", { class: "parts" });
    this.result = element("p", { role: "status", id: "review-result", text: this.isOpen && !isAsked ? "the recording has ended: press v to answer" : "" });
    this.bar = element("div", { class: "viewer-bar", role: "group", "aria-label": "Answer" },
      element("button", { type: "button", text: "Accept", title: `Replace ${name}`, onclick: () => this.answer("accept") }),
      element("button", { type: "button", text: "Refuse", title: "Remove the new recording", onclick: () => this.answer("reject") }),
      element("button", { type: "button", text: "Keep both", onclick: () => this.answer("later") }));
    this.actions.panel(`Does the new recording replace ${name}?`, this.bar, this.result, words, list);
    if (!this.isOpen) this.told();
    if (isAsked) this.bar.querySelector("button").focus();
    return this.diff.cassettes(words, list);
  }

  async answer(answer) {
    if (!this.isOpen) return this.actions.say("there is nothing to accept or refuse now");
    try {
      this.take(await (await api.post("/api/review", { answer })).json());
    } catch (error) {
      this.actions.notice(error.message);
      if (this.result) clear(this.result, element("span", { class: "problem" }, recorded(error.message)));
    }
  }

  /** Says how it ended, and where the answer came from. */
  told() {
    const { phase, words, by } = this.review;
    const text = phase === "failed" ? words : (WORDS[words] ?? words) + (by === "terminal" && words !== "same" ? ", on the terminal" : "");
    this.actions.say(plain(text));
    if (!this.result) return;
    for (const button of this.bar.querySelectorAll("button")) button.disabled = true;
    clear(this.result, element("span", { class: phase === "failed" ? "problem" : "status good" }, recorded(text)));
  }
}
