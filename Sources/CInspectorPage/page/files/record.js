import { element } from "../core/dom.js";
import { plain } from "../core/text.js";
import * as api from "../core/api.js";

/** Starts, pauses and ends recordings from the page, and empties the list. */
export class Recording {
  /** - actions: `tabs()`, `opened(ids, notes)`, `say(text)`, `panel(title, ...content)`. */
  constructor(button, pause, actions) {
    this.button = button;
    this.pause = pause;
    this.actions = actions;
    button.addEventListener("click", () => this.toggle());
    pause.addEventListener("click", () => this.togglePause());
  }

  /** Whether the tab in front is recorded from the page. */
  get isRunning() { return Boolean(this.actions.tabs().tab?.proxy); }

  get isPaused() { return this.actions.tabs().current ? Boolean(this.actions.tabs().tab?.paused) : Boolean(this.actions.tabs().state.recordingPaused); }

  /** Whether the recording of the tab in front can be paused. */
  get canPause() { return this.actions.tabs().current ? this.isRunning : this.actions.tabs().state.recordingPaused !== undefined; }

  take() {
    const { records } = this.actions.tabs().state;
    this.button.hidden = !records && !this.isRunning;
    this.button.textContent = this.isRunning ? "Stop" : "Record";
    this.button.title = this.isRunning ? "End this recording" : "Start a recording";
    this.pause.hidden = !this.canPause;
    this.pause.setAttribute("aria-pressed", String(this.isPaused));
  }

  toggle() { return this.isRunning ? this.stop() : this.start(); }

  async start() {
    if (!this.actions.tabs().state.records) { this.actions.say("this page starts no recordings: start wiretape inspect --web"); return; }
    try {
      const { opened, notes } = await this.actions.tabs().order("record", {});
      await this.actions.opened(opened, notes);
      this.explain();
    } catch (error) { this.actions.say(plain(error.message)); }
  }

  async stop() {
    try {
      await this.actions.tabs().order("stop", { tab: this.actions.tabs().current });
      this.actions.say("the recording has ended: save it, or it is gone when you close its tab");
    } catch (error) { this.actions.say(plain(error.message)); }
  }

  async togglePause() {
    if (!this.canPause) { this.actions.say("nothing is recorded here"); return; }
    const paused = !this.isPaused;
    try {
      await api.post("/api/recording", { paused });
      this.actions.say(paused ? "the recording is paused: requests pass, and are not recorded" : "the recording goes on");
    } catch (error) { this.actions.say(plain(error.message)); }
  }

  /** Says how clients reach the recording's proxy. */
  explain() {
    const { tab } = this.actions.tabs();
    if (!tab?.proxy) return;
    const address = `http://${tab.proxy}`;
    const line = `eval "$(wiretape env --proxy ${tab.proxy})"`;
    const copy = (text) => element("button", { type: "button", text: "Copy", onclick: async () => { try { await navigator.clipboard.writeText(text); this.actions.say("copied"); } catch { this.actions.say("the browser does not let the page copy"); } } });
    this.actions.panel("Recording", element("p", {}, "Clients that use the proxy ", element("strong", { class: "mono", text: address }), " are recorded here."),
      element("h3", { text: "In a shell" }), element("p", { class: "viewer-bar" }, element("code", { class: "mono", text: line }), copy(line)),
      element("p", { class: "facts", text: "This sets the proxy and makes programs trust Wiretape's authority for HTTPS. For a browser, set the proxy in its settings." }),
      element("h3", { text: "One request" }), element("p", { class: "viewer-bar" }, element("code", { class: "mono", text: `curl --proxy ${address} http://example.com/` }), copy(`curl --proxy ${address} http://example.com/`)),
      element("p", { class: "facts", text: "Secrets are removed as in every recording. The cassette is in memory: save it (Ctrl-K, Save), or it is gone when you close its tab." }));
  }
}
