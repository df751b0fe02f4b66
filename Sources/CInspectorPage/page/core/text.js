// Recorded text as people may see it: characters that would hide, move or reverse text are spelled out. Everything recorded reaches the
// page through this module or through textContent, never as HTML.

// Control characters other than tabs and line ends, and whatever is invisible or changes the direction of text: RFC 9110 allows none of
// them in fields, and Unicode (UAX 9 and UTS 39) lists them as means to deceive. Joiners are left alone: words and emoji need them.
const SPECIAL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffd]|[\u{e0000}-\u{e007f}]/gu;
const SECRET = /\{\{[\w.-]{1,64}:0*\d{1,10}\}\}/g;

export function spell(character) {
  const code = character.codePointAt(0);
  if (code < 0x100) return "\\x" + code.toString(16).padStart(2, "0");
  return "\\u" + (code > 0xffff ? "{" + code.toString(16) + "}" : code.toString(16).padStart(4, "0"));
}

/** The text as one line, without elements, for titles and labels. */
export function plain(text) {
  return String(text).replace(SPECIAL, spell).replace(/[\t\n\r]/g, spell);
}

/** Splits a text into parts shown as they are, parts spelled out, and placeholders. */
export function pieces(text, { lines = false } = {}) {
  const special = lines ? SPECIAL : new RegExp(SPECIAL.source + "|[\\t\\n\\r]", "gu");
  const found = [];
  for (const match of text.matchAll(special)) {
    if (lines && match[0] === "\r" && text[match.index + 1] === "\n") { found.push([match.index, 1, "", "gone"]); continue; }
    found.push([match.index, match[0].length, spell(match[0]), "ctl"]);
  }
  for (const match of text.matchAll(SECRET)) found.push([match.index, match[0].length, match[0], "secret"]);
  found.sort((a, b) => a[0] - b[0]);
  const result = [];
  let offset = 0;
  for (const [index, length, shown, kind] of found) {
    if (index < offset) continue;
    if (index > offset) result.push(["text", text.slice(offset, index)]);
    if (kind !== "gone") result.push([kind, shown]);
    offset = index + length;
  }
  if (offset < text.length) result.push(["text", text.slice(offset)]);
  return result;
}

const UNITS = ["KB", "MB", "GB", "TB"];

export function bytes(count) {
  if (count == null) return "";
  if (count < 1000) return count + " B";
  let value = count;
  let unit = -1;
  while (value >= 999.5 && unit < UNITS.length - 1) { value /= 1000; unit += 1; }
  return (value < 9.95 ? value.toFixed(1) : Math.round(value)) + " " + UNITS[unit];
}

export function milliseconds(value) {
  if (value == null) return "";
  if (value < 1) return value.toFixed(2) + " ms";
  if (value < 9.95) return value.toFixed(1) + " ms";
  if (value < 1000) return Math.round(value) + " ms";
  if (value < 60000) return (value / 1000).toFixed(value < 9950 ? 2 : 1) + " s";
  return Math.floor(value / 60000) + " min " + Math.round((value % 60000) / 1000) + " s";
}

export function number(value) { return value.toLocaleString("en-US"); }

export function count(value, noun, plural = noun + "s") { return number(value) + " " + (value === 1 ? noun : plural); }

/** Quotes words for a shell. */
export function commandLine(...words) {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** A hex dump in rows of sixteen bytes: offset, digits, characters. */
export function hex(array, start) {
  const rows = [];
  for (let offset = 0; offset < array.length; offset += 16) {
    const row = array.subarray(offset, offset + 16);
    let digits = "";
    let characters = "";
    for (let index = 0; index < 16; index += 1) {
      if (index === 8) digits += " ";
      digits += index < row.length ? row[index].toString(16).padStart(2, "0") + " " : "   ";
      if (index < row.length) characters += row[index] >= 0x20 && row[index] < 0x7f ? String.fromCharCode(row[index]) : ".";
    }
    rows.push((start + offset).toString(16).padStart(8, "0") + "  " + digits + " " + characters);
  }
  return rows.join("\n");
}
