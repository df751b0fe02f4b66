// Parses JSON as it was recorded: unlike JSON.parse, it keeps the spelling of numbers, the order of members and repeated names.
//
// A value is [kind, content]: object → [[name, value], …], array → [value, …], anything else → its text.

export function parse(text) {
  let offset = 0;
  let depth = 0;

  function fail(what) {
    const line = text.slice(0, offset).split("\n").length;
    throw new SyntaxError(`line ${line}: expected ${what}`);
  }
  function space() { while (offset < text.length && " \t\n\r".includes(text[offset])) offset += 1; }
  function string() {
    const start = offset;
    offset += 1;
    for (;;) {
      const character = text.charCodeAt(offset);
      if (Number.isNaN(character) || character < 0x20) fail("a quote");
      if (character === 0x5c) { offset += 2; continue; }
      offset += 1;
      if (character === 0x22) break;
    }
    const raw = text.slice(start, offset);
    return raw.includes("\\") ? JSON.parse(raw) : raw.slice(1, -1);
  }
  function value() {
    if (depth > 500) fail("less depth");
    space();
    const character = text[offset];
    if (character === "{") {
      offset += 1;
      depth += 1;
      const members = [];
      space();
      if (text[offset] === "}") { offset += 1; depth -= 1; return ["object", members]; }
      for (;;) {
        space();
        if (text[offset] !== '"') fail("a name");
        const name = string();
        space();
        if (text[offset] !== ":") fail("a colon");
        offset += 1;
        members.push([name, value()]);
        space();
        if (text[offset] === ",") { offset += 1; continue; }
        if (text[offset] !== "}") fail("a comma or a brace");
        offset += 1;
        depth -= 1;
        return ["object", members];
      }
    }
    if (character === "[") {
      offset += 1;
      depth += 1;
      const elements = [];
      space();
      if (text[offset] === "]") { offset += 1; depth -= 1; return ["array", elements]; }
      for (;;) {
        elements.push(value());
        space();
        if (text[offset] === ",") { offset += 1; continue; }
        if (text[offset] !== "]") fail("a comma or a bracket");
        offset += 1;
        depth -= 1;
        return ["array", elements];
      }
    }
    if (character === '"') return ["string", string()];
    const word = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/.exec(text.slice(offset, offset + 400));
    if (!word) fail("a value");
    let end = offset + word[0].length;
    // A number with more digits than anybody writes.
    if (word[0].length === 400) while (/[\d.eE+-]/.test(text[end] ?? "")) end += 1;
    const found = text.slice(offset, end);
    offset = end;
    return [/^[-\d]/.test(found) ? "number" : "word", found];
  }

  const root = value();
  space();
  if (offset < text.length) fail("the end");
  return root;
}

/** The value at the end of a path of indices. */
export function at(root, path) {
  let value = root;
  for (const place of path) value = value[0] === "object" ? value[1][place][1] : value[1][place];
  return value;
}

const PREVIEW = 2000;

/** Some of the children of a value, for a list: names, kinds, texts, and how many children each has. */
export function children(value, from, count) {
  return value[1].slice(from, from + count).map((entry, index) => {
    const [name, inner] = value[0] === "object" ? entry : [String(from + index), entry];
    const isDeep = inner[0] === "object" || inner[0] === "array";
    return { name, kind: inner[0], count: isDeep ? inner[1].length : 0, text: isDeep ? "" : inner[1].slice(0, PREVIEW), isCut: !isDeep && inner[1].length > PREVIEW };
  });
}

/** The places whose name or text contains a text, each with its path, the names on it, and what is there. */
export function find(root, text, most) {
  const wanted = text.toLowerCase();
  const found = [];
  const stack = [[root, [], [], ""]];
  while (stack.length && found.length < most) {
    const [value, path, names, name] = stack.pop();
    const isDeep = value[0] === "object" || value[0] === "array";
    if (path.length && (name.toLowerCase().includes(wanted) || (!isDeep && value[1].toLowerCase().includes(wanted)))) found.push({ path, names, text: isDeep ? "" : value[1].slice(0, 200) });
    if (!isDeep) continue;
    for (let index = value[1].length - 1; index >= 0; index -= 1) {
      const [inner, child] = value[0] === "object" ? value[1][index] : [String(index), value[1][index]];
      stack.push([child, [...path, index], [...names, inner], value[0] === "object" ? inner : ""]);
    }
  }
  return found;
}
