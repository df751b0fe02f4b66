import { element } from "../core/dom.js";
import { bytes, milliseconds } from "../core/text.js";

const KEY = "wiretape-columns";

function clock(microseconds) {
  const time = new Date(microseconds / 1000);
  const digits = (value, count) => String(value).padStart(count, "0");
  return `${digits(time.getHours(), 2)}:${digits(time.getMinutes(), 2)}:${digits(time.getSeconds(), 2)}.${digits(time.getMilliseconds(), 3)}`;
}

function host(url) { return /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ""; }

/** What a status means, as a shape, a word and a colour. */
export function statusOf(row) {
  if (row.isMiss) return ["✗", "miss", "bad"];
  if (row.isOpen) return ["…", "open", "open"];
  if (row.outcome) return ["✗", row.outcome.startsWith("failed") ? row.outcome.slice(7) : `${row.status || ""} ${row.outcome}`.trim(), "bad"];
  if (row.grpc > 0) return ["▲", `${row.status} grpc ${row.grpc}`, "bad"];
  if (row.status >= 500) return ["✗", String(row.status), "bad"];
  if (row.status >= 400) return ["▲", String(row.status), "warn"];
  if (row.status >= 300) return ["→", String(row.status), "good"];
  return ["✓", String(row.status || "-"), "good"];
}

/** How long an exchange took, or has been open so far. */
function time(row) { return row.isMiss ? "" : row.isOpen ? milliseconds(Math.max(0, Date.now() - row.start / 1000)) : milliseconds(row.phases[7]); }

// Name, heading, label in the list of columns, class, width, the server's sort key (null for none), text. The list itself fills in URL and
// status.
export const COLUMNS = [
  ["number", "#", "number", "n", "58px", "start", (row) => String(row.number)],
  ["started", "started", "time of day", "started", "100px", "start", (row) => (row.start ? clock(row.start) : "")],
  ["method", "method", "method", "method", "70px", "method", (row) => row.method],
  ["host", "host", "host", "host", "minmax(60px, 150px)", null, (row) => host(row.url)],
  ["url", "url", "url", "url", "minmax(120px, 1fr)", "url", null],
  ["status", "status", "status", "status", "126px", "status", null],
  ["type", "type", "type of the answer", "type", "minmax(60px, 130px)", "type", (row) => (row.messages >= 0 ? `websocket ${row.messages}` : row.type ?? "")],
  ["asked", "sends", "type of the request", "type", "minmax(60px, 130px)", null, (row) => row.requestType ?? ""],
  ["sent", "sent", "size of the request", "size", "72px", null, (row) => bytes(row.sent)],
  ["size", "size", "size of the answer", "size", "72px", "size", (row) => bytes(row.size)],
  ["time", "time", "time", "time", "76px", "time", time],
  ["tls", "TLS", "TLS", "tls", "80px", null, (row) => row.tls ?? ""],
  ["protocol", "HTTP", "version of HTTP", "tls", "64px", null, (row) => row.version ?? ""],
  ["remote", "address", "address of the server", "host", "minmax(60px, 150px)", null, (row) => row.remote ?? ""],
  ["rules", "rules", "applied rules", "rules-column", "minmax(60px, 140px)", null, (row) => row.rules ?? ""],
  ["fall", "waterfall", "waterfall", "axis", "minmax(90px, 22%)", null, () => ""],
].map(([name, label, words, kind, width, sort, text]) => ({ name, label, words, kind, width, sort, text }));

const DEFAULT = ["number", "method", "url", "status", "type", "size", "time", "fall"];
// A narrow list has room for these.
const NARROW = ["number", "method", "url", "status"];
// In pixels.
export const NARROWEST = 720;
// In a list narrower than this, in pixels, they leave more to the URL.
export const TINIEST = 480;
const TINY = { number: "50px", method: "66px", status: "84px" };
const WIDTHS = "wiretape-widths";
// Without it, nothing in the list would say what a row is.
const ALWAYS = "url";

function stored(key) { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } }

/** - isNarrow: whether the list has room for few columns. */
export function chosen(isNarrow = false, isTiny = false) {
  const kept = stored(KEY);
  const names = isNarrow ? NARROW : Array.isArray(kept) ? kept : DEFAULT;
  const widths = stored(WIDTHS) ?? {};
  return COLUMNS.filter((one) => one.name === ALWAYS || names.includes(one.name)).map((one) => (widths[one.name] > 0 && !isNarrow ? { ...one, width: `${widths[one.name]}px` } : isTiny && TINY[one.name] ? { ...one, width: TINY[one.name] } : one));
}

/** Keeps the width of a column in pixels; null for the usual one. */
export function keepWidth(name, width) {
  const widths = stored(WIDTHS) ?? {};
  if (width === null) delete widths[name];
  else widths[name] = Math.round(width);
  try { localStorage.setItem(WIDTHS, JSON.stringify(widths)); } catch { /* applies to this page only */ }
}

function keep(names) {
  try { if (names === null) localStorage.removeItem(KEY); else localStorage.setItem(KEY, JSON.stringify(names)); } catch { /* applies to this page only */ }
}

/** Check boxes for the columns of the list. - changed: called after each change. */
export function choices(changed) {
  const boxes = COLUMNS.map((column) => {
    const input = element("input", { type: "checkbox", disabled: column.name === ALWAYS, onchange: () => { keep(COLUMNS.filter((_, index) => boxes[index].checked).map((one) => one.name)); changed(); } });
    return input;
  });
  const show = () => { const shown = chosen(); COLUMNS.forEach((column, index) => { boxes[index].checked = shown.includes(column); }); };
  show();
  return [element("div", { class: "choices" }, COLUMNS.map((column, index) => element("label", {}, boxes[index], ` ${column.words}`))),
    element("button", { type: "button", text: "Reset", onclick: () => { keep(null); show(); changed(); } })];
}
