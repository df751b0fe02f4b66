import { element, clear, recorded } from "../core/dom.js";
import { bytes, plain } from "../core/text.js";
import * as api from "../core/api.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY"];
const KINDS = [["none", "no body"], ["text", "text"], ["json", "JSON"], ["form", "form fields"], ["parts", "parts (multipart)"], ["file", "a file"], ["recorded", "as recorded"]];
const TYPES = { json: "application/json", form: "application/x-www-form-urlencoded" };
// Bytes of all that is sent: base64 makes a third more of them, and the inspector takes 16 MiB.
const LONGEST = 10 << 20;
const SHOWN = 256 << 10;

const encoder = new TextEncoder();

function base64(array) {
  let text = "";
  for (let at = 0; at < array.length; at += 8192) text += String.fromCharCode(...array.subarray(at, at + 8192));
  return btoa(text);
}

function joined(arrays) {
  const all = new Uint8Array(arrays.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of arrays) { all.set(one, at); at += one.length; }
  return all;
}

/** The bytes as text; null if they are not text that a person could edit. */
function textOf(array) {
  try { const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(array); return /[\0-\b\v\f\x0e-\x1f]/.test(text) ? null : text; } catch { return null; }
}

/** The text's bytes. A text area drops the CR of line ends: they come back if all recorded ones were CRLF. */
function bytesOf(text, recorded = "") { return encoder.encode(/\r\n/.test(recorded) && !/(?:^|[^\r])\n/.test(recorded) ? text.replace(/\n/g, "\r\n") : text); }

function decoded(text) { try { return decodeURIComponent(text.replace(/\+/g, " ")); } catch { return text; } }
function pairs(text) { return text.split("&").filter(Boolean).map((part) => { const [name, ...value] = part.split("="); return [decoded(name), decoded(value.join("="))]; }); }
function encoded(rows) { return rows.filter(([name]) => name !== "").map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&"); }

/** A name or file name within quotes, as browsers write it (HTML, 4.10.21.8). */
function quoted(text) { return text.replace(/"/g, "%22").replace(/\r/g, "%0D").replace(/\n/g, "%0A"); }

/** A list of names and values, whose rows can be changed, added and removed. */
class Pairs {
  constructor(label, rows, changed = () => {}) {
    this.label = label;
    this.changed = changed;
    this.list = element("tbody");
    this.box = element("div", { role: "group", "aria-label": label }, element("table", { class: "pairs" }, this.list),
      element("button", { type: "button", text: `Add ${label === "Query" ? "a parameter" : "a field"}`, onclick: () => { this.add("", ""); this.list.lastElementChild.querySelector("input").focus(); } }));
    for (const [name, value] of rows) this.add(name, value);
  }

  add(name, value) {
    const make = (text, what) => { const input = element("input", { type: "text", spellcheck: "false", autocomplete: "off", "aria-label": `${this.label}: ${what}` }); input.value = text; input.addEventListener("input", () => this.changed()); return input; };
    const row = element("tr", {}, element("td", {}, make(name, "name")), element("td", {}, make(value, "value")),
      element("td", {}, element("button", { type: "button", text: "×", "aria-label": `Remove from ${this.label}`, onclick: () => { const next = row.nextElementSibling ?? row.previousElementSibling; row.remove(); this.changed(); (next ?? this.box).querySelector("button, input")?.focus(); } })));
    this.list.append(row);
  }

  get rows() { return [...this.list.children].map((row) => [...row.querySelectorAll("input")].map((input) => input.value)); }

  set rows(rows) { clear(this.list); for (const [name, value] of rows) this.add(name, value); }

  /** Sets a row by its name, in any case; null removes it. */
  set(name, value) {
    const row = [...this.list.children].find((one) => one.querySelector("input").value.toLowerCase() === name.toLowerCase());
    if (value === null) row?.remove();
    else if (row) row.querySelectorAll("input")[1].value = value;
    else this.add(name, value);
  }

  get(name) { return this.rows.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1]; }
}

/** Parts of a multipart body: a text or a file each. */
class Parts {
  constructor(parts) {
    this.list = element("ol", { class: "parts" });
    this.box = element("div", { role: "group", "aria-label": "Parts" }, this.list, element("button", { type: "button", text: "Add a part", onclick: () => { this.add({}); this.list.lastElementChild.querySelector("input").focus(); } }));
    this.entries = [];
    for (const part of parts) this.add(part);
  }

  /** - others: header lines that the form does not show; recorded: the bytes of the text. */
  add({ name = "", filename, type = "", text = "", array = null, others = [], recorded = null }) {
    const input = (label, value, hint) => { const made = element("input", { type: "text", spellcheck: "false", autocomplete: "off", "aria-label": `Part: ${label}`, placeholder: hint ?? label }); made.value = value; return made; };
    const entry = { name: input("name", name), filename: input("file name", filename ?? "", "file name, for a file"), type: input("type", type, "type, such as image/png"), text: element("textarea", { rows: 2, spellcheck: "false", "aria-label": "Part: text" }), array };
    entry.text.value = array ? "" : text;
    Object.assign(entry, { isFile: filename !== undefined, given: array, others, recorded, recordedText: text, shown: entry.text.value });
    const facts = element("span", { class: "dim", text: array ? `${bytes(array.length)} as recorded` : "" });
    entry.text.hidden = Boolean(array);
    const file = element("input", { type: "file", "aria-label": "Part: file" });
    file.addEventListener("change", async () => {
      const [one] = file.files;
      if (!one) return;
      entry.array = new Uint8Array(await one.arrayBuffer());
      entry.filename.value = one.name;
      entry.isFile = true;
      entry.type.value = one.type || "application/octet-stream";
      entry.text.hidden = true;
      facts.textContent = bytes(one.size);
    });
    const asText = element("button", { type: "button", text: "As text", title: "Type the content", onclick: () => { entry.array = null; entry.text.hidden = false; facts.textContent = ""; entry.text.focus(); } });
    const item = element("li", { class: "part" }, element("div", { class: "part-fields" }, entry.name, entry.filename, entry.type), entry.text, element("p", { class: "viewer-bar" }, file, asText, facts, element("span", { class: "gap" }),
      element("button", { type: "button", text: "Remove", onclick: () => { this.entries.splice(this.entries.indexOf(entry), 1); item.remove(); this.box.querySelector("button").focus(); } })));
    this.entries.push(entry);
    this.list.append(item);
  }

  /** What the form says of the parts. */
  get state() { return this.entries.map((entry) => [entry.name.value, entry.filename.value, entry.type.value, entry.text.value, entry.array === entry.given]); }

  bytes(boundary) {
    const all = [];
    for (const entry of this.entries) {
      const filename = entry.filename.value;
      all.push(encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(entry.name.value)}"${filename || entry.isFile ? `; filename="${quoted(filename)}"` : ""}\r\n${entry.type.value ? `Content-Type: ${entry.type.value}\r\n` : ""}${entry.others.map((line) => `${line}\r\n`).join("")}\r\n`),
        entry.array ?? (entry.recorded && entry.text.value === entry.shown ? entry.recorded : bytesOf(entry.text.value, entry.recordedText)), encoder.encode("\r\n"));
    }
    return joined([...all, encoder.encode(`--${boundary}--\r\n`)]);
  }
}

/** Edits a request in a form, and sends it; the cassette does not change. */
export class RequestForm {
  /** - actions: `panel(title, ...content)`, `open(key, isAsked)`, `say(text)`; sender: a `Sender`; editor: an `Editor`. */
  constructor(actions, sender, editor) {
    this.actions = actions;
    this.sender = sender;
    this.editor = editor;
  }

  async open(exchange) {
    const { request } = exchange;
    const base = exchange.base ?? api.here(`/api/x/${exchange.key}`);
    this.exchange = exchange;
    this.result = element("div");
    this.problem = element("p", { class: "problem", role: "alert" });
    let recordedBody = new Uint8Array(0);
    /** The bytes with their coding, if the body has one. */
    this.sent = null;
    let parts = [];
    try {
      this.text = await api.text(`${base}/text`);
      if (request.body?.decoded) {
        if (request.body.decoded > LONGEST) throw new Error("the body is too long for the form: edit the exchange as text");
        recordedBody = (await api.range(`${base}/request/body`, 0, LONGEST)).array;
        if (request.body.multipart) parts = await this.parts(base);
        if (request.headers.some((line) => /^content-encoding[ \t]*:/i.test(line))) this.sent = (await api.range(`${base}/request/body?as=raw`, 0, LONGEST)).array;
      }
    } catch (error) { this.actions.say(plain(error.message)); return; }
    this.recorded = recordedBody;
    const [address, query = ""] = request.url.split("#")[0].split(/\?(.*)/s);
    this.method = element("input", { id: "form-method", type: "text", list: "form-methods", spellcheck: "false", autocomplete: "off", "aria-label": "Method" });
    this.method.value = request.method;
    this.url = element("input", { id: "form-url", type: "text", spellcheck: "false", autocomplete: "off", "aria-label": "URL without its query" });
    this.url.value = address;
    this.query = new Pairs("Query", query ? pairs(query) : []);
    this.queryText = query;
    this.queryRows = JSON.stringify(this.query.rows);
    this.fields = new Pairs("Header fields", request.headers.map((line) => { const colon = line.indexOf(":"); return [line.slice(0, colon), line.slice(colon + 1).trim()]; }));
    this.authority = this.fields.get("host");
    const type = this.fields.get("content-type") ?? "";
    const text = recordedBody.length <= SHOWN ? textOf(recordedBody) : null;
    const kind = !recordedBody.length ? "none" : parts.length ? "parts" : text === null ? "recorded" : /json/i.test(type) ? "json" : /x-www-form-urlencoded/i.test(type) ? "form" : "text";
    this.area = element("textarea", { id: "form-text", rows: 8, spellcheck: "false", autocomplete: "off", "aria-label": "Body" });
    this.area.value = text ?? "";
    this.form = new Pairs("Form", kind === "form" ? pairs(text) : []);
    this.partList = new Parts(parts);
    this.file = element("input", { id: "form-file", type: "file", "aria-label": "File for the body" });
    this.kind = element("select", { id: "form-kind" }, KINDS.filter(([value]) => value !== "recorded" || recordedBody.length).map(([value, words]) => element("option", { value, text: words, selected: value === kind })));
    this.body = element("div", { id: "form-body" });
    this.kind.addEventListener("change", () => this.showBody(true));
    const button = (label, title, run) => element("button", { type: "button", text: label, title, onclick: run });
    const form = element("form", { class: "request-form" },
      element("div", { class: "form-line" }, this.method, this.url), element("datalist", { id: "form-methods" }, METHODS.map((value) => element("option", { value }))),
      element("h3", { text: "Query" }), this.query.box, element("h3", { text: "Header fields" }), this.fields.box,
      element("h3", {}, element("label", { for: "form-kind", text: "Body " }), this.kind), this.body, this.problem);
    form.addEventListener("submit", (event) => { event.preventDefault(); });
    form.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.stopPropagation(); this.send(); } });
    this.actions.panel(`Edit and send: like exchange ${exchange.number}`,
      element("div", { class: "viewer-bar" }, button("Send", "Send this request, and compare the answer with the recorded one (Ctrl-Enter)", () => this.send()), button("As text", "Go on in the editor, with the exchange's text", () => this.toEditor()), button("Back", "Back to the exchange", () => this.actions.open(exchange.key, true))),
      element("p", { class: "facts", text: "Content-Length and the boundary of parts are set for you. The cassette does not change." }), form, this.result);
    this.showBody(false);
    this.recordedText = text ?? "";
    this.untouched = this.bodyState;
    this.url.focus();
  }

  /** The recorded parts; those that are text can be edited. */
  async parts(base) {
    const found = await api.json(`${base}/request/parts`);
    const all = [];
    // Other parts than those of a form would not survive it: such a body stays as it is, or is edited as text.
    if (found.parts.some((part) => part.multipart || part.label.includes(".") || !part.headers.some((line) => /^content-disposition[ \t]*:[ \t]*form-data\b/i.test(line)))) return [];
    for (const part of found.parts) {
      const { array } = await api.range(`${base}/request/body?part=${encodeURIComponent(part.label)}&as=raw`, 0, LONGEST);
      const text = part.filename === undefined && array.length <= SHOWN ? textOf(array) : null;
      const type = part.headers.find((line) => /^content-type[ \t]*:/i.test(line));
      all.push({ name: part.name ?? "", filename: part.filename, type: type ? type.slice(type.indexOf(":") + 1).trim() : "", ...(text === null ? { array } : { text, recorded: array }), others: part.headers.filter((line) => !/^content-(?:disposition|type)[ \t]*:/i.test(line)) });
    }
    return all;
  }

  /** - isChosen: whether a person has chosen the kind, which also sets the Content-Type. */
  showBody(isChosen) {
    const kind = this.kind.value;
    const note = (text) => element("p", { class: "facts", text });
    clear(this.body, { none: [note("The request has no body.")], text: [this.area], json: [this.area], form: [this.form.box], parts: [this.partList.box], file: [this.file], recorded: [note(`${bytes(this.recorded.length)} as they were recorded.`)] }[kind]);
    if (!isChosen) return;
    if (kind === "form" && !this.form.rows.length && this.area.value.includes("=")) this.form.rows = pairs(this.area.value);
    if (kind === "none") this.fields.set("Content-Type", null);
    else if (TYPES[kind]) this.fields.set("Content-Type", TYPES[kind]);
    else if (kind === "parts") this.fields.set("Content-Type", "multipart/form-data");
    else if (kind === "text" && /multipart|json|urlencoded/i.test(this.fields.get("content-type") ?? "")) this.fields.set("Content-Type", "text/plain; charset=utf-8");
  }

  /** What the form says of the body and its type. */
  get bodyState() { return JSON.stringify([this.kind.value, this.area.value, this.form.rows, this.partList.state, this.fields.get("content-type") ?? ""]); }

  /** The body's bytes, null for none, and its Content-Type if that has to change. */
  async bytes() {
    // A body that nobody has changed stays as it was recorded, with its line ends, escapes and boundary.
    if (this.recorded.length && this.bodyState === this.untouched && this.kind.value !== "file") return { array: this.sent ?? this.recorded, isAsSent: true };
    switch (this.kind.value) {
      case "none": return { array: null };
      case "json":
        try { JSON.parse(this.area.value); } catch (error) { throw new Error(`the body is not JSON (${error.message}): correct it, or choose "text" to send it all the same`); }
        return { array: bytesOf(this.area.value, this.recordedText) };
      case "text": return { array: bytesOf(this.area.value, this.recordedText) };
      case "form": return { array: encoder.encode(encoded(this.form.rows)) };
      case "parts": {
        const boundary = "----wiretape" + [...crypto.getRandomValues(new Uint8Array(12))].map((one) => one.toString(16).padStart(2, "0")).join("");
        const before = this.fields.get("content-type") ?? "";
        const essence = /^multipart\/[\w.+-]+/i.exec(before)?.[0] ?? "multipart/form-data";
        return { array: this.partList.bytes(boundary), type: `${essence}; boundary=${boundary}` };
      }
      case "file": {
        const [file] = this.file.files;
        if (!file) throw new Error("choose a file first");
        return { array: new Uint8Array(await file.arrayBuffer()) };
      }
      default: return { array: this.recorded };
    }
  }

  /** The exchange's text with the request of the form. */
  async changed() {
    const { array, type, isAsSent } = await this.bytes();
    if (array && array.length > LONGEST) throw new Error(`the body has ${bytes(array.length)}: a page sends at most ${bytes(LONGEST)}`);
    const url = this.url.value.trim();
    let authority;
    try { authority = new URL(url).host; } catch { throw new Error("the URL is not one: begin it with http:// or https://"); }
    if (!/^https?:\/\//i.test(url)) throw new Error("the URL begins with neither http:// nor https://");
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(this.method.value)) throw new Error("the method is not a single word");
    // A query that nobody has changed stays as it was written.
    const query = JSON.stringify(this.query.rows) === this.queryRows ? this.queryText : encoded(this.query.rows);
    const exchange = JSON.parse(this.text);
    const { request } = exchange;
    delete request.target;
    request.method = this.method.value;
    request.url = url + (query ? (url.includes("?") ? "&" : "?") + query : "");
    let fields = this.fields.rows.filter(([name]) => name !== "");
    const wrong = fields.find(([name, value]) => !/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || /[\r\n\0]/.test(value));
    if (wrong) throw new Error(`"${wrong[0]}" is not a header field that can be sent`);
    if (type) fields = [...fields.filter(([name]) => name.toLowerCase() !== "content-type"), ["Content-Type", type]];
    // The bytes of a changed body are without a coding.
    fields = fields.filter(([name]) => !(isAsSent ? /^(content-length|transfer-encoding)$/i : /^(content-length|transfer-encoding|content-encoding)$/i).test(name));
    fields = fields.map(([name, value]) => (name.toLowerCase() === "host" && value === this.authority ? [name, authority] : [name, value]));
    request.headers = fields.map(([name, value]) => `${name}: ${value}`);
    delete request.trailers;
    delete request.body;
    if (array) request.body = { size: array.length, base64: base64(array) };
    return JSON.stringify(exchange, null, 2);
  }

  async attempt(run) {
    clear(this.problem);
    let text;
    try { text = await this.changed(); } catch (error) { clear(this.problem, recorded(error.message)); return; }
    await run(text);
  }

  send() { return this.attempt((text) => this.sender.send(this.exchange.key, this.result, { epoch: this.exchange.epoch, text })); }

  toEditor() {
    return this.attempt((text) => {
      const { key } = this.exchange;
      this.editor.drafts.set(key, { epoch: this.exchange.epoch, text, original: this.text });
      return this.editor.open(this.exchange);
    });
  }
}
