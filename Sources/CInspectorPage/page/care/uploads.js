import { element, clear, recorded } from "../core/dom.js";
import { bytes, count, plain } from "../core/text.js";
import * as api from "../core/api.js";

/** Two uploads side by side, part by part and byte by byte. - names: what the two are called. */
export async function uploads(left, right, names) {
  const found = await (await api.post("/api/uploads", { left, right })).json();
  const same = found.parts.filter((one) => one.same).length;
  return element("div", { class: "uploads" },
    element("p", { role: "status", class: found.differs ? null : "status good", text: found.differs ? `${count(same, "part")} the same, ${found.parts.length - same} not` : "✓ the same byte by byte, except for the boundary" }),
    defects(found.defects, names),
    found.message.length ? [element("h3", { text: "The requests" }), changes(found.message, names)] : null,
    found.parts.length ? [element("h3", { text: "Part by part" }), element("ol", { class: "parts" }, found.parts.map((pair, index) => part(pair, names, index)))] : null);
}

/** What lint says of either, which often is the answer. */
function defects(found, names) {
  const lines = ["left", "right"].map((side, index) => [names[index], found[side]]);
  if (!lines.some(([, all]) => all.length)) return null;
  return element("div", { role: "group", "aria-label": "Defects" }, lines.map(([name, all]) => element("div", { class: all.length ? "finding" : null },
    element("p", { class: all.length ? "caution" : "status good" }, all.length ? `⚠ ${count(all.length, "defect")} in ` : "✓ no defects in ", recorded(name)), all.length ? element("ul", {}, all.map((text) => element("li", {}, recorded(text)))) : null)));
}

export function changes(all, [before, after]) {
  const side = (text) => element("td", {}, text === undefined ? element("em", { text: "missing" }) : recorded(text));
  return element("table", { "aria-label": "Differences" }, element("thead", {}, element("tr", {}, ["place", before, after].map((text) => element("th", { scope: "col" }, recorded(text))))),
    element("tbody", {}, all.map((change) => element("tr", {}, element("th", { scope: "row" }, recorded(change.place)), side(change.left), side(change.right)))));
}

function part(pair, names, index) {
  const { left, right } = pair;
  const [mark, kind] = pair.same ? ["=", "same"] : !right && left ? ["−", `only in ${plain(names[0])}`] : !left && right ? ["+", `only in ${plain(names[1])}`] : ["≠", "differs"];
  const words = left && right && left.words !== right.words ? `${left.words} → ${right.words}` : (left ?? right)?.words ?? "the body";
  const head = element("p", { class: pair.same ? "dim" : null }, element("strong", { class: pair.same ? null : "problem", text: `${mark} ${kind} ` }), recorded(words));
  return element("li", { class: "part" }, head, pair.changes.length ? changes(pair.changes, names) : null, pair.bytes.map((one) => difference(one, names, index)));
}

/** The bytes around the first difference of a section, with those marked that the other side does not have there. */
function difference(one, names, index) {
  return element("div", { class: "sides" }, ["left", "right"].map((side, place) => {
    const window = one[side];
    return element("figure", {}, element("figcaption", { class: "facts" }, recorded(names[place]), `: ${one.what}, from its offset ${one.offset.toLocaleString("en-US")}`, window.count ? `, ${bytes(window.count)} differ` : ", nothing here"),
      element("pre", { class: "hex", tabindex: 0, role: "region", "aria-label": `${plain(names[place])}: bytes of ${one.what}, part ${index + 1}` }, dump(window)));
  }));
}

/** A hex dump in rows of eight bytes, narrow enough for two of them side by side. */
export function dump({ start, hex, from, to }) {
  const array = (hex.match(/../g) ?? []).map((two) => parseInt(two, 16));
  const rows = [];
  // No row beyond the last differing byte, and the one with it.
  const end = Math.min(array.length, Math.max(8, Math.ceil((Math.max(to, from + 1)) / 8) * 8));
  for (let offset = 0; offset < end; offset += 8) {
    const digits = [];
    const characters = [];
    for (let at = offset; at < offset + 8; at += 1) {
      const isIn = at >= from && at < to;
      const [two, character] = at < array.length ? [array[at].toString(16).padStart(2, "0"), array[at] >= 0x20 && array[at] < 0x7f ? String.fromCharCode(array[at]) : "."] : ["  ", " "];
      digits.push(isIn ? element("mark", { text: two }) : two, " ");
      characters.push(isIn ? element("mark", { text: character }) : character);
    }
    rows.push((start + offset).toString(16).padStart(8, "0"), "  ", ...digits, " ", ...characters, "\n");
  }
  return rows;
}
