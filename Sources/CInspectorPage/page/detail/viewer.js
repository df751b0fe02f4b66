import { element, clear, recorded, facts } from "../core/dom.js";
import { bytes, count, hex, number } from "../core/text.js";
import * as api from "../core/api.js";
import { tree } from "./tree.js";

const TEXT = 64 << 10;
const HEX = 8 << 10;
const IMAGE = 16 << 20;
const FORMS = { json: "tree", lines: "text", form: "form", markup: "text", text: "text", image: "image", binary: "hex" };

/** The kind of tree that a body can be shown as: "" for JSON, null for none. */
function treeOf({ form, type = "", isGraphQL }) {
  if (isGraphQL && form !== "form") return "graphql";
  if (form === "json") return "";
  if (form === "form") return "form";
  if (/^\s*application\/(?:x-|vnd\.)?msgpack\b/i.test(type)) return "msgpack";
  if (/^\s*application\/(?:cbor\b|[\w.-]+\+cbor\b)/i.test(type)) return "cbor";
  if (form === "markup") return /html/i.test(type) ? "html" : "xml";
  return null;
}

/** Shows a body, a part or a message in windows of a few KiB, however large it is.
 *
 * - source: `{ path, query, form, image, size, type }`, where the path answers range requests. */
export function viewer(source) {
  const box = element("div", { class: "viewer" });
  const content = element("div");
  const format = treeOf(source);
  const isTree = ["", "graphql", "msgpack", "cbor"].includes(format) || (format === "xml" && /xml/i.test(source.type ?? ""));
  const state = { view: source.size > 0 && isTree ? "tree" : source.size === 0 ? "none" : FORMS[source.form] ?? (source.size > 0 ? "text" : "none"), offset: 0 };
  const address = (raw) => {
    const values = new URLSearchParams(source.query ?? {});
    if (raw) values.set("as", "raw");
    const query = values.toString();
    return source.path + (query ? "?" + query : "");
  };
  const views = [];
  if (source.form === "image") views.push(["image", "Image"]);
  if (source.form === "form") views.push(["form", "Fields"]);
  if (format !== null) views.push(["tree", "Tree"]);
  views.push(["text", "Text"], ["hex", "Hex"]);
  if (source.hasRaw) views.push(["raw", "As sent"]);

  const buttons = views.map(([name, label]) => element("button", { type: "button", "data-view": name, "aria-pressed": "false", text: label, onclick: () => { state.view = name; state.offset = 0; show(); } }));
  const pager = element("span");
  const copy = element("button", { type: "button", text: "Copy", onclick: async () => {
    const { array } = await api.range(address(false), 0, 4 << 20);
    await navigator.clipboard.writeText(new TextDecoder().decode(array));
    copy.textContent = "Copied";
  } });
  const save = element("button", { type: "button", text: "Save", onclick: async () => {
    const url = URL.createObjectURL(new Blob([await api.buffer(address(state.view === "raw"))], { type: "application/octet-stream" }));
    const link = element("a", { href: url, download: source.name ?? "body.bin" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } });
  const bar = element("div", { class: "viewer-bar", role: "group", "aria-label": "View of the body" }, buttons, element("span", { class: "gap" }), pager, copy, save);

  async function show() {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
    clear(pager);
    try {
      if (state.view === "none") clear(content, source.facts?.includes("empty") ? null : element("p", { class: "empty", text: "empty" }));
      else if (state.view === "image") await image();
      else if (state.view === "tree") clear(content, await tree({ ...source, format }, address(false)));
      else if (state.view === "form") await fields();
      else await windowed();
    } catch (error) {
      clear(content, element("p", { class: "problem", role: "alert" }, recorded(error.message)));
    }
  }

  async function image() {
    const { array, size } = await api.range(address(false), 0, IMAGE);
    if (size > IMAGE) { state.view = "hex"; return show(); }
    // The type comes from the first bytes, never from what was recorded; SVG, which may contain scripts, is shown as text.
    const types = { PNG: "image/png", JPEG: "image/jpeg", GIF: "image/gif", WebP: "image/webp" };
    const url = URL.createObjectURL(new Blob([array], { type: types[source.image.format] ?? "application/octet-stream" }));
    const words = source.image.format + (source.image.width ? ` ${source.image.width} × ${source.image.height}` : "") + ", " + bytes(size);
    const shown = element("img", { src: url, alt: "recorded image, " + words });
    shown.addEventListener("load", () => URL.revokeObjectURL(url));
    shown.addEventListener("error", () => { URL.revokeObjectURL(url); state.view = "hex"; show(); });
    clear(content, element("p", { text: words }), element("div", { class: "image-box" }, shown));
  }

  async function fields() {
    const { array, size } = await api.range(address(false), 0, 1 << 20);
    const text = new TextDecoder().decode(array);
    const rows = text.split("&").filter(Boolean).map((part) => {
      const [name, ...value] = part.split("=");
      return element("tr", {}, element("th", { scope: "row" }, recorded(decoded(name))), element("td", {}, recorded(decoded(value.join("=")), { lines: true })));
    });
    clear(content, element("table", { class: "fields" }, element("tbody", {}, rows)), size > array.length ? element("p", { class: "caution", text: "only the first MiB; Text shows all of it" }) : null);
  }

  async function windowed() {
    const isHex = state.view === "hex" || state.view === "raw";
    const step = isHex ? HEX : TEXT;
    const { array, size } = await api.range(address(state.view === "raw"), state.offset, state.offset + step);
    if (size > step) {
      const go = (offset) => () => { state.offset = Math.min(Math.max(0, Math.floor(offset / step) * step), Math.floor((size - 1) / step) * step); show(); };
      clear(pager,
        element("button", { type: "button", text: "‹", "aria-label": "Earlier bytes", disabled: state.offset === 0, onclick: go(state.offset - step) }),
        ` ${number(state.offset)} – ${number(state.offset + array.length)} of ${count(size, "byte")} `,
        element("button", { type: "button", text: "›", "aria-label": "Later bytes", disabled: state.offset + array.length >= size, onclick: go(state.offset + step) }),
        element("button", { type: "button", text: "End", onclick: go(size) }));
    }
    if (isHex) return clear(content, element("pre", { class: "hex", text: hex(array, state.offset), tabindex: 0, role: "region", "aria-label": "Bytes in hexadecimal" }));
    clear(content, element("pre", { dir: "auto" }, recorded(decodeText(array, source.type, state.offset > 0), { lines: true })));
  }

  clear(box, facts(source.facts ?? []), source.size > 0 ? bar : null, content);
  show();
  return box;
}

function decoded(text) {
  try { return decodeURIComponent(text.replace(/\+/g, " ")); } catch { return text; }
}

/** Decodes text by the charset of its type; skips the rest of a character that begins before the window. */
export function decodeText(array, type, isInside) {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type ?? "")?.[1] ?? "utf-8";
  let start = 0;
  if (isInside && charset.toLowerCase() === "utf-8") while (start < 4 && (array[start] & 0xc0) === 0x80) start += 1;
  let decoder;
  try { decoder = new TextDecoder(charset, { ignoreBOM: true }); } catch { decoder = new TextDecoder("utf-8", { ignoreBOM: true }); }
  return decoder.decode(array.subarray(start), { stream: true });
}
