// Reads bodies of other kinds than JSON into the values of json.js: [kind, content], so that one tree shows them all.
//
// Every reader has limits: a recorded body may be hostile.

const DEEP = 200;
const MOST = 200_000;

function counter() {
  let left = MOST;
  return () => { left -= 1; if (left < 0) throw new Error("it has too many values for a tree"); };
}

function hexOf(array) { return [...array.subarray(0, 4096)].map((one) => one.toString(16).padStart(2, "0")).join(" ") + (array.length > 4096 ? " …" : ""); }

/** Bytes that may be text. */
function bytesValue(array) {
  try { const text = new TextDecoder("utf-8", { fatal: true }).decode(array); if (array.length && !/[\0-\b\v\f\x0e-\x1f\x7f]/.test(text)) return ["string", text]; } catch { /* not text */ }
  return ["word", `bytes(${array.length}) ${hexOf(array)}`];
}

/** A cursor over bytes that throws at their end. */
class Bytes {
  constructor(array) { this.array = array; this.view = new DataView(array.buffer, array.byteOffset, array.byteLength); this.at = 0; this.count = counter(); }
  take(length) {
    if (length < 0 || this.at + length > this.array.length) throw new Error(`it ends within a value, at byte ${this.at}`);
    const taken = this.array.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }
  byte() { return this.take(1)[0]; }
  number(size, isSigned = false) {
    const start = this.at;
    this.take(size);
    switch (size) {
      case 1: return isSigned ? this.view.getInt8(start) : this.view.getUint8(start);
      case 2: return isSigned ? this.view.getInt16(start) : this.view.getUint16(start);
      case 4: return isSigned ? this.view.getInt32(start) : this.view.getUint32(start);
      default: return isSigned ? this.view.getBigInt64(start) : this.view.getBigUint64(start);
    }
  }
  float(size) { const start = this.at; this.take(size); return size === 4 ? this.view.getFloat32(start) : this.view.getFloat64(start); }
  text(length) { return new TextDecoder().decode(this.take(length)); }
  get isOver() { return this.at >= this.array.length; }
}

function keyOf([kind, content]) { return kind === "object" || kind === "array" ? JSON.stringify(content) : content; }

/** One after the other, as streams have them; a single value is shown as itself. */
function sequence(array, read) {
  const bytes = new Bytes(array);
  const all = [];
  while (!bytes.isOver) all.push(read(bytes, 0));
  if (!all.length) throw new Error("it is empty");
  return all.length === 1 ? all[0] : ["array", all];
}

export function messagePack(array) { return sequence(array, messagePackValue); }

function messagePackValue(bytes, depth) {
  bytes.count();
  if (depth > DEEP) throw new Error("it is nested too deeply");
  const type = bytes.byte();
  const list = (count) => { const all = []; for (let index = 0; index < count; index += 1) all.push(messagePackValue(bytes, depth + 1)); return ["array", all]; };
  const map = (count) => { const all = []; for (let index = 0; index < count; index += 1) { const key = keyOf(messagePackValue(bytes, depth + 1)); all.push([key, messagePackValue(bytes, depth + 1)]); } return ["object", all]; };
  const extension = (size) => {
    const kind = bytes.number(1, true);
    const data = bytes.take(size);
    if (kind === -1 && size === 4) return ["word", `timestamp ${new Date(new DataView(data.buffer, data.byteOffset).getUint32(0) * 1000).toISOString()}`];
    return ["word", `extension ${kind}, ${hexOf(data)}`];
  };
  if (type <= 0x7f) return ["number", String(type)];
  if (type <= 0x8f) return map(type & 0x0f);
  if (type <= 0x9f) return list(type & 0x0f);
  if (type <= 0xbf) return ["string", bytes.text(type & 0x1f)];
  if (type >= 0xe0) return ["number", String(type - 256)];
  switch (type) {
    case 0xc0: return ["word", "null"];
    case 0xc2: return ["word", "false"];
    case 0xc3: return ["word", "true"];
    case 0xc4: return bytesValue(bytes.take(bytes.number(1)));
    case 0xc5: return bytesValue(bytes.take(bytes.number(2)));
    case 0xc6: return bytesValue(bytes.take(bytes.number(4)));
    case 0xc7: return extension(bytes.number(1));
    case 0xc8: return extension(bytes.number(2));
    case 0xc9: return extension(bytes.number(4));
    case 0xca: return ["number", String(bytes.float(4))];
    case 0xcb: return ["number", String(bytes.float(8))];
    case 0xcc: case 0xcd: case 0xce: case 0xcf: return ["number", String(bytes.number(1 << (type - 0xcc)))];
    case 0xd0: case 0xd1: case 0xd2: case 0xd3: return ["number", String(bytes.number(1 << (type - 0xd0), true))];
    case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8: return extension(1 << (type - 0xd4));
    case 0xd9: return ["string", bytes.text(bytes.number(1))];
    case 0xda: return ["string", bytes.text(bytes.number(2))];
    case 0xdb: return ["string", bytes.text(bytes.number(4))];
    case 0xdc: return list(bytes.number(2));
    case 0xdd: return list(bytes.number(4));
    case 0xde: return map(bytes.number(2));
    case 0xdf: return map(bytes.number(4));
    default: throw new Error(`byte ${bytes.at - 1} begins no value`);
  }
}

export function cbor(array) { return sequence(array, cborValue); }

/** RFC 8949. */
function cborValue(bytes, depth) {
  bytes.count();
  if (depth > DEEP) throw new Error("it is nested too deeply");
  const head = bytes.byte();
  const [major, low] = [head >> 5, head & 31];
  const size = () => {
    if (low < 24) return low;
    if (low > 27) throw new Error(`byte ${bytes.at - 1} begins no value`);
    return bytes.number(1 << (low - 24));
  };
  const isEnd = () => { if (bytes.array[bytes.at] !== 0xff) return false; bytes.at += 1; return true; };
  const many = (read) => { const all = []; if (low === 31) { while (!isEnd()) all.push(read()); } else { const count = Number(size()); for (let index = 0; index < count; index += 1) all.push(read()); } return all; };
  const pieces = () => { const all = []; while (!isEnd()) { const inner = bytes.byte(); const length = inner & 31; all.push(bytes.take(length < 24 ? length : Number(bytes.number(1 << (length - 24))))); } const whole = new Uint8Array(all.reduce((sum, one) => sum + one.length, 0)); let at = 0; for (const one of all) { whole.set(one, at); at += one.length; } return whole; };
  switch (major) {
    case 0: return ["number", String(size())];
    case 1: return ["number", String(-1n - BigInt(size()))];
    case 2: return bytesValue(low === 31 ? pieces() : bytes.take(Number(size())));
    case 3: return ["string", new TextDecoder().decode(low === 31 ? pieces() : bytes.take(Number(size())))];
    case 4: return ["array", many(() => cborValue(bytes, depth + 1))];
    case 5: return ["object", many(() => [keyOf(cborValue(bytes, depth + 1)), cborValue(bytes, depth + 1)])];
    case 6: { const tag = size(); return ["object", [[`tag ${tag}`, cborValue(bytes, depth + 1)]]]; }
    default:
      if (low === 20 || low === 21) return ["word", String(low === 21)];
      if (low === 22 || low === 23) return ["word", low === 22 ? "null" : "undefined"];
      if (low === 25) return ["number", String(half(bytes.number(2)))];
      if (low === 26 || low === 27) return ["number", String(bytes.float(low === 26 ? 4 : 8))];
      return ["word", `simple ${size()}`];
  }
}

/** A number of sixteen bits (IEEE 754). */
function half(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const value = exponent === 0 ? fraction * 2 ** -24 : exponent === 31 ? (fraction ? NaN : Infinity) : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -value : value;
}

const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
function entities(text) { return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (all, decimal, digits, name) => { const code = decimal ? Number(decimal) : digits ? parseInt(digits, 16) : -1; if (code >= 0) return code <= 0x10ffff && code !== 0 ? String.fromCodePoint(code) : all; return ENTITIES[name] ?? all; }); }

// Elements of HTML that have no end tag.
const VOID = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);

/** Elements, their attributes as "@name", and their text. Knows no entities but those of XML, and reads nothing else. */
export function xml(text, isHTML = false) {
  const count = counter();
  const top = [];
  const stack = [{ name: "", members: top }];
  const tag = /<!--[^]*?(?:-->|$)|<!\[CDATA\[([^]*?)(?:\]\]>|$)|<\?[^]*?(?:\?>|$)|<![^>]*>|<\/([^\s>]+)[^>]*>|<([A-Za-z_:][^\s/>]*)((?:"[^"]*"|'[^']*'|[^"'>])*?)(\/?)>/g;
  let last = 0;
  const put = (content) => { if (content.trim()) { count(); stack[stack.length - 1].members.push(["#text", ["string", content.trim()]]); } };
  for (const match of text.matchAll(tag)) {
    put(entities(text.slice(last, match.index)));
    last = match.index + match[0].length;
    if (match[1] !== undefined) put(match[1]);
    else if (match[2] !== undefined) {
      const place = stack.findLastIndex((one) => one.name === (isHTML ? match[2].toLowerCase() : match[2]));
      if (place > 0) stack.length = place;
      else if (!isHTML) throw new Error(`</${match[2]}> ends nothing, at character ${match.index}`);
    } else if (match[3] !== undefined) {
      count();
      const name = isHTML ? match[3].toLowerCase() : match[3];
      const members = [];
      for (const [, attribute, , one, other, bare] of match[4].matchAll(/([^\s=/]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)) { count(); members.push(["@" + attribute, ["string", entities(one ?? other ?? bare ?? "")]]); }
      stack[stack.length - 1].members.push([name, ["object", members]]);
      if (!match[5] && !(isHTML && VOID.has(name))) {
        if (stack.length > DEEP) throw new Error("it is nested too deeply");
        stack.push({ name, members });
      }
    }
  }
  put(entities(text.slice(last)));
  if (!isHTML && stack.length > 1) throw new Error(`<${stack[stack.length - 1].name}> has no end`);
  if (!top.some(([name]) => name !== "#text")) throw new Error("it has no elements");
  return ["object", top.map(([name, value]) => [name, plain(value)])];
}

/** An element that has only a text is that text. */
function plain(value) {
  if (value[0] !== "object") return value;
  if (value[1].length === 1 && value[1][0][0] === "#text") return value[1][0][1];
  return ["object", value[1].map(([name, inner]) => [name, plain(inner)])];
}

function decodedPart(text) { try { return decodeURIComponent(text.replace(/\+/g, " ")); } catch { return text; } }

/** Form fields; names in brackets, as in PHP and Rails, become branches. */
export function form(text) {
  const count = counter();
  const root = ["object", []];
  for (const pair of text.split("&").filter(Boolean)) {
    count();
    const [name, ...value] = pair.split("=").map(decodedPart);
    const path = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name);
    const names = path ? [path[1], ...[...path[2].matchAll(/\[([^\]]*)\]/g)].map(([, one]) => one)] : [name];
    let members = root[1];
    for (const [index, one] of names.entries()) {
      if (index === names.length - 1) { members.push([one, ["string", value.join("=")]]); break; }
      const known = one === "" ? null : members.find(([other, inner]) => other === one && inner[0] === "object");
      if (known) [, [, members]] = known;
      else { const inner = ["object", []]; members.push([one, inner]); [, members] = inner; }
    }
  }
  return root;
}

/** A query of GraphQL (October 2021): operations and fragments with their selections. */
export function graphQL(text) {
  const count = counter();
  const found = [...text.matchAll(/#[^\n]*|"""[^]*?"""|"(?:\\.|[^"\\])*"|\.\.\.|[A-Za-z_]\w*|-?\d[\d.eE+-]*|[{}()[\]:!$@=|&]/g)].filter(([one]) => !one.startsWith("#"));
  const tokens = found.map(([one]) => one);
  let at = 0;
  const peek = () => tokens[at];
  const next = () => { count(); if (at >= tokens.length) throw new Error("the query ends too early"); at += 1; return tokens[at - 1]; };
  // The text from a bracket to its partner, as it is written.
  const bracketed = (open, close) => {
    const start = found[at].index;
    let depth = 0;
    do { const word = next(); if (word === open) depth += 1; if (word === close) depth -= 1; } while (depth > 0);
    return text.slice(start, found[at - 1].index + 1).replace(/\s+/g, " ");
  };
  const directives = () => { const all = []; while (peek() === "@") { next(); all.push("@" + next() + (peek() === "(" ? bracketed("(", ")") : "")); } return all.length ? " " + all.join(" ") : ""; };
  const selections = (depth) => {
    if (depth > DEEP) throw new Error("it is nested too deeply");
    const all = [];
    next();
    while (peek() !== "}") {
      let name = next();
      if (name === "...") { if (peek() === "on") { next(); name = `... on ${next()}`; } else if (/^[A-Za-z_]/.test(peek() ?? "")) name = `...${next()}`; } else if (peek() === ":") { next(); name += `: ${next()}`; }
      if (peek() === "(") name += bracketed("(", ")");
      name += directives();
      all.push([name, peek() === "{" ? selections(depth + 1) : ["word", ""]]);
    }
    next();
    return ["object", all];
  };
  const all = [];
  while (at < tokens.length) {
    let name = "";
    while (peek() !== "{") name += (name ? " " : "") + (peek() === "(" ? bracketed("(", ")") : next());
    all.push([name.replace(/ \(/g, "(") || "query", selections(0)]);
  }
  if (!all.length) throw new Error("there is no operation in it");
  return ["object", all];
}

/** The members of a JSON body that asks GraphQL, with its query as a tree; null for any other JSON. */
export function graphQLRequest(value) {
  if (value[0] === "array" && value[1].length) { const all = value[1].map(graphQLRequest); return all.includes(null) ? null : ["array", all]; }
  if (value[0] !== "object") return null;
  const query = value[1].find(([name, inner]) => name === "query" && inner[0] === "string");
  if (!query || !/[{]/.test(query[1][1]) || !/^\s*(?:query|mutation|subscription|fragment|\{|#)/.test(query[1][1])) return null;
  try { const tree = graphQL(query[1][1]); return ["object", value[1].map((member) => (member === query ? ["query", tree] : member))]; } catch { return null; }
}

function base64URL(text) { const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/")); return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(binary, (one) => one.charCodeAt(0))); }

/** The header and the claims of a JSON Web Token (RFC 7519), with times in words; null if the text is not one. The signature is not checked. */
export function jwt(text, parse) {
  const parts = /^([\w-]{4,})\.([\w-]{2,})\.([\w-]*)$/.exec(text.trim());
  if (!parts) return null;
  try {
    const [header, claims] = [parse(base64URL(parts[1])), parse(base64URL(parts[2]))];
    if (header[0] !== "object" || claims[0] !== "object") return null;
    const timed = claims[1].map(([name, value]) => [name, ["exp", "iat", "nbf", "auth_time"].includes(name) && value[0] === "number" && Number(value[1]) < 1e11 ? ["word", `${value[1]} (${new Date(Number(value[1]) * 1000).toISOString().replace(".000", "")})`] : value]);
    return ["object", [["header", header], ["claims", ["object", timed]], ["signature", ["word", parts[3] ? `${parts[3].length} characters, not checked` : "none"]]]];
  } catch { return null; }
}

/** The cookies of a Cookie field, or one Set-Cookie with its attributes. */
export function cookies(name, value) {
  const pairs = value.split(/;\s*/).filter(Boolean).map((pair) => { const [key, ...rest] = pair.split("="); return [key.trim(), rest.join("=")]; });
  return name === "set-cookie" ? pairs.map(([key, content], index) => [index ? `  ${key}` : key, content]) : pairs;
}
