// Parses JSON in a thread of its own, and answers questions about it.
import { parse, at, children, find } from "/core/json.js";

const roots = new Map();

onmessage = ({ data }) => {
  try {
    if (data.drop) { roots.delete(data.drop); return; }
    if (data.bytes) roots.set(data.id, parse(new TextDecoder("utf-8", { fatal: false }).decode(data.bytes)));
    if (data.find !== undefined) { postMessage({ ask: data.ask, found: find(roots.get(data.id), data.find, data.most) }); return; }
    const value = at(roots.get(data.id), data.path);
    const isDeep = value[0] === "object" || value[0] === "array";
    postMessage({ ask: data.ask, kind: value[0], count: isDeep ? value[1].length : 0, text: isDeep ? "" : value[1], children: isDeep ? children(value, data.from, data.most) : [] });
  } catch (error) {
    postMessage({ ask: data.ask, problem: error.message });
  }
};
