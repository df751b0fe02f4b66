import { element, recorded } from "../core/dom.js";
import { bytes, count, hex, number } from "../core/text.js";
import * as api from "../core/api.js";
import { parse } from "../core/json.js";
import { decodeText } from "../detail/viewer.js";
import { changedLines } from "./lines.js";

const LONGEST = 2 << 20;
const AROUND = 3;
const LINES = 2000;

/** A JSON value in lines, with numbers and names as they were sent. */
export function pretty(value, indent = "") {
  const [kind, content] = value;
  if (kind === "string") return JSON.stringify(content);
  if (kind !== "object" && kind !== "array") return content;
  if (!content.length) return kind === "object" ? "{}" : "[]";
  const inner = indent + "  ";
  const lines = content.map((one) => inner + (kind === "object" ? `${JSON.stringify(one[0])}: ${pretty(one[1], inner)}` : pretty(one, inner)));
  return `${kind === "object" ? "{" : "["}\n${lines.join(",\n")}\n${indent}${kind === "object" ? "}" : "]"}`;
}

async function body(of, side) {
  const exchange = await api.json(api.of(of.tab, `/api/x/${of.key}`));
  const message = exchange[side];
  if (!message?.body?.decoded) return { text: "", kind: "no body", size: 0 };
  const { array, size } = await api.range(api.of(of.tab, `/api/x/${of.key}/${side}/body`), 0, LONGEST);
  const type = message.headers.find((line) => /^content-type[ \t]*:/i.test(line)) ?? "";
  if (["binary", "image"].includes(message.body.form)) return { text: hex(array, 0), kind: "bytes", size };
  const text = decodeText(array, type, false);
  if (message.body.form === "json" && size <= array.length) { try { return { text: pretty(parse(text)), kind: "JSON", size }; } catch { /* shown as text */ } }
  if (message.body.form === "form") return { text: text.split("&").join("&\n"), kind: "fields", size };
  if (message.body.form === "markup" && !text.includes("\n")) return { text: text.replace(/></g, ">\n<"), kind: "markup", size };
  return { text, kind: "text", size };
}

/** Two bodies line by line, JSON in its usual layout. - left, right: `{tab, key}`. */
export async function bodyDiff(left, right, side, names) {
  const [one, other] = await Promise.all([body(left, side), body(right, side)]);
  const facts = element("p", { class: "facts" }, recorded(names[0]), `: ${one.kind}, ${bytes(one.size)} · `, recorded(names[1]), `: ${other.kind}, ${bytes(other.size)}`);
  const cut = Math.max(one.size, other.size) > LONGEST ? element("p", { class: "caution", text: `only the first ${bytes(LONGEST)} are compared` }) : null;
  if (one.text === other.text) return element("div", {}, facts, element("p", { class: "status good", role: "status", text: one.size || other.size ? "✓ the same content" : "neither has a body" }), cut);
  const changed = changedLines(one.text, other.text);
  const removed = new Set(changed.filter(([mark]) => mark === "-").map(([, line]) => line));
  const added = new Set(changed.filter(([mark]) => mark === "+").map(([, line]) => line));
  const [before, after] = [one.text.split("\n"), other.text.split("\n")];
  // Walks through both texts at once: lines of only one side, and those of both.
  const all = [];
  let [at, to] = [0, 0];
  while (at < before.length || to < after.length) {
    if (at < before.length && removed.has(at + 1)) { all.push(["-", at + 1, before[at]]); at += 1; } else if (to < after.length && added.has(to + 1)) { all.push(["+", to + 1, after[to]]); to += 1; } else if (at < before.length && to < after.length) { all.push([" ", to + 1, after[to]]); at += 1; to += 1; } else break;
  }
  const isNear = all.map(() => false);
  all.forEach(([mark], index) => { if (mark !== " ") for (let near = Math.max(0, index - AROUND); near <= Math.min(all.length - 1, index + AROUND); near += 1) isNear[near] = true; });
  const lines = [];
  let skipped = 0;
  let shown = 0;
  all.forEach(([mark, line, text], index) => {
    if (!isNear[index] || shown >= LINES) { skipped += 1; return; }
    if (skipped) lines.push(element("span", { class: "dim", text: `  … ${count(skipped, "equal line")}\n` }));
    skipped = 0;
    shown += 1;
    const content = [`${mark} ${number(line).padStart(5)}  `, recorded(text), "\n"];
    lines.push(element(mark === "-" ? "del" : mark === "+" ? "ins" : "span", { class: mark === " " ? "dim" : null }, ...content));
  });
  if (skipped) lines.push(element("span", { class: "dim", text: `  … ${count(skipped, shown >= LINES ? "more line" : "equal line")}\n` }));
  return element("div", {}, facts, element("p", { role: "status", text: `${count(removed.size, "line")} only in the first, ${count(added.size, "line")} only in the second` }), cut, element("pre", { class: "body-diff", tabindex: 0, role: "region", "aria-label": `Differences of the ${side} bodies` }, lines));
}
