// The modules of the page that need no browser: node --test modules.test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";

const page = new URL("../../../Sources/CInspectorPage/page/", import.meta.url);
// Node takes a file without a package for a script.
async function load(path) {
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(new URL(path, page), "utf8");
  return import("data:text/javascript;base64," + Buffer.from(text).toString("base64"));
}

const json = await load("core/json.js");
const text = await load("core/text.js");
const lines = await load("care/lines.js");
const words = await load("traffic/words.js");
const formats = await load("core/formats.js");

test("numbers, names and their order stay as they were sent", () => {
  const value = json.parse('{"b": 12345678901234567890, "a": 1.10, "b": -0e1, "": [true, null, "\\u00e9"]}');
  assert.deepEqual(value, ["object", [["b", ["number", "12345678901234567890"]], ["a", ["number", "1.10"]], ["b", ["number", "-0e1"]], ["", ["array", [["word", "true"], ["word", "null"], ["string", "é"]]]]]]);
});

test("a name that objects of JavaScript have is a name", () => {
  assert.deepEqual(json.parse('{"__proto__": {"x": 1}, "constructor": 2}')[1].map(([name]) => name), ["__proto__", "constructor"]);
});

test("what is not JSON is refused", () => {
  for (const bad of ["", "{", "[1,]", '{"a" 1}', "01", "1 2", '"\n"', "tru", "{'a': 1}", "[".repeat(600) + "]".repeat(600), '"a', "nan"]) {
    assert.throws(() => json.parse(bad), SyntaxError, bad);
  }
});

test("children are listed piece by piece", () => {
  const value = json.parse(`[${Array.from({ length: 1000 }, (_, index) => index).join(",")}]`);
  assert.deepEqual(json.children(value, 998, 10).map((one) => [one.name, one.text]), [["998", "998"], ["999", "999"]]);
  assert.equal(json.children(["array", [["string", "x".repeat(5000)]]], 0, 1)[0].isCut, true);
  assert.deepEqual(json.at(json.parse('{"a": [1, {"b": 2}]}'), [0, 1, 0]), ["number", "2"]);
});

test("a very long number is read to its end", () => {
  const digits = "1".repeat(5000);
  assert.deepEqual(json.parse(`[${digits}]`), ["array", [["number", digits]]]);
});

test("control and direction characters are spelled out", () => {
  assert.equal(text.plain("a\u202eb\u0000c\u001bd\u2066"), "a\\u202eb\\x00c\\x1bd\\u2066");
  assert.equal(text.plain("line\nnext\t"), "line\\x0anext\\x09");
  assert.deepEqual(text.pieces("a\nb\u0007", { lines: true }), [["text", "a\nb"], ["ctl", "\\x07"]]);
  assert.deepEqual(text.pieces("a\r\nb\rc", { lines: true }), [["text", "a"], ["text", "\nb"], ["ctl", "\\x0d"], ["text", "c"]]);
  assert.deepEqual(text.pieces("안녕 مرحبا 👩‍💻"), [["text", "안녕 مرحبا 👩‍💻"]], "letters and joiners stay");
});

test("placeholders are marked", () => {
  assert.deepEqual(text.pieces("Bearer {{access_token:1}}!"), [["text", "Bearer "], ["secret", "{{access_token:1}}"], ["text", "!"]]);
  assert.deepEqual(text.pieces("{{not one}}"), [["text", "{{not one}}"]]);
});

test("sizes and times have three digits", () => {
  assert.deepEqual([0, 999, 1000, 12_345, 999_600, 5_000_000_000].map(text.bytes), ["0 B", "999 B", "1.0 KB", "12 KB", "1.0 MB", "5.0 GB"]);
  assert.deepEqual([0.25, 5, 99.6, 1234, 61_000].map(text.milliseconds), ["0.25 ms", "5.0 ms", "100 ms", "1.23 s", "1 min 1 s"]);
  assert.equal(text.bytes(null), "");
});

test("bytes are shown in rows of sixteen", () => {
  const rows = text.hex(Uint8Array.from({ length: 18 }, (_, index) => index + 60), 256).split("\n");
  assert.equal(rows.length, 2);
  assert.ok(rows[0].startsWith("00000100  3c 3d") && rows[0].endsWith(" <=>?@ABCDEFGHIJK"));
  assert.ok(rows[1].startsWith("00000110  4c 4d ") && rows[1].endsWith(" LM"));
});

test("lines that differ are told apart from those between them", () => {
  assert.deepEqual(lines.changedLines("a\nb\nc\nd", "a\nB\nc\nd\ne"), [["-", 2, "b"], ["+", 2, "B"], ["+", 5, "e"]]);
  assert.deepEqual(lines.changedLines("a\nb", "a\nb"), []);
  const many = Array.from({ length: 600 }, (_, index) => `line ${index}`).join("\n");
  assert.equal(lines.changedLines(many, many.replaceAll("line", "row")).length, 1200);
});

test("a line and a column lead to their place, whatever the characters are", () => {
  assert.equal(lines.offset("ab\ncd", 2, 2), 4);
  assert.equal(lines.offset("😀x\ny", 1, 2), 2);
  assert.equal(lines.offset("a\nb", 1, 9), 1);
  assert.equal(lines.offset("a\nb", 7), 3);
});

test("an error about a rule names its line", () => {
  assert.deepEqual(words.ruleProblem('"the page" line 3: "block" is "x"; write a status'), { line: 3, text: '"block" is "x"; write a status' });
  assert.deepEqual(words.ruleProblem("the rules have changed"), { line: null, text: "the rules have changed" });
});

test("a rule says where it is from and what it did", () => {
  assert.equal(words.ruleSource({ file: "/work/wiretape.yaml", line: 7 }), "wiretape.yaml, line 7");
  assert.equal(words.ruleSource({ file: "the page", line: 1 }), "added in the page");
  const rule = { enabled: true, matched: 0, applied: 0, preceded: 0 };
  assert.equal(words.ruleCounts(rule), "never matched");
  assert.equal(words.ruleCounts({ ...rule, matched: 3, applied: 1, preceded: 2 }), "matched 3, applied to 1, 2 taken by an earlier rule");
  assert.equal(words.ruleCounts({ ...rule, matched: 2, applied: 1, displaced: 1 }), "matched 2, applied to 1, 1 displaced by a fault");
  assert.equal(words.ruleCounts({ ...rule, enabled: false }), "off");
});

test("clocks have tenths, and never go below zero", () => {
  assert.deepEqual([-5, 0, 1234, 59_940, 61_000].map(words.clock), ["0.0 s", "0.0 s", "1.2 s", "59.9 s", "1 min 1 s"]);
});

test("events and messages cannot be answered, nor can an answer", () => {
  assert.deepEqual(words.decisions("request").map(([name]) => name), ["pass", "change", "answer", "drop"]);
  for (const stage of ["response", "event", "clientMessage", "serverMessage"]) assert.deepEqual(words.decisions(stage).map(([name]) => name), ["pass", "change", "drop"]);
});

test("what people did not change is not sent", () => {
  const typed = { method: " PUT ", url: "http://a/ ", headers: "A: 1\r\n\nB: 2\n", body: "" };
  assert.deepEqual(words.contentOf("request", typed, { body: "x" }), { method: "PUT", url: "http://a/", headers: ["A: 1", "B: 2"], body: "" });
  // Bytes that are no text stay as they are.
  assert.deepEqual(words.contentOf("response", { status: "201", reason: "", headers: "", body: "" }, { base64: "AP8=" }), { status: 201, reason: "", headers: [] });
  assert.deepEqual(words.contentOf("event", { body: "data: 1" }, { body: "data: 0" }), { body: "data: 1" });
  assert.deepEqual(words.contentOf("serverMessage", {}, { note: "it is too long" }), {});
  assert.deepEqual(words.answerOf({ status: "503", headers: "Retry-After: 1", body: "no" }), { status: 503, headers: ["Retry-After: 1"], body: "no" });
});

const bytes = (hex) => Uint8Array.from(hex.replaceAll(" ", "").match(/../g) ?? [], (two) => parseInt(two, 16));

test("MessagePack is read, and what is none is refused", () => {
  assert.deepEqual(formats.messagePack(bytes("82 a1 61 01 a1 62 93 c0 c3 ff")), ["object", [["a", ["number", "1"]], ["b", ["array", [["word", "null"], ["word", "true"], ["number", "-1"]]]]]]);
  assert.deepEqual(formats.messagePack(bytes("cf ffffffffffffffff")), ["number", "18446744073709551615"]);
  assert.deepEqual(formats.messagePack(bytes("d6 ff 69573f70")), ["word", "timestamp 2026-01-02T03:45:52.000Z"]);
  for (const bad of ["", "92 01", "c1", "a5 61", "df ffffffff", "91".repeat(5000)]) assert.throws(() => formats.messagePack(bytes(bad)), Error, bad);
});

test("CBOR is read as RFC 8949 has it", () => {
  assert.deepEqual(formats.cbor(bytes("a2 61 61 01 61 62 82 02 03")), ["object", [["a", ["number", "1"]], ["b", ["array", [["number", "2"], ["number", "3"]]]]]]);
  assert.deepEqual(formats.cbor(bytes("3b ffffffffffffffff")), ["number", "-18446744073709551616"]);
  assert.deepEqual(formats.cbor(bytes("f9 3e00")), ["number", "1.5"]);
  assert.deepEqual(formats.cbor(bytes("7f 65 7374726561 64 6d696e67 ff")), ["string", "streaming"]);
  assert.deepEqual(formats.cbor(bytes("9f 01 82 02 03 ff")), ["array", [["number", "1"], ["array", [["number", "2"], ["number", "3"]]]]]);
  assert.deepEqual(formats.cbor(bytes("c1 1a 514b67b0")), ["object", [["tag 1", ["number", "1363896240"]]]]);
  for (const bad of ["", "a1", "1c", "5f", "9a ffffffff", "81".repeat(5000)]) assert.throws(() => formats.cbor(bytes(bad)), Error, bad);
});

test("XML is a tree of elements, attributes and texts, and opens nothing", () => {
  assert.deepEqual(formats.xml('<?xml version="1.0"?><!DOCTYPE a><a b="1 &lt; 2"><c/>x<!-- <d> --><c>&#65;&amp;&x;</c><![CDATA[<e>]]></a>'),
    ["object", [["a", ["object", [["@b", ["string", "1 < 2"]], ["c", ["object", []]], ["#text", ["string", "x"]], ["c", ["string", "A&&x;"]], ["#text", ["string", "<e>"]]]]]]]);
  assert.deepEqual(formats.xml("<p>a<br>b<img src=x></p>", true), ["object", [["p", ["object", [["#text", ["string", "a"]], ["br", ["object", []]], ["#text", ["string", "b"]], ["img", ["object", [["@src", ["string", "x"]]]]]]]]]]);
  for (const bad of ["", "text", "<a>", "</a>", "<a></b>", "<a>".repeat(300)]) assert.throws(() => formats.xml(bad), Error, bad);
});

test("forms, tokens, cookies and queries of GraphQL are taken apart", () => {
  assert.deepEqual(formats.form("a[b]=1&a[c][]=2&a[c][]=3&d=%ED%95%9C+x"), ["object", [["a", ["object", [["b", ["string", "1"]], ["c", ["object", [["", ["string", "2"]], ["", ["string", "3"]]]]]]]], ["d", ["string", "한 x"]]]]);
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  assert.equal(formats.jwt(`${part({ alg: "none" })}.${part({ exp: 1767322800 })}.abc`, json.parse)[1][1][1][1][0][1][1], "1767322800 (2026-01-02T03:00:00Z)");
  assert.equal(formats.jwt("a.b.c", json.parse), null);
  assert.equal(formats.jwt("abcd.efgh.", json.parse), null);
  assert.deepEqual(formats.cookies("set-cookie", "a=b=c; Path=/; Secure"), [["a", "b=c"], ["  Path", "/"], ["  Secure", ""]]);
  assert.deepEqual(formats.graphQL('{ a: pets(first: 2, tags: ["x"]) @skip(if: $n) { ...P ... on Cat { id } } } # x'), ["object", [["query", ["object", [['a: pets(first: 2, tags: ["x"]) @skip(if: $n)', ["object", [["...P", ["word", ""]], ["... on Cat", ["object", [["id", ["word", ""]]]]]]]]]]]]]);
  for (const bad of ["query", "{ a", "{".repeat(400)]) assert.throws(() => formats.graphQL(bad), Error, bad);
});
