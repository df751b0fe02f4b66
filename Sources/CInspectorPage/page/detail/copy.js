import * as api from "../core/api.js";
import { commandLine } from "../core/text.js";

/** The forms in which a request can be copied. */
export const FORMS = [["curl", "curl"], ["fetch", "fetch (JavaScript)"], ["requests", "Python requests"], ["httpx", "Python httpx"], ["swift", "Swift (URLSession)"], ["httpie", "HTTPie"], ["raw", "raw HTTP"]];

// What every library writes by itself; a second one would be wrong.
const OWN = /^(host|content-length|connection|proxy-connection|transfer-encoding|expect|te|upgrade)$/i;
// A longer body does not fit into a command.
const LONGEST = 1 << 20;

/** A request as the text of a program or a command that sends it. */
export async function copied(exchange, form, path = "FILE") {
  if (form === "curl") return withFiles(await api.text(`${exchange.base}/curl`), exchange, path);
  const { request } = exchange;
  const fields = request.headers.map((line) => { const colon = line.indexOf(":"); return [line.slice(0, colon), line.slice(colon + 1).trim()]; }).filter(([name]) => name);
  let body = null;
  if (request.body?.size) {
    const { array, size } = await api.range(`${exchange.base}/request/body?as=raw`, 0, LONGEST);
    if (size > array.length) throw new Error("the body is too long to copy: export the list as curl commands, or save the body");
    body = array;
  }
  return WRITERS[form]({ method: request.method, url: request.url, fields: form === "raw" ? fields : fields.filter(([name]) => !OWN.test(name)), body, version: request.version });
}

/** A curl command that needs no file, or says how to get those that it sends: curl sends an empty body if one is missing. */
async function withFiles(command, exchange, path) {
  const folder = `wiretape-${exchange.number}`;
  const whole = `--data-binary '@${folder}/${exchange.number}-request.bytes'\n`;
  if (command.endsWith(whole)) {
    const { array, size } = await api.range(`${exchange.base}/request/body?as=raw`, 0, LONGEST);
    if (size <= array.length) return command.slice(0, -whole.length).replace(/^curl /m, `printf %s ${word(base64(array))} | base64 -d | curl `) + "--data-binary @-\n";
  }
  if (!command.includes(`"${folder}/${exchange.number}-request-`) && !command.endsWith(whole)) return command;
  return `# first, for the files that it sends: ${commandLine("wiretape", "show", path, String(exchange.number), "--curl", "--files", folder)} > /dev/null\n${command}`;
}

/** The bytes as text; null if they are no UTF-8 text. */
function textOf(bytes) {
  try { const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes); return text.includes("\0") ? null : text; } catch { return null; }
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

const quoted = JSON.stringify;
function word(text) { return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`; }
// Swift knows neither \b nor \f, and writes characters as \u{8}.
function swift(text) { return quoted(text).replace(/\\(?:u([0-9a-f]{4})|b|f|.)/gi, (all, digits) => (digits ? `\\u{${digits}}` : all === "\\b" ? "\\u{8}" : all === "\\f" ? "\\u{c}" : all)); }

function python(library, request) {
  const body = request.body && textOf(request.body);
  const bytes = request.body === null ? null : body === null ? `base64.b64decode(${quoted(base64(request.body))})` : `${quoted(body)}.encode()`;
  // Python writes texts in header fields as Latin-1 or ASCII alone.
  const value = (text) => (/^[\x00-\x7f]*$/.test(text) ? quoted(text) : `${quoted(text)}.encode()`);
  const headers = library === "httpx" ? `[\n${request.fields.map(([name, text]) => `        (${quoted(name)}, ${value(text)}),\n`).join("")}    ]`
    : `{\n${Object.entries(joined(request.fields)).map(([name, text]) => `        ${quoted(name)}: ${value(text)},\n`).join("")}    }`;
  return [
    ...(bytes?.startsWith("base64") ? ["import base64"] : []), `import ${library}`, "",
    `response = ${library}.request(`, `    ${quoted(request.method)},`, `    ${quoted(request.url)},`, `    headers=${headers},`,
    ...(bytes === null ? [] : [`    ${library === "httpx" ? "content" : "data"}=${bytes},`]), ...(library === "requests" ? ["    allow_redirects=False,"] : []), ")",
    "print(response.status_code, response.text)", "",
  ].join("\n");
}

/** Fields by name; those that occur several times are joined, since a dictionary holds one of them. */
function joined(fields) {
  const all = {};
  for (const [name, value] of fields) all[name] = all[name] === undefined ? value : `${all[name]}${/^cookie$/i.test(name) ? "; " : ", "}${value}`;
  return all;
}

const WRITERS = {
  fetch(request) {
    if (request.body && /^(?:GET|HEAD)$/.test(request.method)) throw new Error(`fetch sends no body with ${request.method}: copy another form`);
    const text = request.body && textOf(request.body);
    // Each character of a field is a byte.
    const value = (one) => quoted(String.fromCharCode(...new TextEncoder().encode(one)));
    const lines = [`  method: ${quoted(request.method)},`, `  headers: [\n${request.fields.map(([name, one]) => `    [${quoted(name)}, ${value(one)}],\n`).join("")}  ],`];
    if (request.body) lines.push(text === null ? `  body: Uint8Array.from(atob(${quoted(base64(request.body))}), (one) => one.charCodeAt(0)),` : `  body: ${quoted(text)},`);
    return `const response = await fetch(${quoted(request.url)}, {\n${lines.join("\n")}\n  redirect: "manual",\n});\nconsole.log(response.status, await response.text());\n`;
  },
  requests: (request) => python("requests", request),
  httpx: (request) => python("httpx", request),
  swift(request) {
    const text = request.body && textOf(request.body);
    return ["import Foundation", "", `var request = URLRequest(url: URL(string: ${swift(request.url)})!)`, `request.httpMethod = ${swift(request.method)}`,
      ...request.fields.map(([name, value]) => `request.addValue(${swift(value)}, forHTTPHeaderField: ${swift(name)})`),
      ...(request.body ? [text === null ? `request.httpBody = Data(base64Encoded: ${swift(base64(request.body))})` : `request.httpBody = Data(${swift(text)}.utf8)`] : []),
      "let (data, response) = try await URLSession.shared.data(for: request)", "print((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))", ""].join("\n");
  },
  httpie(request) {
    const text = request.body && textOf(request.body);
    const source = request.body === null ? "" : text === null ? `printf %s ${word(base64(request.body))} | base64 -d | ` : `printf %s ${word(text)} | `;
    const odd = request.fields.find(([name, value]) => name.startsWith("-") || /\\[:;=@]/.test(value));
    if (odd) throw new Error(`HTTPie cannot send the field "${odd[0]}" as it is: copy another form`);
    // An empty value needs a semicolon in place of the colon. "@" would read a file, and "=" send JSON.
    return `${source}http${request.body === null ? " --ignore-stdin" : ""} ${[request.method, request.url, ...request.fields.map(([name, value]) => (value ? `${name}:${value.replace(/^[=@]/, "\\$&")}` : `${name};`))].map(word).join(" ")}\n`;
  },
  raw(request) {
    const target = /^[a-z]+:\/\/[^/?#]*(.*)$/i.exec(request.url)?.[1] || "/";
    // The body is without chunks; HTTP/2 has no Host.
    const fields = request.fields.filter(([name]) => !/^(?:transfer-encoding|content-length)$/i.test(name));
    if (!fields.some(([name]) => /^host$/i.test(name))) fields.unshift(["Host", /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(request.url)?.[1] ?? ""]);
    if (request.body || /^(?:POST|PUT|PATCH)$/.test(request.method)) fields.push(["Content-Length", String(request.body?.length ?? 0)]);
    const head = `${request.method} ${target.startsWith("/") ? target : "/" + target} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    if (!request.body) return head;
    const text = textOf(request.body);
    if (text === null) throw new Error("the body is not text, which the clipboard cannot hold as it is: save it, or copy another form");
    return head + text;
  },
};
