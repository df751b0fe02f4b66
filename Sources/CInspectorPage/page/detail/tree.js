import { element, clear, recorded } from "../core/dom.js";
import { bytes, count } from "../core/text.js";
import * as api from "../core/api.js";

const PARSED = 8 << 20;
const STEP = 200;
// The most places that a search lists.
const FOUND = 200;
const NAMES = { xml: "XML", html: "HTML", msgpack: "MessagePack", cbor: "CBOR", form: "a form", graphql: "a request of GraphQL" };

let worker = null;
let lastAsk = 0;
let lastRoot = 0;
const waiting = new Map();

function ask(message) {
  if (!worker) {
    const policy = self.trustedTypes?.createPolicy("inspector", { createScriptURL: (url) => { if (url !== "/worker.js") throw new TypeError("no such worker"); return url; } });
    worker = new Worker(policy ? policy.createScriptURL("/worker.js") : "/worker.js", { type: "module" });
    worker.onmessage = ({ data }) => {
      const { resolve, reject, format } = waiting.get(data.ask);
      waiting.delete(data.ask);
      if (data.problem) reject(new Error(`this is not ${NAMES[format] ?? "JSON"}: ${data.problem}`));
      else resolve(data);
    };
  }
  lastAsk += 1;
  const number = lastAsk;
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject, format: message.format });
    worker.postMessage({ ...message, ask: number }, message.bytes ? [message.bytes.buffer] : []);
  });
}

/** A body as a tree whose branches are filled when they are opened. - source: its `format` is empty for JSON. */
export async function tree(source, address) {
  const box = element("div", { class: "tree" });
  if (source.size > PARSED && source.format) throw new Error(`a tree is shown up to ${bytes(PARSED)}: see the text`);
  if (source.size > PARSED) {
    clear(box, await pointed("", source, "", true));
    return box;
  }
  const { array } = await api.range(address, 0, PARSED);
  lastRoot += 1;
  const id = lastRoot;
  const root = await ask({ id, bytes: array, format: source.format, path: [], from: 0, most: STEP });
  const top = branch({ name: null, kind: root.kind, count: root.count, text: root.text.slice(0, 2000) }, id, [], true, root.children, []);
  box.append(tools(box, source, id, root.kind), top);
  box.addEventListener("keydown", (event) => walk(box, event));
  return box;
}

/** The pointer of a place (RFC 6901). */
function pointerOf(names) { return names.map((name) => "/" + name.replace(/~/g, "~0").replace(/\//g, "~1")).join(""); }

/** The path of a place as in JavaScript and jq. */
function pathOf(names) { return names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : /^[a-z_$][\w$]*$/i.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`)).join("") || "."; }

/** A search in the tree, and what can be done with the place that was chosen in it. */
function tools(box, source, id, kind) {
  // Rules have other places in other kinds of bodies.
  const side = !source.format && source.query?.part === undefined && source.query?.message === undefined ? /\/(request|response)\/body$/.exec(source.path)?.[1] : undefined;
  const input = element("input", { type: "search", "aria-label": "Find in the tree", placeholder: "find a name or a value", spellcheck: "false", autocomplete: "off" });
  const hits = element("ol", { class: "hits", "aria-label": "Places", hidden: true });
  const words = element("span", { class: "mono", role: "status" });
  const say = (text) => { words.textContent = text; };
  let names = null;
  const copy = (make) => async () => { try { await navigator.clipboard.writeText(make()); say("copied"); } catch { say("the browser does not let the page copy"); } };
  const order = (action) => () => box.dispatchEvent(new CustomEvent("place", { bubbles: true, detail: { action, rule: `json:${pointerOf(names) || "/"}` } }));
  const acts = element("span", { class: "acts", hidden: true },
    element("button", { type: "button", text: "Copy pointer", onclick: copy(() => pointerOf(names)) }), element("button", { type: "button", text: "Copy path", onclick: copy(() => pathOf(names)) }),
    side === "request" ? element("button", { type: "button", text: "Ignore this place", title: "A replay no longer compares it", onclick: order("ignore") }) : null,
    side ? element("button", { type: "button", text: "Redact this place", title: "Preview what would be removed", onclick: order("redact") }) : null);
  const pick = (picked) => { names = picked; acts.hidden = false; say(pointerOf(names) || "the whole body"); };
  box.addEventListener("pick", (event) => pick(event.detail));
  let last = 0;
  input.addEventListener("input", async () => {
    last += 1;
    const mine = last;
    if (!input.value) { hits.hidden = true; return; }
    const { found } = await ask({ id, find: input.value, most: FOUND });
    if (mine !== last) return;
    hits.hidden = false;
    clear(hits, found.length ? found.map((one) => element("li", {}, element("button", { type: "button", onclick: () => pick(one.names) }, element("span", { class: "where" }, recorded(pointerOf(one.names))), " ", recorded(one.text)))) : element("li", { class: "empty", text: "nothing" }));
    say(found.length === FOUND ? `the first ${FOUND} places` : count(found.length, "place"));
  });
  if (kind !== "object" && kind !== "array") return null;
  return element("div", { class: "tree-tools" }, element("div", { class: "viewer-bar" }, input, words, acts), hits);
}

/** Moves between the lines of the tree with the arrow keys. */
function walk(box, event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.matches("summary, .leaf")) return;
  const lines = [...box.querySelectorAll("summary, .leaf")].filter((one) => one.offsetParent !== null);
  const next = lines[lines.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}

/** Lets a line of the tree be chosen, by mouse or by focus. */
function pickable(line, names) {
  const pick = () => line.dispatchEvent(new CustomEvent("pick", { bubbles: true, detail: names }));
  line.addEventListener("focus", pick);
  line.addEventListener("click", pick);
  return line;
}

function label(entry) {
  const name = entry.name === null ? null : element("span", { class: "key" }, recorded(entry.name), ": ");
  const [open, close] = entry.kind === "array" ? ["[", "]"] : ["{", "}"];
  return [name, element("span", { class: "count", text: `${open}${entry.count === 0 ? "" : " " + count(entry.count, entry.kind === "array" ? "element" : "member") + " "}${close}` })];
}

function leaf(entry, names) {
  const text = entry.kind === "string" ? `"${entry.text}${entry.isCut ? "…" : ""}"` : entry.text + (entry.isCut ? "…" : "");
  const line = element("div", { class: "leaf", dir: "auto", tabindex: names ? -1 : null }, entry.name === null ? null : element("span", { class: "key" }, recorded(entry.name), text === "" ? "" : ": "), element("span", { class: entry.kind }, recorded(text)));
  return names ? pickable(line, names) : line;
}

/** Whether a child is open at first: short ones near the root, and those that have no neighbours. */
function isRoom(entry, child, depth) { return entry.count === 1 ? depth < 8 : depth < 2 && entry.count <= 20 && child.count <= 20; }

function branch(entry, id, path, isOpen, known, names) {
  if (entry.kind !== "object" && entry.kind !== "array") return leaf(entry, names);
  const details = element("details", {}, pickable(element("summary", {}, label(entry)), names));
  let isFilled = false;
  const fill = async (from) => {
    const shown = from === 0 && known ? known : (await ask({ id, path, from, most: STEP })).children;
    const all = shown.map((child, index) => branch(child, id, [...path, from + index], isRoom(entry, child, path.length), null, [...names, child.name]));
    if (from + STEP < entry.count) {
      const more = element("button", { type: "button", text: `${count(entry.count - from - STEP, "more")}`.replace("mores", "more"), onclick: async () => { more.remove(); await fill(from + STEP); } });
      all.push(more);
    }
    details.append(...all);
  };
  details.addEventListener("toggle", () => { if (details.open && !isFilled) { isFilled = true; fill(0); } });
  if (isOpen) { isFilled = true; details.open = true; fill(0); }
  return details;
}

/** A large body: the inspector parses it, and the page asks for the value at a pointer (RFC 6901). */
async function pointed(pointer, source, name, isOpen) {
  const values = new URLSearchParams({ ...source.query, pointer });
  const found = await api.json(source.path.replace(/body$/, "json") + "?" + values);
  if (found.children === undefined) {
    const text = found.text ?? JSON.stringify(found.value, null, 2);
    return element("div", { class: "leaf" }, name ? element("span", { class: "key" }, recorded(name), ": ") : null, element("pre", {}, recorded(text, { lines: true })));
  }
  const details = element("details", { open: isOpen }, element("summary", {}, label({ name: name || null, kind: found.kind, count: found.count })));
  for (const [child, size, value] of found.children) {
    if (value !== null && typeof value !== "object") { details.append(leaf({ name: child, kind: typeof value, text: String(value) })); continue; }
    const inner = element("details", {}, element("summary", {}, element("span", { class: "key" }, recorded(child), ": "), element("span", { class: "count", text: bytes(size) })));
    inner.addEventListener("toggle", async () => {
      if (!inner.open || inner.childElementCount > 1) return;
      inner.append(await pointed(`${pointer}/${child.replace(/~/g, "~0").replace(/\//g, "~1")}`, source, child, true));
    });
    details.append(inner);
  }
  if (found.count > found.children.length) details.append(element("p", { class: "caution", text: `the first ${found.children.length} of ${found.count}` }));
  return details;
}

/** A value that is at hand, such as a token's, as a tree. */
export function valueTree(value, name = null, depth = 0) {
  const [kind, content] = value;
  if (kind !== "object" && kind !== "array") return leaf({ name, kind, text: content });
  const details = element("details", { open: depth < 3 }, element("summary", {}, label({ name, kind, count: content.length })));
  for (const [index, entry] of content.slice(0, STEP).entries()) details.append(kind === "object" ? valueTree(entry[1], entry[0], depth + 1) : valueTree(entry, String(index), depth + 1));
  return details;
}
