import { element, clear, recorded } from "../core/dom.js";
import { bytes, count, milliseconds, plain } from "../core/text.js";
import * as api from "../core/api.js";
import { parse } from "../core/json.js";
import { cookies, jwt } from "../core/formats.js";
import { valueTree } from "./tree.js";
import { viewer } from "./viewer.js";

/** Field lines as a table, with names and values as they were recorded. */
export function fieldTable(lines, label) {
  if (!lines.length) return element("p", { class: "empty", text: "no fields" });
  const rows = lines.map((line) => {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^[ \t]+/, "");
    return element("tr", {}, element("th", { scope: "row" }, recorded(name)), element("td", { dir: "auto" }, recorded(value), within(name.toLowerCase(), value)));
  });
  return element("table", { class: "fields", "aria-label": label }, element("tbody", {}, rows));
}

/** What is within a field's value: the claims of a token, or cookies one by one. */
function within(name, value) {
  const token = value.split(/[\s,;="]+/).filter((one) => one.length > 20).map((one) => jwt(one, parse)).find(Boolean);
  const found = /^(?:set-)?cookie$/.test(name) ? cookies(name, value) : [];
  return [
    found.length > 1 ? element("details", { class: "within" }, element("summary", { text: name === "cookie" ? count(found.length, "cookie") : "cookie and attributes" }), element("table", { class: "fields", "aria-label": "Cookies" }, element("tbody", {}, found.map(([key, content]) => element("tr", {}, element("th", { scope: "row" }, recorded(key)), element("td", {}, recorded(content))))))) : null,
    token ? element("details", { class: "within" }, element("summary", { text: "JSON Web Token" }), element("div", { class: "tree" }, valueTree(token))) : null,
  ].filter(Boolean);
}

function typeOf(lines) {
  const line = lines.find((one) => /^content-type[ \t]*:/i.test(one));
  return line ? line.slice(line.indexOf(":") + 1).trim() : "";
}

function bodyOf(exchange, side) {
  const message = exchange[side];
  const body = message.body;
  if (!body) return element("p", { class: "empty", text: "no body" });
  const parts = [element("h3", { text: "Body" })];
  if (body.defects) parts.push(element("p", { class: "caution" }, `⚠ ${count(body.defects, "defect")} `, element("button", { type: "button", text: "Show", onclick: () => document.getElementById("tab-parts")?.click() })));
  else if (body.multipart) parts.push(element("p", {}, element("button", { type: "button", text: "Show its parts", onclick: () => document.getElementById("tab-parts")?.click() })));
  if (body.problem) parts.push(element("p", { class: "problem", role: "alert" }, recorded(body.problem)));
  parts.push(viewer({
    path: `${exchange.base}/${side}/body`, form: body.form, image: body.image, size: body.decoded, type: typeOf(message.headers), facts: body.facts,
    isGraphQL: side === "request" && (/graphql/i.test(exchange.request.url) || /graphql/i.test(typeOf(message.headers))) && ["json", "text"].includes(body.form),
    hasRaw: !body.large, name: `${exchange.number}-${side}.${extension(body)}`,
  }));
  return parts;
}

function extension(body) {
  if (body.image) return { PNG: "png", JPEG: "jpg", GIF: "gif", WebP: "webp" }[body.image.format];
  return { json: "json", lines: "txt", form: "txt", markup: "txt", text: "txt" }[body.form] ?? "bin";
}

/** The rules that changed an exchange. It is recorded as the client sent it and as the origin answered. */
function changedBy(exchange) {
  if (!exchange.modified) return null;
  const to = exchange.modified.forwardedTo;
  return element("p", { class: "changed-by" }, "✎ changed by ", exchange.modified.rules.map((name, index) => [index ? ", " : null, element("strong", {}, recorded(name))]).flat(), to === undefined ? null : element("span", {}, ", forwarded to ", element("span", { class: "mono" }, recorded(to))));
}

export function request(exchange) {
  const message = exchange.request;
  return [
    changedBy(exchange),
    element("p", { class: "startline" }, recorded(`${message.method} ${message.url} ${message.version}`)),
    message.target ? element("p", { class: "facts" }, "target as sent: ", recorded(message.target)) : null,
    fieldTable(message.headers, "Header fields of the request"),
    message.trailers ? [element("h3", { text: "Trailers" }), fieldTable(message.trailers, "Trailers of the request")] : null,
    bodyOf(exchange, "request"),
  ].flat(2);
}

export function response(exchange) {
  const message = exchange.response;
  const interim = exchange.interim.map((one) => [
    element("h3", { text: `${one.version} ${one.status} after ${milliseconds(one.at)}` }), fieldTable(one.headers, `Header fields of ${one.status}`)]);
  const outcome = exchange.isOpen ? element("p", { class: "caution", text: "still open: this is what was recorded so far" }) : exchange.outcome.kind === "complete" ? null : element("p", { class: "problem" }, outcomeWords(exchange.outcome));
  if (!message) return [...interim.flat(), outcome ?? element("p", { class: "empty", text: "no response" })];
  return [
    changedBy(exchange),
    interim,
    element("p", { class: "startline" }, recorded(`${message.version} ${message.status} ${message.reason}`)),
    outcome,
    message.grpc ? element("p", {}, "gRPC: ", recorded([message.grpc.code ?? "", message.grpc.name, message.grpc.message].filter((one) => one !== undefined && one !== "").join(" "))) : null,
    fieldTable(message.headers, "Header fields of the response"),
    message.codedHeaders ? [element("h3", { text: "Fields of the coded body" }), fieldTable(message.codedHeaders, "Fields of the coded body")] : null,
    message.trailers ? [element("h3", { text: "Trailers" }), fieldTable(message.trailers, "Trailers of the response")] : null,
    bodyOf(exchange, "response"),
  ].flat(3);
}

export function outcomeWords(outcome) {
  const words = outcome.kind === "cut" ? `cut by the ${outcome.by}` : outcome.kind === "failed" ? `failed, ${outcome.by}` : "complete";
  return recorded(outcome.reason ? `${words}: ${outcome.reason}` : words);
}

// MARK: Parts

export async function parts(exchange) {
  const shown = [];
  for (const side of ["request", "response"]) {
    const body = exchange[side]?.body;
    if (!body?.multipart && !body?.defects) continue;
    const base = `${exchange.base}/${side}`;
    shown.push(element("h3", { text: `${body.multipart ? "Parts" : "Defects"} of the ${side} body, ${bytes(body.decoded)}` }));
    if (!body.multipart) { shown.push(findings((await api.json(base + "/lint")).findings, side)); continue; }
    const [list, lint] = await Promise.all([api.json(base + "/parts").catch((error) => ({ problem: error.message })), api.json(base + "/lint").catch(() => ({ findings: [] }))]);
    shown.push(findings(lint.findings, side));
    if (list.problem || !list.parts) { shown.push(element("p", { class: "problem", text: "this body cannot be split into its parts" })); continue; }
    if (list.hidden) shown.push(element("p", { class: "caution", text: "the body is multipart, but its Content-Type does not say so" }));
    if (list.otherBoundary) shown.push(element("p", { class: "caution", text: "the body uses a boundary other than the one in its Content-Type" }));
    if (list.boundary !== undefined) shown.push(element("p", { class: "facts" }, "boundary ", recorded(list.boundary)));
    shown.push(element("ol", { class: "parts" }, list.parts.map((part) => partItem(part, base, exchange))));
  }
  return shown;
}

function partItem(part, base, exchange) {
  const open = element("details", {}, element("summary", {}, recorded(part.words)));
  open.addEventListener("toggle", () => {
    if (!open.open || open.childElementCount > 1) return;
    open.append(fieldTable(part.headers, `Header fields of part ${plain(part.label)}`));
    if (!part.multipart) {
      open.append(viewer({
        path: base + "/body", query: { part: part.label }, form: part.form, image: part.image, size: part.decoded, type: part.type, hasRaw: true,
        name: `${exchange.number}-part-${part.label}.bin`,
      }));
    }
  });
  if (part.form === "image" || (part.decoded ?? Infinity) < 2048) open.open = true;
  return element("li", { class: "part" + (part.label.includes(".") ? " deep" : "") }, open);
}

/** - side: of the exchange, so that the labels of two lists differ. */
function findings(all, side) {
  if (!all.length) return element("p", { class: "status good", text: "✓ no defects" });
  return element("div", { role: "group", "aria-label": "Defects" }, all.map((finding, index) => element("div", { class: "finding" },
    element("p", { class: "caution" }, "⚠ ", finding.offset === undefined ? "header fields: " : `offset ${finding.offset.toLocaleString("en-US")}: `, recorded(finding.sentence)),
    finding.excerpt.length ? element("pre", { class: "hex", tabindex: 0, role: "region", "aria-label": `Bytes around defect ${index + 1} of the ${side}`, text: finding.excerpt.join("\n") }) : null,
    finding.change ? change(finding.change, `What to write for defect ${index + 1} of the ${side}`) : null)));
}

/** What to write instead, as a diff: two lines, and the bytes themselves if they are few. */
function change({ before, after, removed, inserted, offset }, label) {
  const digits = (hex) => (offset !== undefined && hex && hex.length <= 16 ? element("span", { class: "dim", text: "  " + hex.match(/../g).join(" ") }) : null);
  return element("pre", { class: "change", tabindex: 0, role: "region", "aria-label": label },
    before === undefined ? null : element("del", {}, "- ", recorded(before), digits(removed)), element("ins", {}, "+ ", after === undefined ? element("em", { text: "leave it out" }) : recorded(after), digits(inserted)));
}

// MARK: Messages and events

const STEP = 200;
// The most marks on the line of time; more could not be told apart.
const MARKS = 2000;

export async function messages(exchange) {
  const shown = [];
  if (exchange.webSocket !== undefined) {
    const list = element("ol", { class: "messages", "aria-label": "Messages" });
    const more = element("button", { type: "button", text: "More" });
    let next = 1;
    const [lane, marks] = timeLane();
    const items = timedItems(list);
    const load = async () => {
      const found = await api.json(`${exchange.base}/messages?from=${next}&count=${STEP}`);
      for (const message of found.messages) items(socketItem(message, exchange), message.at);
      next += found.messages.length;
      marks(found.messages.map((message) => [message.at, message.from]));
      more.hidden = next > found.count || !found.messages.length;
    };
    more.addEventListener("click", load);
    await load();
    shown.push(element("h3", { text: count(exchange.webSocket, "message") }), lane(), list, more);
  }
  for (const side of ["request", "response"]) {
    const body = exchange[side]?.body;
    if (!body || (body.events === undefined && body.messages === undefined)) continue;
    const found = await api.json(`${exchange.base}/${side}/messages`);
    const all = found.events ?? found.messages;
    shown.push(element("h3", { text: `${side === "request" ? "From the client" : "From the server"}: ${count(found.count ?? all.length, found.events ? (found.noun ?? "event") : "message")}` }));
    const timed = all.filter((one) => one.at !== undefined);
    if (timed.length) { const [lane, marks] = timeLane(); marks(timed.map((one) => [one.at, side === "request" ? "client" : "server"])); shown.push(lane()); }
    const list = element("ol", { class: "messages", "aria-label": `Messages of the ${side}` });
    const items = timedItems(list);
    let next = 0;
    const more = element("button", { type: "button", text: "More" });
    const load = () => {
      for (const message of all.slice(next, next + STEP)) items(bodyItem(message, exchange, side), message.at);
      next += STEP;
      more.hidden = next >= all.length;
    };
    more.addEventListener("click", load);
    load();
    shown.push(list, more);
    if (found.count > all.length) shown.push(element("p", { text: `and ${count(found.count - all.length, "more event")}: wiretape inspect --message writes one` }));
    if (found.rest) shown.push(element("p", { class: "caution", text: `and ${count(found.rest, "byte")} of one that was cut` }));
  }
  return shown;
}


/** Adds messages to a list, each with the time since the previous one, because readers look for pauses. */
function timedItems(list) {
  let last = null;
  return (item, at) => {
    if (at !== undefined) {
      item.firstChild.prepend(element("span", { class: "at", title: "since the previous message", text: last === null ? "" : `+${milliseconds(Math.max(0, at - last))}` }), " ");
      last = at;
    }
    list.append(item);
  };
}

/** Shows on a line of time when messages came: the client's above, the server's below. */
function timeLane() {
  const lane = element("div", { class: "lane" });
  const words = element("figcaption");
  const box = element("figure", { class: "over-time" }, words, lane, element("div", { class: "scale", "aria-hidden": "true" }));
  const all = [];
  return [() => box, (more) => {
    all.push(...more);
    const times = all.map(([at]) => at);
    const last = times.reduce((most, at) => Math.max(most, at), 0.001);
    const sides = { client: 0, server: 0 };
    for (const [, from] of all) sides[from] += 1;
    const longest = times.reduce((most, at, index) => Math.max(most, index ? at - times[index - 1] : at), 0);
    words.textContent = `over ${milliseconds(last)}: ${[sides.client ? `▲ ${sides.client} from the client` : "", sides.server ? `▼ ${sides.server} from the server` : ""].filter(Boolean).join(", ")}; longest pause ${milliseconds(longest)}`;
    clear(box.lastChild, [0, 0.25, 0.5, 0.75, 1].map((part) => element("span", { text: part ? milliseconds(last * part) : "0" })));
    clear(lane, all.slice(0, MARKS).map(([at, from]) => {
      const mark = element("i", { class: from });
      mark.style.left = (at / last) * 99.5 + "%";
      return mark;
    }));
  }];
}

function socketItem(message, exchange) {
  const item = element("li", { class: "message " + message.from }, element("p", {}, recorded(message.words)));
  if (message.note) item.append(element("p", { class: "caution" }, recorded(message.note)));
  if (message.data) item.append(preview(message, `${exchange.base}/messages/${message.number}`));
  return item;
}

function bodyItem(message, exchange, side) {
  const item = element("li", { class: "message " + (side === "request" ? "client" : "server") }, element("p", {}, recorded(message.words)));
  if (message.tree) item.append(element("pre", {}, message.tree.map(([depth, key, value, label]) => [element("span", { class: "key" }, "  ".repeat(depth), recorded(key)), " ", recorded(value), label ? [" (", recorded(label), ")"] : [], "\n"]).flat(2)));
  else item.append(preview(message, `${exchange.base}/${side}/body`, { message: message.number }));
  return item;
}

function preview(message, path, query) {
  const text = message.text !== undefined ? element("pre", { dir: "auto" }, recorded(message.text, { lines: true })) : element("pre", { class: "hex", tabindex: 0, role: "region", "aria-label": "Bytes in hexadecimal", text: message.hex ?? "" });
  const isJSON = /^\s*[[{]/.test(message.text ?? "");
  if (message.size <= 64 && !isJSON) return text;
  const open = element("details", {}, element("summary", { text: isJSON ? "as a tree, in whole" : `all ${bytes(message.size)}` }));
  open.addEventListener("toggle", () => { if (open.open && open.childElementCount === 1) open.append(viewer({ path, query, form: isJSON ? "json" : message.text === undefined ? "binary" : "text", size: message.size })); });
  return element("div", {}, text, open);
}

// MARK: Timing, connection, redactions

const PHASES = [["blocked", "--wait-0"], ["dns", "--wait-1"], ["connect", "--wait-1"], ["tls", "--wait-1"], ["send", "--send"], ["wait", "--wait"], ["receive", "--receive"]];

export function timing(exchange) {
  const sum = PHASES.reduce((all, [name]) => all + (exchange.timing[name] ?? 0), 0);
  const whole = Math.max(exchange.timing.total ?? 0, sum, 0.001);
  let at = 0;
  const rows = [];
  for (const [name, color] of PHASES) {
    const value = exchange.timing[name];
    if (value === undefined) continue;
    const bar = element("i");
    bar.style.left = (at / whole) * 100 + "%";
    bar.style.width = (value / whole) * 100 + "%";
    bar.style.background = `var(${color})`;
    at += value;
    rows.push(element("span", { text: name }), element("span", { class: "v", text: milliseconds(value) }), element("span", { class: "track", "aria-hidden": "true" }, bar));
  }
  if (exchange.timing.total !== undefined) rows.push(element("strong", { text: "total" }), element("span", { class: "v", text: milliseconds(exchange.timing.total) }), element("span"));
  const shown = [element("p", {}, "started ", exchange.started), element("div", { class: "bars" }, rows)];
  for (const side of ["request", "response"]) {
    const arrival = exchange[side]?.body?.arrival;
    if (!arrival?.pieces.length) continue;
    shown.push(element("h3", { text: `Arrival of the ${side} body: ${count(arrival.pieces.length, arrival.chunked ? "chunk" : "read")}` }));
    const last = Math.max(...arrival.pieces.map((piece) => piece[0]), 0.001);
    shown.push(element("table", {}, element("thead", {}, element("tr", {}, element("th", { text: "after the head" }), element("th", { text: "size" }), element("th", { text: "when" }))), element("tbody", {}, arrival.pieces.slice(0, 500).map(([time, size]) => {
      const mark = element("i");
      mark.style.left = (time / last) * 98 + "%";
      mark.style.background = "var(--receive)";
      return element("tr", {}, element("td", { text: milliseconds(time) }), element("td", { text: bytes(size) }), element("td", {}, element("div", { class: "track", "aria-hidden": "true" }, mark)));
    }))));
  }
  return shown;
}

export function connection(exchange) {
  const info = exchange.connection;
  if (!info) return [element("p", { class: "empty", text: "nothing is recorded about the connection" })];
  const row = (name, value) => (value === undefined || value === null ? null : element("tr", {}, element("th", { scope: "row", text: name }), element("td", {}, recorded(String(value)))));
  const rows = [row("connection", info.id), row("to", info.remote), row("stream", info.stream), row("reused", info.reused ? (info.openedBy ? `yes, opened by exchange ${info.openedBy}` : "yes") : "no")];
  if (exchange.tunnel) rows.push(row("tunnel", `${bytes(exchange.tunnel.sent)} sent, ${bytes(exchange.tunnel.received)} received`));
  const tls = info.tls;
  if (!tls) return [element("table", { class: "fields", "aria-label": "Connection" }, element("tbody", {}, rows)), element("p", { class: "empty", text: "without TLS" })];
  rows.push(row("version", tls.version), row("cipher", tls.cipher), row("server name", tls.sni), row("protocol", tls.alpn), row("resumed", tls.resumed ? "yes" : "no"));
  const started = Date.parse(exchange.started);
  return [
    element("table", { class: "fields", "aria-label": "Connection" }, element("tbody", {}, rows)),
    ...tls.chain.flatMap((one, index) => {
      const isPast = started > Date.parse(one.notAfter);
      const isEarly = started < Date.parse(one.notBefore);
      return [
        element("h3", { text: index === 0 ? "Certificate" : "Its issuer" }),
        element("table", { class: "fields", "aria-label": `Certificate ${index + 1}` }, element("tbody", {}, [
          row("subject", one.subject || "without a subject"), row("issuer", one.issuer === one.subject ? "itself" : one.issuer),
          row("valid", `${one.notBefore.slice(0, 10)} to ${one.notAfter.slice(0, 10)}${isPast ? ", expired by then" : ""}${isEarly ? ", not valid yet then" : ""}`), row("sha256", one.sha256)])),
      ];
    }),
  ];
}

export function redactions(exchange, find) {
  if (!exchange.redactions.length) return [element("p", { class: "empty", text: "nothing in this exchange was redacted" })];
  const counts = new Map();
  for (const { placeholder, place } of exchange.redactions) {
    const key = placeholder + "\n" + place;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [element("table", { "aria-label": "Redacted values" },
    element("thead", {}, element("tr", {}, element("th", { text: "placeholder" }), element("th", { text: "where" }), element("th", { text: "times" }), element("th", { text: "elsewhere" }))),
    element("tbody", {}, [...counts].map(([key, times]) => {
      const [placeholder, place] = key.split("\n");
      return element("tr", {}, element("td", {}, recorded(placeholder)), element("td", {}, recorded(place)), element("td", { text: String(times) }),
        element("td", {}, element("button", { type: "button", text: "Find all", onclick: () => find(placeholder) })));
    })))];
}
