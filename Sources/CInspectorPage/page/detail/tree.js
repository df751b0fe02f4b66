import { element, clear, recorded } from "../core/dom.js";
import { bytes, count } from "../core/text.js";
import * as api from "../core/api.js";

const PARSED = 8 << 20;
const STEP = 200;

let worker = null;
let lastAsk = 0;
let lastRoot = 0;
const waiting = new Map();

function ask(message) {
  if (!worker) {
    const policy = self.trustedTypes?.createPolicy("inspector", { createScriptURL: (url) => { if (url !== "/worker.js") throw new TypeError("no such worker"); return url; } });
    worker = new Worker(policy ? policy.createScriptURL("/worker.js") : "/worker.js", { type: "module" });
    worker.onmessage = ({ data }) => {
      const { resolve, reject } = waiting.get(data.ask);
      waiting.delete(data.ask);
      if (data.problem) reject(new Error("this is not JSON: " + data.problem));
      else resolve(data);
    };
  }
  lastAsk += 1;
  const number = lastAsk;
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    worker.postMessage({ ...message, ask: number }, message.bytes ? [message.bytes.buffer] : []);
  });
}

/** A JSON body as a tree whose branches are filled when they are opened. */
export async function tree(source, address) {
  const box = element("div", { class: "tree" });
  if (source.size > PARSED) {
    clear(box, await pointed("", source, "", true));
    return box;
  }
  const { array } = await api.range(address, 0, PARSED);
  lastRoot += 1;
  const id = lastRoot;
  const root = await ask({ id, bytes: array, path: [], from: 0, most: STEP });
  box.append(branch({ name: null, kind: root.kind, count: root.count, text: root.text.slice(0, 2000) }, id, [], true, root.children));
  return box;
}

function label(entry) {
  const name = entry.name === null ? null : element("span", { class: "key" }, recorded(entry.name), ": ");
  const [open, close] = entry.kind === "array" ? ["[", "]"] : ["{", "}"];
  return [name, element("span", { class: "count", text: `${open}${entry.count === 0 ? "" : " " + count(entry.count, entry.kind === "array" ? "element" : "member") + " "}${close}` })];
}

function leaf(entry) {
  const text = entry.kind === "string" ? `"${entry.text}${entry.isCut ? "…" : ""}"` : entry.text;
  return element("div", { class: "leaf", dir: "auto" }, entry.name === null ? null : element("span", { class: "key" }, recorded(entry.name), ": "), element("span", { class: entry.kind }, recorded(text)));
}

function branch(entry, id, path, isOpen, known = null) {
  if (entry.kind !== "object" && entry.kind !== "array") return leaf(entry);
  const details = element("details", {}, element("summary", {}, label(entry)));
  let isFilled = false;
  const fill = async (from) => {
    const shown = from === 0 && known ? known : (await ask({ id, path, from, most: STEP })).children;
    const all = shown.map((child, index) => branch(child, id, [...path, from + index], path.length < 2 && entry.count <= 20 && child.count <= 20));
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
