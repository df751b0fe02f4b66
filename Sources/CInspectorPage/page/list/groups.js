import { element, clear, recorded } from "../core/dom.js";
import { bytes, count, milliseconds, number, plain } from "../core/text.js";
import * as api from "../core/api.js";

const KINDS = [["host", "host"], ["path", "path"], ["type", "type of the answer"], ["status", "status"], ["header", "a header field, such as the name of a test"], ["connection", "connection"]];
const FIELD = "wiretape-group-field";
// Lanes of connections that are drawn; more are counted.
const LANES = 200;

/** Groups of exchanges, and which of them share a connection. */
export class Groups {
  /** - actions: `panel(title, ...content)`, `open(key, isAsked)`, `say(text)`; bar: says which part of the list is shown; choose: limits the list to a group, or to nothing. */
  constructor(actions, bar, choose) {
    this.actions = actions;
    this.bar = bar;
    this.choose = choose;
    this.kind = "host";
  }

  async show(kind = this.kind) {
    this.kind = kind;
    const select = element("select", { id: "group-by" }, KINDS.map(([value, words]) => element("option", { value, text: words, selected: value === kind })));
    const field = element("input", { id: "group-field", type: "text", placeholder: "x-test-name", spellcheck: "false", autocomplete: "off", "aria-label": "Name of the field", hidden: kind !== "header" });
    field.value = sessionStorage.getItem(FIELD) ?? "";
    const result = element("div", { id: "groups", role: "status" });
    select.addEventListener("change", () => { this.kind = select.value; field.hidden = this.kind !== "header"; if (field.hidden || field.value) this.fill(result, field); else field.focus(); });
    field.addEventListener("change", () => this.fill(result, field));
    this.actions.panel("Groups and connections", element("p", { class: "viewer-bar" }, element("label", { for: "group-by", text: "Group by" }), select, field), result);
    select.focus();
    if (kind !== "header" || field.value) await this.fill(result, field);
  }

  async fill(result, field) {
    const by = this.kind === "header" ? `header:${field.value.trim()}` : this.kind;
    sessionStorage.setItem(FIELD, field.value.trim());
    clear(result, element("p", { text: "grouping" }));
    try {
      const found = await api.json("/api/groups?by=" + encodeURIComponent(by));
      clear(result, this.kind === "connection" ? this.connections(found, by) : this.table(found, by));
    } catch (error) { clear(result, element("p", { class: "problem", role: "alert" }, recorded(error.message))); }
  }

  button(group, by) {
    const words = group.value === "" ? (by === "connection" ? "no connection is recorded" : "none") : by === "connection" ? `connection ${group.value}` : group.value;
    return element("button", { type: "button", class: "link", title: "Show only these", onclick: () => this.choose({ by, value: group.value }) }, recorded(words));
  }

  table(found, by) {
    return [element("p", { class: "facts", text: `${count(found.count, "group")}${found.count > found.groups.length ? `, of which the ${found.groups.length} largest are listed` : ""}` }),
      element("table", { "aria-label": "Groups" }, element("thead", {}, element("tr", {}, ["group", "exchanges", "failed, 4xx or 5xx", "sent", "received", "time"].map((text) => element("th", { scope: "col", text })))),
        element("tbody", {}, found.groups.map((group) => element("tr", {}, element("th", { scope: "row" }, this.button(group, by)), element("td", { text: number(group.count) }), element("td", { class: group.failed ? "problem" : null, text: group.failed ? `⚠ ${number(group.failed)}` : "" }),
          element("td", { text: group.sent ? bytes(group.sent) : "" }), element("td", { text: group.size ? bytes(group.size) : "" }), element("td", { text: milliseconds(group.time) })))))];
  }

  /** One lane for each connection, with a bar for each exchange on it. */
  connections(found, by) {
    const first = Math.min(...found.groups.map((group) => group.start));
    const last = Math.max(...found.groups.map((group) => group.end));
    const span = Math.max(1, last - first);
    const shared = found.groups.filter((group) => group.count > 1 && group.value !== "").length;
    return [element("p", { class: "facts", text: found.count ? `${count(found.count, "connection")} over ${milliseconds(span / 1000)}, ${shared} of them used more than once` : "nothing is recorded yet" }),
      element("ol", { class: "connections" }, found.groups.slice(0, LANES).map((group) => {
        const bars = group.spans.map(([key, start, end, isFailed]) => {
          const bar = element("button", { type: "button", class: isFailed ? "failed" : null, tabindex: -1, "aria-label": `Exchange ${key}`, title: `exchange ${key}, ${milliseconds((end - start) / 1000)}`, onclick: () => this.actions.open(key, true) });
          bar.style.left = ((start - first) / span) * 100 + "%";
          bar.style.width = Math.max(0.3, ((end - start) / span) * 100) + "%";
          return bar;
        });
        const lane = element("div", { class: "connection-lane" }, bars);
        return element("li", {}, element("p", {}, this.button(group, by), element("span", { class: "dim", text: ` ${[group.remote, group.tls, count(group.count, "exchange"), group.failed ? `⚠ ${group.failed} failed, 4xx or 5xx` : ""].filter(Boolean).map(plain).join(" · ")}` })), lane,
          group.count > bars.length ? element("p", { class: "facts", text: `the first ${bars.length} are drawn` }) : null);
      })), found.groups.length > LANES ? element("p", { class: "caution", text: `the first ${LANES} connections are drawn` }) : null];
  }

  /** Says which part of the list is shown. - uncleared: shows all again. */
  mark(group, cleared, uncleared = this.uncleared) {
    this.uncleared = uncleared;
    this.bar.hidden = !group && !cleared;
    const words = group ? `${group.by.replace(/^header:/, "")}: ${group.value === "" ? "none" : group.value}` : "";
    clear(this.bar, group ? [element("span", {}, "Only ", element("strong", {}, recorded(words))), element("button", { type: "button", text: "Show all", "aria-label": "Leave the group", onclick: () => this.choose(null) })] : null,
      cleared ? [element("span", { text: `${count(cleared, "exchange")} cleared from the list; the cassette has them` }), element("button", { type: "button", text: "Show them again", onclick: () => uncleared?.() })] : null);
  }
}
