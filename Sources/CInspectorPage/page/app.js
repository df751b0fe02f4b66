import { element, clear, recorded } from "./core/dom.js";
import { commandLine, count, number, plain } from "./core/text.js";
import * as api from "./core/api.js";
import * as route from "./core/route.js";
import * as theme from "./core/theme.js";
import * as dialogs from "./core/dialogs.js";
import { choices } from "./list/columns.js";
import { asked } from "./core/start.js";
import { grid, rows } from "./list/first.js";
import { Search } from "./list/search.js";
import { Completion } from "./list/complete.js";
import { Marks } from "./list/marks.js";
import { Detail } from "./detail/detail.js";
import { Replay } from "./replay/replay.js";
import { Groups } from "./list/groups.js";
import { Opener } from "./files/drop.js";
import { Recording } from "./files/record.js";
import { Tabs } from "./files/tabs.js";
import { RequestForm } from "./care/form.js";
import { Diff } from "./care/diff.js";
import { Editor } from "./care/edit.js";
import { RedactionTrial } from "./care/redact.js";
import { Review } from "./care/review.js";
import { Sender } from "./care/send.js";
import { Paused } from "./traffic/paused.js";
import { Rules } from "./traffic/rules.js";

const $ = (id) => document.getElementById(id);
// Milliseconds between two updates of a growing list: whatever comes in between is shown with the next update.
const PAUSE = 160;
// Milliseconds for which a message is shown.
const SAID = 10_000;

class App {
  constructor() {
    this.state = { rows: 0, epoch: 0, sorted: true };
    this.place = route.read();
    this.view = null;
    this.isFollowing = false;
    this.isLost = false;
    this.saying = null;
    this.allOpen = [];
    this.openChange = 0;
    this.making = null;
    this.coming = null;
    this.taken = -PAUSE;
    this.rows = rows;
    this.grid = grid;
    grid.actions = { open: (key, isAsked) => this.open(key, isAsked, this.place.tab, true), sort: (name) => this.sort(name), unfollow: () => this.setFollowing(false) };
    this.detail = new Detail($("side"), { tab: (name) => this.write({ tab: name }), close: () => this.close(), find: (text) => this.search(text), say: (text) => this.say(text), epoch: () => this.state.epoch, path: () => this.state.path, comment: (exchange) => this.marks.comment([exchange.key], exchange.comment), edit: () => this.editExchange(), form: () => this.editForm(), resend: () => this.resend(), rule: () => this.ruleFor(), hasRules: () => Boolean(this.state.traffic), ended: (key) => this.ended(key) });
    this.searching = new Search($("side"), { open: (key, tab) => this.open(key, true, tab), close: () => this.close() });
    this.replay = new Replay($("side"), { open: (number) => this.openNumber(number), close: () => this.close(), mark: (place) => this.grid.mark("m" + (place + 1)), epoch: () => this.state.epoch, name: () => plain(this.state.file.split("/").pop()), isLive: () => Boolean(this.state.matches) });
    this.marks = new Marks($("marks"), grid, { say: (text) => this.say(text), epoch: () => this.state.epoch, compare: (left, right) => this.diff.compare({ tab: this.tabs.current, key: left }, { tab: this.tabs.current, key: right }) });
    grid.onmarks = () => this.marks.render();
    grid.note = (row) => this.replayNote(row);
    /** What the replay has missed, as rows, and how often each recorded exchange has answered, by number. */
    this.missRows = [];
    this.answers = null;
    const care = {
      panel: (title, ...content) => this.panel(title, ...content), isInPanel: () => $("side").contains(document.activeElement), say: (text) => this.say(text), notice: (text) => this.notice(text),
      open: (key, isAsked, tab) => this.open(key, isAsked, tab), openNumber: (number) => this.openNumber(number),
      epoch: () => this.state.epoch, name: () => plain(this.state.file.split("/").pop()), path: () => this.state.path, sends: () => this.state.sends, run: () => this.state, state: () => this.state, cassette: () => this.tabs.current, cassetteName: (id) => this.tabs.name(id), chosen: () => (typeof this.grid.selected === "number" ? this.grid.selected : null),
    };
    this.diff = new Diff(care);
    this.review = new Review(care, this.diff);
    this.sender = new Sender(care);
    this.editor = new Editor(care, this.sender);
    this.form = new RequestForm(care, this.sender, this.editor);
    this.groups = new Groups(care, $("group"), (group) => this.showGroup(group));
    this.redactionTrial = new RedactionTrial(care);
    this.trafficRules = new Rules(care);
    this.paused = new Paused(care, $("paused"));
    /** What a tab showed when another came in front, by tab. */
    this.kept = new Map();
    /** The part of the list that is shown, and the key after which it begins. */
    this.group = null;
    this.cleared = 0;
    this.tabs = new Tabs($("tabs"), { show: (id) => this.showTab(id), say: (text) => this.say(text) });
    this.opener = new Opener({ opened: (ids, notes) => this.opened(ids, notes), say: (text) => this.say(text), opens: () => Boolean(this.tabs.state.opens) });
    this.recording = new Recording($("record"), $("pause"), { ...care, tabs: () => this.tabs, opened: (ids, notes) => this.opened(ids, notes) });
    this.commands = [
      { key: "j", label: "Next exchange", run: () => this.grid.move(1) },
      { key: "k", label: "Previous exchange", run: () => this.grid.move(-1) },
      { key: "g", label: "First exchange", run: () => this.grid.select(0) },
      { key: "G", label: "Last exchange", run: () => this.grid.select(this.rows.count - 1) },
      { key: "/", label: "Filter", run: () => $("filter").select() },
      { key: "s", label: "Search", run: () => $("search").select() },
      { key: "f", label: "Follow the newest", run: () => this.setFollowing(!this.isFollowing) },
      { key: "m", label: "Replay: next miss", run: () => this.ofRun(() => this.showReplay()) },
      { key: "c", label: "Copy as curl", run: () => this.detail.copyCurl() },
      { key: "C", label: "Copy as fetch, Python, Swift, HTTPie, raw", run: () => this.detail.copyAs() },
      { key: "x", label: "Choose several: this exchange too (also Shift with arrows or click)", run: () => { if (this.grid.selectedPlace >= 0) this.grid.toggle(this.grid.selectedPlace); } },
      { label: "Comment on the chosen exchanges", run: () => this.commentChosen() },
      { label: "Delete the chosen exchanges", run: () => this.deleteChosen() },
      { key: "d", label: "Compare: mark this exchange, then another", run: () => this.diff.mark(this.grid.selected ?? this.place.key) },
      { key: "e", label: "Edit the exchange", run: () => this.editExchange() },
      { key: "E", label: "Edit and send: a form with method, URL, fields and body", run: () => this.editForm() },
      { key: "r", label: "Send the request again", run: () => this.resend() },
      { label: "Preview what would be redacted", run: () => this.redactionTrial.show() },
      { label: "Compare with the older cassette", run: () => this.diff.show(this.state.older) },
      { key: "v", label: "Review: accept or refuse the new recording", run: () => this.ofRun(() => this.review.show()) },
      { key: "u", label: "Traffic rules", run: () => this.ofRun(() => this.trafficRules.show()) },
      { key: "b", label: "A rule for requests like this one", run: () => this.ruleFor() },
      { key: "p", label: "Paused messages", run: () => this.ofRun(() => this.paused.show()) },
      { key: "o", label: "Open files: HAR, cassettes, recordings of other tools", run: () => this.opener.chooseFiles() },
      { label: "Open a folder", run: () => this.opener.chooseFolder() },
      { label: "Start or end a recording", run: () => this.recording.toggle() },
      { label: "Recording: how clients reach it", run: () => (this.recording.isRunning ? this.recording.explain() : this.say("nothing is recorded here")) },
      { key: "P", label: "Pause the recording, or go on", run: () => this.recording.togglePause() },
      { label: "Clear the list: show only what comes from now on", run: () => this.clearList() },
      { label: "Save this cassette", run: () => this.tabs.save() },
      { key: "]", label: "Next cassette", run: () => this.tabs.step(1) },
      { key: "[", label: "Previous cassette", run: () => this.tabs.step(-1) },
      { key: "h", label: "Groups: by host, path, type, status or a header field", run: () => this.groups.show() },
      { key: "n", label: "Connections: which exchanges share one", run: () => this.groups.show("connection") },
      { label: "Export the list as HAR", run: () => this.download("har") },
      { label: "Export the list as curl commands", run: () => this.download("curl") },
      { label: "Export the bodies of the list as zip", run: () => this.download("zip") },
      { label: "Columns of the list", run: () => this.chooseColumns() },
      { key: "l", label: "Go to the list", run: () => this.grid.grid.focus() },
      { key: "1 – 9", label: "Tab of the exchange", run: () => this.detail.chooseNumber(1) },
      { key: "R", label: "All redacted values", run: () => this.redactions() },
      { key: "t", label: "Dark or light", run: () => theme.toggle() },
      { key: "?", label: "Help", run: () => dialogs.help(this.commands) },
      { key: "Escape", label: "Close the exchange", run: () => this.close() },
      { key: "Ctrl-K", label: "All commands", run: () => dialogs.palette(this.commands) },
    ];
    this.wire();
  }

  async start() {
    if (!api.hasToken) return this.notice("this page has no token: open the address that wiretape printed, including everything after its \"#\".");
    this.place = route.read();
    $("filter").value = this.place.filter;
    try {
      const state = await asked;
      this.tabs.take(state);
      this.recording.take();
      const wanted = this.place.cassette;
      if (wanted) {
        this.kept.set(wanted, { place: this.place });
        this.place = { ...this.place, key: null, tab: null, filter: "", cassette: 0 };
      }
      this.take(state, true);
      if (wanted && state.tabs?.some((one) => one.id === wanted)) { await this.showTab(wanted); this.follow(); return; }
      this.welcome();
    } catch (error) {
      return this.notice(error.status === 401 ? "this address belongs to another run: open the one that wiretape printed last." : error.message);
    }
    if (this.place.key) this.open(this.place.key, false, this.place.tab);
    this.follow();
  }

  follow() { api.follow((state) => this.soon(state), (_, isOver) => this.lost(isOver)); }

  /** The feed broke. - isOver: another run answers at this address now. */
  lost(isOver) {
    this.isLost = true;
    this.showLive();
    if (this.review.isOver) return this.notice("the run has ended.");
    if (isOver) return this.notice("this page belongs to another run: open the address that wiretape printed last.");
    const hint = this.state.mode === "inspect" ? "" : ` If the run has ended, show its cassette with: ${commandLine("wiretape", "inspect", this.state.file, "--web")}`;
    this.notice("the connection to wiretape is lost: trying again." + hint);
  }

  // MARK: State

  /** Takes the newest tick, after a pause since the previous one. */
  soon(state) {
    const isWaiting = this.coming !== null;
    this.coming = state;
    if (isWaiting) return;
    setTimeout(() => { const newest = this.coming; this.coming = null; this.taken = performance.now(); this.tick(newest); }, Math.max(0, PAUSE - (performance.now() - this.taken)));
  }

  /** Takes the state of the command's cassette, which also says what has changed in the other tabs. */
  tick(state) {
    this.tabs.take(state);
    this.recording.take();
    if (!this.tabs.current) return this.take(state);
    this.isLost = false;
    this.tellOfRun(state);
    const { rows, known, epoch, open, proxy, paused } = this.tabs.tab;
    const seen = [rows, known, epoch, open, proxy, paused].join(" ");
    if (seen === this.seen) return undefined;
    this.seen = seen;
    return this.look();
  }

  /** Says in another tab what the run waits for. */
  tellOfRun(state) {
    $("paused").hidden = !state.traffic?.paused;
    if (state.traffic) $("paused").textContent = `‖ Paused ${state.traffic.paused}`;
    const isAsking = state.review?.phase === "open";
    if (isAsking && !this.isAsking) this.say("the recording has ended: press v to answer whether it replaces the old one");
    this.isAsking = isAsking;
  }

  /** Does something about the run, which is in the first tab. */
  async ofRun(run) {
    if (this.tabs.current && !this.tabs.isBlank) await this.showTab(0);
    return run();
  }

  /** Asks for the state of the tab in front. */
  async look(isFirst = false) {
    const { current } = this.tabs;
    const state = await api.json("/api/state").catch((error) => { this.say(plain(error.message)); return null; });
    if (state && this.tabs.current === current) this.take(state, isFirst);
  }

  take(state, isFirst = false) {
    const before = this.state;
    this.state = state;
    this.notice(state.problem || state.obstacle || state.damage || "");
    $("file").textContent = plain(state.file.split("/").pop());
    $("file").title = plain(state.file);
    document.title = plain(state.file.split("/").pop()) + " – wiretape";
    this.isLost = false;
    if (!this.isSaying) this.showLive();
    $("live").classList.toggle("missed", Boolean(state.misses));
    $("replay").hidden = !state.replays;
    if (state.replays && (isFirst || state.hits !== before.hits || state.misses !== before.misses)) this.takeReplay();
    if (isFirst || state.epoch !== before.epoch) { this.grid.defects.clear(); this.grid.unmark(); }
    if (state.openChange !== this.openChange) this.takeOpen();
    else if (state.rows !== before.rows) this.lookForEnd();
    if (this.replay.isShown && (state.hits !== before.hits || state.misses !== before.misses)) this.replay.show();
    this.review.take(state);
    $("rules").hidden = !state.traffic;
    this.trafficRules.take(state);
    this.takeIsolation(state.isolation);
    // The state of another tab says nothing about the run, whose own state is in `tellOfRun`.
    if (!this.tabs.current) this.paused.take(state);
    const isOther = isFirst || state.epoch !== before.epoch;
    if (isOther || state.rows !== before.rows || state.sorted !== before.sorted) this.refresh(isOther);
    else this.counts();
  }

  /** Shows that the program is isolated, and how many of its attempts to get past the proxy were refused. */
  takeIsolation(isolation) {
    const button = $("isolation");
    button.hidden = !isolation;
    if (!isolation) return;
    const refused = isolation.refused.length > 0;
    button.textContent = refused ? "Isolated: refusals" : "Isolated";
    button.classList.toggle("caution", refused);
  }

  showIsolation() {
    const { verdict, refused } = this.state.isolation;
    dialogs.show("Isolated program", element("p", {}, recorded(verdict)),
      refused.length ? element("ul", {}, refused.map((line) => element("li", {}, recorded(line)))) : element("p", { class: "status good", text: "✓ nothing got past the proxy" }));
  }

  /** Lists misses as rows of their own, and notes at the others what the replay did with them. */
  async takeReplay() {
    if (this.isAskingReplay) { this.isAskingReplayAgain = true; return; }
    this.isAskingReplay = true;
    try {
      const report = await api.json("/api/replay");
      this.missRows = report.missed.map((miss, index) => {
        const space = miss.request.indexOf(" ");
        return { key: "m" + (index + 1), isMiss: true, number: "✗", method: miss.request.slice(0, space), url: miss.request.slice(space + 1), status: 0, phases: [], messages: -1, type: null, sent: null, size: null, tls: null, secret: 0 };
      });
      this.answers = report.answers;
      this.grid.refill();
      this.updated();
    } catch { /* the next tick tries again */ }
    this.isAskingReplay = false;
    if (this.isAskingReplayAgain) { this.isAskingReplayAgain = false; setTimeout(() => this.takeReplay(), 500); }
  }

  replayNote(row) {
    const answers = this.answers?.[row.number - 1];
    return answers === undefined || answers === null ? "" : answers === 0 ? "unused" : answers === 1 ? "hit" : `hit ×${answers}`;
  }

  commentChosen() {
    const keys = this.marks.keys.length ? this.marks.keys : [this.grid.selected].filter((key) => typeof key === "number");
    if (keys.length) this.marks.comment(keys, keys.length === 1 ? this.detail.exchange?.comment ?? "" : "");
    else this.say("choose an exchange first");
  }

  deleteChosen() {
    const keys = this.marks.keys.length ? this.marks.keys : [this.grid.selected].filter((key) => typeof key === "number");
    if (keys.length) this.marks.remove(keys);
    else this.say("choose an exchange first");
  }

  /** A place of a JSON body that is to be ignored by replays, or redacted. */
  async placeChosen({ action, rule }) {
    if (action === "redact") return this.redactionTrial.show(rule);
    try {
      await api.post("/api/rules", { ignore: [rule] }, undefined, { "If-Match": `"${this.state.epoch}"` });
      this.say(`"${plain(rule)}" is ignored: ${this.state.matches ? "in force from now on, and in the cassette's head" : "written into the cassette's head for the next replay"}`);
    } catch (error) { this.say(plain(error.message)); }
    return undefined;
  }

  liveWords(state) {
    if (state.known > state.rows) return "reading";
    if (state.mode === "inspect") return "live";
    if (state.review?.phase === "open") return "the recording has ended: press v to answer";
    const words = [state.mode];
    if (state.replays) words.push(`${count(state.hits, "hit")}, ${count(state.misses, "miss", "misses")}`);
    if (state.recorded || !state.replays) words.push(`${number(state.recorded)} recorded`);
    if (state.lost) words.push(`${number(state.lost)} lost`);
    return words.join(" · ");
  }

  /** Lists exchanges that are not yet in the cassette at the end, unless the list is filtered or sorted: only the cassette can be. */
  async takeOpen() {
    if (this.isAskingOpen) { this.isAskingAgain = true; return; }
    this.isAskingOpen = true;
    const change = this.state.openChange;
    try {
      const found = this.state.open ? (await api.json("/api/open")).open : [];
      this.allOpen = found.map((one) => ({ ...one, key: "o" + one.id, isOpen: true, number: "…", status: 0, phases: [], messages: one.messages ?? -1, type: null, sent: null, size: null, tls: null, secret: 0 }));
      this.updated();
      this.openChange = change;
      this.lookForEnd();
    } catch { /* the next tick tries again */ }
    this.isAskingOpen = false;
    if (this.isAskingAgain) { this.isAskingAgain = false; this.takeOpen(); }
  }

  /** An exchange that is shown as open may have ended: asks for it again until it is in the cassette. */
  async lookForEnd() {
    const { key } = this.detail;
    if (typeof key !== "string" || this.allOpen.some((one) => one.key === key)) return;
    let isGone = false;
    const found = await api.json("/api/open/" + key.slice(1)).catch((error) => { isGone = error.status === 404; return {}; });
    if (this.detail.key !== key) return;
    if (found.ended) this.ended(found.ended);
    else if (isGone) this.detail.open(key, this.detail.tab);
  }

  /** The exchange that was shown as open is now in the cassette. */
  ended(key) {
    const isThere = $("side").contains(document.activeElement);
    return this.open(key, false, this.detail.tab).then(() => { if (isThere) $("side").querySelector("[role=tab][aria-selected=true]")?.focus(); });
  }

  // MARK: Tabs

  /** Brings another cassette to the front, as it was left. */
  async showTab(id) {
    if (id === this.tabs.current) return;
    this.kept.set(this.tabs.current, { place: this.place, drafts: this.editor.drafts, group: this.group, cleared: this.cleared });
    const kept = this.kept.get(id);
    this.making?.abort();
    this.making = null;
    this.view = null;
    this.closeSide();
    this.tabs.current = id;
    api.setTab(id);
    this.place = { ...(kept?.place ?? { key: null, tab: null, filter: "", sort: "start", descends: false }), cassette: id };
    this.editor.drafts = kept?.drafts ?? new Map();
    [this.group, this.cleared] = [kept?.group ?? null, kept?.cleared ?? 0];
    this.groups.mark(this.group, this.cleared);
    [this.allOpen, this.missRows, this.answers, this.openChange, this.seen] = [[], [], null, 0, ""];
    this.grid.unmark();
    [this.grid.selected, this.grid.selectedPlace] = [null, -1];
    this.grid.defects.clear();
    this.rows.restart();
    $("filter").value = this.place.filter;
    this.problem("");
    this.tabs.render();
    this.recording.take();
    this.welcome();
    route.write(this.place);
    if (id) await this.look(true);
    else this.take(this.tabs.state, true);
    if (this.tabs.current !== id) return;
    this.tellNotes(this.tabs.tab?.notes);
    if (this.place.key) this.open(this.place.key, false, this.place.tab);
    else this.grid.grid.focus();
  }

  /** What was dropped is open in new tabs. */
  async opened(ids, notes) {
    const list = await api.json("/api/tabs").catch(() => null);
    if (list) this.tabs.take({ ...this.tabs.state, tabs: list.tabs });
    await this.showTab(ids[0]);
    this.tellNotes([...(this.tabs.tab?.notes ?? []), ...notes]);
    if (ids.length > 1) this.say(`${ids.length} cassettes are open: ] and [ go from one to the next`);
  }

  tellNotes(notes) { if (notes?.length) this.notice([...new Set(notes)].slice(0, 4).join(" ") + (notes.length > 4 ? ` And ${notes.length - 4} more.` : "")); }

  /** Shows how to open something, if nothing is. */
  welcome() {
    const isShown = this.tabs.isBlank && !this.tabs.current;
    $("welcome").hidden = !isShown;
    $("main").hidden = isShown;
    $("bar").hidden = isShown;
    clear($("welcome"), isShown ? this.opener.welcome(this.tabs.state.records, () => this.recording.start()) : null);
  }

  /** Leaves the exchange, without the focus and the address that a person's own closing has. */
  closeSide() {
    this.searching.stop();
    this.replay.hide();
    this.detail.clear();
    $("main").classList.add("alone");
  }

  // MARK: Parts of the list

  showGroup(group) {
    this.group = group;
    this.groups.mark(this.group, this.cleared);
    this.refresh(true);
  }

  /** Shows only what comes from now on; the cassette keeps everything. */
  clearList(through = this.state.rows) {
    this.cleared = through;
    this.groups.mark(this.group, this.cleared, () => this.clearList(0));
    if (through) this.say(`the list is empty: ${count(through, "exchange")} stay in the cassette`);
    this.closeSide();
    this.write({ key: null, tab: null });
    this.grid.mark(null);
    this.refresh(true);
  }

  chooseColumns() { dialogs.show("Columns", ...choices(() => this.grid.choose())); }

  showReplay() {
    if (!this.state.replays) return this.say("nothing is replayed");
    this.searching.stop();
    this.detail.clear();
    $("main").classList.remove("alone");
    return this.replay.next();
  }

  /** An exchange by its number in order of request start. */
  async openNumber(wanted) {
    if (this.state.sorted) return this.open(wanted, true);
    const response = await api.post("/api/views", {});
    let view = null;
    await api.lines(response, (line) => { if (line.view) view = line.view; });
    const keys = new Uint32Array((await api.whole("/api/views/" + view)).buffer);
    return this.open(keys[wanted - 1], true);
  }

  get needsView() { return Boolean(this.group || this.place.filter.trim()) || this.place.sort !== "start" || this.place.descends || !this.state.sorted; }

  /** Takes the rows that exist now: all of them, or those of a newly made view. */
  async refresh(isOther) {
    this.grid.sorted(this.place.sort, this.place.descends);
    if (!this.needsView) {
      this.making?.abort();
      this.making = null;
      this.view = null;
      this.rows.reset(this.state.epoch, this.state.rows, this.cleared ? this.uncleared() : null);
      return this.updated();
    }
    // The last good list stays while a filter is typed; only another file makes it void.
    if (this.rows.epoch !== this.state.epoch) this.rows.reset(this.state.epoch, this.state.rows, new Uint32Array(0));
    // Only one is made at a time; whatever comes meanwhile is taken into account afterwards.
    if (this.making && !isOther) { this.isStale = true; return; }
    this.making?.abort();
    const making = new AbortController();
    this.making = making;
    this.isStale = false;
    try {
      const response = await api.post("/api/views", { filter: this.place.filter, sort: this.place.sort, descends: this.place.descends, group: this.group }, making.signal);
      let view = null;
      const first = [];
      await api.lines(response, (line) => {
        if (line.view) { view = line; return; }
        // Shows the hits so far, unless the list still shows the previous hits.
        if (line.found && isOther && !making.signal.aborted) {
          first.push(...line.found);
          this.rows.reset(this.state.epoch, this.state.rows, Uint32Array.from(first).filter((key) => key > this.cleared));
          this.updated();
        }
        $("counts").textContent = `${number(line.count)} found, ${number(line.looked)} of ${number(this.state.rows)} searched`;
      });
      if (making.signal.aborted || !view) return;
      // A short list comes with its keys.
      const keys = view.keys ? Uint32Array.from(view.keys) : new Uint32Array((await api.whole("/api/views/" + view.view, making.signal)).buffer);
      if (making.signal.aborted) return;
      this.problem("");
      if (this.place.filter.trim()) this.completion.keep(this.place.filter.trim());
      this.view = view.view;
      this.rows.reset(view.epoch, this.state.rows, this.cleared ? keys.filter((key) => key > this.cleared) : keys);
      this.rows.add(view.list);
      this.updated();
    } catch (error) {
      if (error.name === "AbortError") return;
      this.problem(error.message);
      this.counts();
    } finally {
      if (this.making === making) {
        this.making = null;
        if (this.isStale) setTimeout(() => this.refresh(false), 500);
      }
    }
  }

  /** The keys of the exchanges that came after the list was cleared. */
  uncleared() {
    // Another file has other exchanges.
    if (this.cleared > this.state.rows) this.cleared = 0;
    return Uint32Array.from({ length: this.state.rows - this.cleared }, (_, index) => this.cleared + index + 1);
  }

  updated() {
    this.rows.open = this.group || this.place.filter.trim() || this.place.sort !== "start" || this.place.descends ? [] : [...this.allOpen, ...this.missRows];
    this.grid.update(this.cleared === this.state.rows && this.cleared ? "The list was cleared: new exchanges appear here." : this.state.rows ? "No exchange matches the filter." : this.recording.isRunning ? `Nothing is recorded yet: clients reach the recording through the proxy http://${this.tabs.tab.proxy}.` : "The cassette holds no exchanges yet.");
    this.counts();
    if (this.isFollowing) this.grid.toEnd();
    if (this.place.key && this.grid.selected === null) this.grid.mark(this.place.key);
  }

  counts() {
    const all = count(this.state.rows, "exchange");
    const open = this.state.open ? `, ${number(this.state.open)} open` : "";
    const isFiltered = this.rows.keys && (this.place.filter || this.group || this.cleared) && $("filter").getAttribute("aria-invalid") !== "true";
    $("counts").textContent = (isFiltered ? `${number(this.rows.stored)} of ${all}` : all) + open;
  }

  // MARK: Actions

  open(key, isAsked, tab = this.place.tab, isMoved = false) {
    if (typeof key === "string" && key.startsWith("m")) return this.openMiss(Number(key.slice(1)) - 1);
    this.searching.stop();
    this.replay.hide();
    $("main").classList.remove("alone");
    // An open exchange has no key in the cassette yet, so no link can lead to it.
    if (typeof key === "number") this.write({ key, tab }, !isAsked);
    if (this.grid.selected !== key) this.grid.mark(key);
    // The list may have become shorter on the screen.
    else if (this.grid.selectedPlace >= 0) this.grid.reveal(this.grid.selectedPlace);
    this.grid.schedule();
    return this.detail.open(key, tab, isMoved).then(() => { if (isAsked) $("side").querySelector("[role=tab][aria-selected=true]")?.focus(); });
  }

  /** Shows why nothing answered a request. */
  openMiss(place) {
    this.searching.stop();
    this.detail.clear();
    $("main").classList.remove("alone");
    this.grid.schedule();
    return this.replay.show(place);
  }

  close() {
    this.searching.stop();
    this.replay.hide();
    this.detail.clear();
    $("main").classList.add("alone");
    this.write({ key: null, tab: null });
    this.grid.schedule();
    this.grid.grid.focus();
  }

  search(text) {
    $("search").value = text;
    $("main").classList.remove("alone");
    this.detail.clear();
    this.replay.hide();
    return this.searching.run(text, this.view);
  }

  filter(text) {
    // The condition that is being typed, as in "~m", would only be wrong.
    if (text === this.place.filter || this.completion.isIncomplete) return;
    this.write({ filter: text });
    this.problem("");
    this.refresh(true);
  }

  sort(name) {
    const descends = this.place.sort === name ? !this.place.descends : name === "size" || name === "time";
    this.write({ sort: name, descends });
    this.refresh(true);
  }

  setFollowing(isFollowing) {
    if (this.isFollowing === isFollowing) return;
    this.isFollowing = isFollowing;
    $("follow").setAttribute("aria-pressed", String(isFollowing));
    if (isFollowing) this.grid.toEnd();
  }

  async redactions() {
    const places = new Map();
    const body = element("tbody");
    dialogs.show("Redacted values", element("table", {}, element("thead", {}, element("tr", {}, element("th", { text: "placeholder" }), element("th", { text: "exchanges" }), element("th", { text: "first" }))), body));
    try {
      const response = await api.get("/api/redactions");
      await api.lines(response, (line) => {
        if (!places.has(line.placeholder)) places.set(line.placeholder, new Set());
        places.get(line.placeholder).add(line.key);
      });
    } catch (error) { body.append(element("tr", {}, element("td", { class: "problem" }, recorded(error.message)))); }
    for (const [placeholder, keys] of [...places].sort()) {
      const [first] = keys;
      body.append(element("tr", {}, element("td", {}, recorded(placeholder)), element("td", { text: number(keys.size) }), element("td", {}, element("button", { type: "button", text: String(first), onclick: () => { dialogs.close(); this.open(first, true, "redacted"); } }))));
    }
    if (!places.size) body.append(element("tr", {}, element("td", { colspan: 3, text: "nothing was redacted" })));
  }

  /** The exchange that is shown, or that was until something else replaced it. */
  async chosen() {
    const key = this.grid.selected ?? this.place.key;
    if (typeof key === "string") { this.say("the exchange is still open"); return null; }
    if (!key) { this.say("choose an exchange first"); return null; }
    const shown = this.detail.exchange;
    if (shown && !shown.isOpen && shown.key === key) return shown;
    const { epoch } = this.state;
    try { return { ...await api.json("/api/x/" + key), epoch }; } catch (error) { this.say(plain(error.message)); return null; }
  }

  async editExchange() {
    const exchange = await this.chosen();
    if (exchange) this.editor.open(exchange);
  }

  async editForm() {
    const exchange = await this.chosen();
    if (exchange) this.form.open(exchange);
  }

  async resend() {
    const exchange = await this.chosen();
    if (exchange) this.sender.resend(exchange);
  }

  /** Offers rules for requests like the chosen one. */
  async ruleFor() {
    if (!this.state.traffic) return this.say("nothing runs whose traffic rules could change: see record, run, replay and serve");
    const exchange = await this.chosen();
    if (!exchange) return null;
    const rules = this.trafficRules;
    return dialogs.choose(`A rule for requests like exchange ${exchange.number}`, [
      ["Block them", () => rules.from(exchange, "block")], ["Answer them with this answer, edited", () => rules.from(exchange, "respond")], ["Edit them or their answers", () => rules.from(exchange, "edit")],
      ["Break them: a fault", () => rules.from(exchange, "fault")], ["Slow them down", () => rules.from(exchange, "pace")], ["Pause them", () => rules.from(exchange, "pause")],
      ["See what the rules do with this exchange", () => rules.tryOn(exchange)],
    ]);
  }

  /** Shows something other than an exchange next to the list. */
  panel(title, ...content) {
    this.searching.stop();
    this.replay.hide();
    this.detail.clear();
    $("main").classList.remove("alone");
    clear($("side"), element("div", { class: "detail-head" }, element("h2", { text: title }), element("button", { type: "button", text: "Close", onclick: () => this.close() })), element("div", { class: "results", role: "region", "aria-label": title, tabindex: 0 }, ...content));
    this.grid.schedule();
  }

  /** The rows of the list in another format, as a file. */
  async download(format) {
    try {
      const { path } = await (await api.post("/api/tickets", { format, view: this.view })).json();
      element("a", { href: path, download: path.split("/").pop() }).click();
    } catch (error) { this.say(plain(error.message)); }
  }

  write(change, replaces = true) {
    this.place = { ...this.place, ...change };
    route.write(this.place, replaces);
  }

  /** Shows a message instead of the live state for a while; an empty one ends it. */
  say(text) {
    if (!text) return this.showLive();
    clearTimeout(this.saying);
    this.isSaying = true;
    this.saying = setTimeout(() => this.showLive(), SAID);
    $("live").hidden = false;
    $("live-words").textContent = text;
  }

  /** Shows the live state, if anything runs. */
  showLive() {
    clearTimeout(this.saying);
    this.isSaying = false;
    const { state } = this;
    $("live").hidden = this.isLost || (state.mode === "inspect" && state.known === state.rows);
    $("live-words").textContent = this.liveWords(state);
  }

  notice(text) {
    $("notice").hidden = !text;
    clear($("notice"), recorded(text ?? ""));
  }

  /** Says what is wrong with the filter, without the option's name of the command line. */
  problem(text) { clear($("filter-problem"), recorded(text.replace(/^--filter "[^]*?", (?=character |the )/, ""))); $("filter").setAttribute("aria-invalid", String(Boolean(text))); }

  // MARK: Input

  wire() {
    let typing = 0;
    this.completion = new Completion($("filter"), (text) => { clearTimeout(typing); this.filter(text); });
    $("filter").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => this.filter($("filter").value), 250); });
    $("bar").addEventListener("submit", (event) => {
      event.preventDefault();
      if (document.activeElement === $("search")) { if ($("search").value) this.search($("search").value); } else { clearTimeout(typing); this.filter($("filter").value); this.grid.grid.focus(); }
    });
    $("search").addEventListener("keydown", (event) => { if (event.key === "Enter" && $("search").value) { event.preventDefault(); this.search($("search").value); } });
    $("filter").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); clearTimeout(typing); this.filter($("filter").value); this.grid.grid.focus(); } });
    $("paused").addEventListener("click", (event) => { if (this.tabs.current) { event.stopImmediatePropagation(); this.ofRun(() => this.paused.show()); } }, true);
    $("follow").addEventListener("click", () => this.setFollowing(!this.isFollowing));
    $("replay").addEventListener("click", () => this.showReplay());
    $("rules").addEventListener("click", () => this.trafficRules.show());
    $("theme").addEventListener("click", () => theme.toggle());
    $("columns").addEventListener("click", () => this.chooseColumns());
    $("commands").addEventListener("click", () => dialogs.palette(this.commands));
    $("help").addEventListener("click", () => dialogs.help(this.commands));
    $("isolation").addEventListener("click", () => this.showIsolation());
    $("side").addEventListener("place", (event) => this.placeChosen(event.detail));
    addEventListener("hashchange", () => this.moved());
    addEventListener("popstate", () => this.moved());
    addEventListener("keydown", (event) => this.key(event));
    this.split();
  }

  /** The address changed, by a link or the browser's buttons. */
  moved() {
    if (/token=/.test(location.hash)) return location.reload();
    const before = this.place;
    this.place = route.read();
    if (this.place.cassette !== this.tabs.current) {
      const wanted = this.place;
      this.place = before;
      if (wanted.cassette && !this.tabs.all.some((one) => one.id === wanted.cassette)) { route.write(before); return; }
      this.kept.set(wanted.cassette, { ...this.kept.get(wanted.cassette), place: wanted });
      this.showTab(wanted.cassette);
      return;
    }
    if (this.place.filter !== before.filter || this.place.sort !== before.sort || this.place.descends !== before.descends) {
      $("filter").value = this.place.filter;
      this.refresh(true);
    }
    if (this.place.key === null) { if (before.key !== null) this.close(); } else if (this.place.key !== before.key || this.place.tab !== before.tab) this.open(this.place.key, false, this.place.tab);
  }

  key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); return dialogs.palette(this.commands); }
    if (event.ctrlKey || event.metaKey || event.altKey || $("dialog").open) return;
    const isTyping = event.target.matches?.("input, select, textarea");
    // Nothing has the focus at first, and the arrow keys are for the list.
    if (event.target === document.body && /^(Arrow(Up|Down)|Page(Up|Down)|Home|End)$/.test(event.key)) { this.grid.grid.focus(); return this.grid.key(event); }
    if (event.key === "Escape") {
      event.preventDefault();
      if (!isTyping && this.grid.marked.size) return this.grid.unmark();
      if (isTyping) {
        this.grid.grid.focus();
        // On a narrow screen, the details hide the list, which cannot have the focus then.
        if (document.activeElement === event.target) $("side").querySelector("[role=tab][aria-selected=true], .detail-head button")?.focus();
      } else if (!$("main").classList.contains("alone")) this.close();
      return;
    }
    if (isTyping) return;
    if (/^[1-9]$/.test(event.key)) return this.detail.chooseNumber(Number(event.key));
    const command = this.commands.find((one) => one.key === event.key);
    if (!command) return;
    event.preventDefault();
    command.run();
  }

  split() {
    const splitter = $("splitter");
    const set = (value) => {
      const part = Math.min(90, Math.max(10, value));
      const isShown = this.grid.showsSelected;
      $("main").style.setProperty("--split", part);
      splitter.setAttribute("aria-valuenow", Math.round(part));
      if (isShown) this.grid.reveal(this.grid.selectedPlace);
      this.grid.schedule();
    };
    const isWide = () => matchMedia("(min-width: 1000px)").matches;
    splitter.addEventListener("pointerdown", (event) => {
      splitter.setPointerCapture(event.pointerId);
      const move = (moved) => {
        const box = $("main").getBoundingClientRect();
        set(isWide() ? ((moved.clientX - box.left) / box.width) * 100 : ((moved.clientY - box.top) / box.height) * 100);
      };
      splitter.addEventListener("pointermove", move);
      splitter.addEventListener("pointerup", () => splitter.removeEventListener("pointermove", move), { once: true });
    });
    splitter.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -5, ArrowLeft: -5, ArrowDown: 5, ArrowRight: 5 }[event.key];
      if (!step) return;
      event.preventDefault();
      set(Number(splitter.getAttribute("aria-valuenow")) + step);
    });
    $("main").classList.add("alone");
  }
}

new App().start();
