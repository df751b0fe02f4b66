import { element, clear, recorded } from "../core/dom.js";
import { count } from "../core/text.js";
import * as api from "../core/api.js";

/** Shows how a replay is going: which requests were answered, which missed and why, and which rules would help. */
export class Replay {
  /** - actions: `open(number)`, `close()`, `say(text)`, `epoch()`, `name()`, `isLive()`. */
  constructor(parent, actions) {
    this.parent = parent;
    this.actions = actions;
    this.place = 0;
    this.isShown = false;
  }

  hide() { this.isShown = false; }

  async show(place = this.place) {
    this.isShown = true;
    try {
      this.report = await api.json("/api/replay");
    } catch (error) {
      return clear(this.parent, element("p", { class: "problem", role: "alert" }, recorded(error.message)));
    }
    this.place = Math.min(Math.max(place, 0), Math.max(0, this.report.missed.length - 1));
    return this.render();
  }

  next() { return this.show(this.report && this.report.missed.length ? (this.place + (this.isShown ? 1 : 0)) % this.report.missed.length : 0); }

  render() {
    const report = this.report;
    if (report.missed.length) this.actions.mark(this.place);
    const unused = report.answers.map((answers, index) => [answers, index + 1]).filter(([answers]) => answers === 0).map(([, number]) => number);
    const body = element("div", { class: "results", role: "region", "aria-label": "Replay", tabindex: 0 });
    body.append(element("p", { role: "status" }, `${count(report.hits, "hit")}, ${count(report.misses, "miss", "misses")}, ${unused.length} unused`));
    if (report.missed.length) body.append(this.miss(report.missed[this.place]));
    else body.append(element("p", { class: "status good", text: report.misses ? "✗ the misses are not listed" : "✓ no request missed" }));
    if (unused.length) {
      body.append(element("h3", { text: "Unused" }), element("p", {}, unused.slice(0, 200).flatMap((number) => [element("button", { type: "button", text: String(number), "aria-label": `Exchange ${number}`, onclick: () => this.actions.open(number) }), " "]), unused.length > 200 ? `and ${unused.length - 200} more` : null));
    }
    const used = report.answers.map((answers, index) => [answers, index + 1]).filter(([answers]) => answers > 0);
    if (used.length) body.append(element("h3", { text: "Hits" }), element("p", {}, used.slice(0, 200).flatMap(([answers, number]) => [element("button", { type: "button", text: answers > 1 ? `${number} ×${answers}` : String(number), "aria-label": `Exchange ${number}, answered ${count(answers, "time")}`, onclick: () => this.actions.open(number) }), " "])));
    clear(this.parent, element("div", { class: "detail-head" }, element("h2", { text: "Replay" }),
      element("button", { type: "button", text: "Refresh", onclick: () => this.show() }), element("button", { type: "button", text: "Close", onclick: () => this.actions.close() })), body);
  }

  miss(miss) {
    const all = this.report.missed;
    const box = element("section", { class: "part", "aria-label": `Miss ${this.place + 1} of ${all.length}` });
    const step = (by) => () => { this.place = (this.place + by + all.length) % all.length; this.render(); };
    box.append(element("div", { class: "viewer-bar" }, element("strong", { class: "status bad", text: `✗ Miss ${this.place + 1} of ${all.length}` }),
      element("button", { type: "button", text: "‹", "aria-label": "Previous miss", onclick: step(-1), disabled: all.length < 2 }), element("button", { type: "button", text: "›", "aria-label": "Next miss (m)", onclick: step(1), disabled: all.length < 2 })),
    element("p", { class: "startline" }, recorded(miss.request)));
    // Places to ignore, and PLACE=REGEX patterns.
    const [ignored, patterns] = [new Set(), new Set()];
    const result = element("div", { role: "status" });
    const rules = () => ({ ...(ignored.size ? { ignore: [...ignored] } : {}), ...(patterns.size ? { patterns: [...patterns] } : {}) });
    miss.nearest.forEach((near, index) => {
      box.append(element("h3", {}, index ? "also near: " : "nearest: ", element("button", { type: "button", text: `exchange ${near.exchange}`, onclick: () => this.actions.open(near.exchange) }), near.usedUp ? " used up" : "", " ", recorded(near.request)));
      box.append(element("table", { "aria-label": `Differences from exchange ${near.exchange}` },
        element("thead", {}, element("tr", {}, ["place", "this request", "recorded", "rule"].map((text) => element("th", { scope: "col", text })))),
        element("tbody", {}, near.differences.map((difference) => element("tr", {}, element("th", { scope: "row" }, recorded(difference.place)),
          element("td", {}, difference.live === undefined ? element("em", { text: "missing" }) : recorded(difference.live)), element("td", {}, difference.recorded === undefined ? element("em", { text: "missing" }) : recorded(difference.recorded)),
          element("td", {}, difference.ignore ? this.choice("ignore", difference.ignore, ignored) : null, difference.pattern ? this.choice("pattern", difference.pattern, patterns) : null, difference.ignore || difference.pattern ? null : element("em", { text: "no rule can ignore it" })))))));
    });
    const act = async (work) => {
      try { clear(result, await work()); } catch (error) { clear(result, element("p", { class: "problem" }, recorded(error.message))); }
    };
    const need = () => { if (!ignored.size && !patterns.size) throw new Error("choose a rule first"); };
    box.append(element("div", { class: "viewer-bar" },
      element("button", { type: "button", text: "Try", onclick: () => act(async () => { need(); return this.trial(await (await api.post("/api/replay/try", rules())).json()); }) }),
      element("button", { type: "button", text: this.actions.isLive() ? "Use now, and write" : `Write to ${this.actions.name()}`, title: this.actions.isLive() ? `In force for the next requests of this replay, and written to ${this.actions.name()}` : null, onclick: () => act(async () => { need(); return this.written(await (await api.post("/api/rules", rules(), undefined, { "If-Match": `"${this.actions.epoch()}"` })).json()); }) }),
      element("button", { type: "button", text: "Copy options", onclick: () => act(async () => { need(); await navigator.clipboard.writeText([...[...ignored].map((place) => `--ignore ${word(place)}`), ...[...patterns].map((rule) => `--pattern ${word(rule)}`)].join(" ")); return element("p", { text: "copied" }); }) }),
      element("button", { type: "button", text: "Copy YAML", onclick: () => act(async () => { need(); await navigator.clipboard.writeText(Object.entries(rules()).map(([name, all]) => `${name}:\n${all.map((text) => `  - ${JSON.stringify(text)}`).join("\n")}\n`).join("")); return element("p", { text: "copied" }); }) })), result,
    element("details", {}, element("summary", { text: "in words" }), element("pre", {}, recorded(miss.text, { lines: true }))));
    return box;
  }

  /** Says where a rule is in force now. */
  written({ written, inForce, problem }) {
    return element("div", {},
      inForce ? element("p", { class: "status good", text: "✓ in force: repeat the request, and it is compared by this rule" }) : null,
      written ? element("p", { class: "status good", text: inForce ? `✓ also written into ${this.actions.name()}, for later replays` : "✓ written into the cassette's head: the next replay uses it" }) : element("p", { class: "caution" }, "⚠ not written into the cassette: ", recorded(problem ?? "")));
  }

  choice(kind, rule, chosen) {
    const input = element("input", { type: "checkbox", "data-rule": `${kind} ${rule}`, onchange: () => {
      if (input.checked) chosen.add(rule);
      else chosen.delete(rule);
      // The same rule may be offered for several recorded requests.
      for (const other of this.parent.querySelectorAll("[data-rule]")) if (other.dataset.rule === input.dataset.rule) other.checked = input.checked;
    } });
    return element("label", { class: "rule" }, input, ` ${kind} `, recorded(rule));
  }

  trial(found) {
    const mine = found.answered.filter((one) => one.miss === this.place + 1);
    return element("div", {},
      mine.length ? element("p", { class: "status good" }, `✓ exchange ${mine[0].exchange} would answer${mine[0].usedUp ? ", but is used up" : ""}`) : element("p", { class: "caution", text: "⚠ no recorded exchange would answer with these rules alone" }),
      found.answered.length > mine.length ? element("p", { text: `also ${count(found.answered.length - mine.length, "other miss", "other misses")}` }) : null,
      found.equal.length ? element("div", { class: "caution" }, element("p", { text: "⚠ these rules make recorded requests equal that are distinct now:" }), element("ul", {}, found.equal.slice(0, 50).map((group) => element("li", { text: group.slice(0, 20).map((number) => "#" + number).join(" = ") + (group.length > 20 ? ` and ${group.length - 20} more` : "") })))) : element("p", { class: "status good", text: "✓ makes no other recorded requests equal" }));
  }
}

/** Quotes a word for a shell. */
function word(text) { return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`; }
