// Parses bodies in a thread of its own, and answers questions about them.
import { parse, at, children, find } from "/core/json.js";
import * as formats from "/core/formats.js";

const roots = new Map();

/** A body of any kind as a tree of values. */
function read(bytes, format) {
  if (format === "msgpack") return formats.messagePack(bytes);
  if (format === "cbor") return formats.cbor(bytes);
  const text = new TextDecoder("utf-8", { fatal: false }).decode(bytes);
  if (format === "xml" || format === "html") return formats.xml(text, format === "html");
  if (format === "form") return formats.form(text);
  if (format === "graphql") { const value = text.trimStart().startsWith("{") ? null : formats.graphQL(text); if (value) return value; }
  const value = parse(text);
  return format === "graphql" ? formats.graphQLRequest(value) ?? value : value;
}

onmessage = ({ data }) => {
  try {
    if (data.drop) { roots.delete(data.drop); return; }
    if (data.bytes) roots.set(data.id, read(data.bytes, data.format));
    if (data.find !== undefined) { postMessage({ ask: data.ask, found: find(roots.get(data.id), data.find, data.most) }); return; }
    const value = at(roots.get(data.id), data.path);
    const isDeep = value[0] === "object" || value[0] === "array";
    postMessage({ ask: data.ask, kind: value[0], count: isDeep ? value[1].length : 0, text: isDeep ? "" : value[1], children: isDeep ? children(value, data.from, data.most) : [] });
  } catch (error) {
    postMessage({ ask: data.ask, problem: error.message });
  }
};
