// What the views of rules and paused messages say. Knows no elements, so that tests can read it.

/** The message of an error about a rule's text, and the line that it names; the line is null if it names none. */
export function ruleProblem(message) {
  const found = /^"the page" line (\d+): ([\s\S]*)$/.exec(message);
  return found ? { line: Number(found[1]), text: found[2] } : { line: null, text: message };
}

/** Where a rule is written. */
export function ruleSource(rule) {
  return rule.file === "the page" ? "added in the page" : `${rule.file.split("/").pop()}, line ${rule.line}`;
}

/** The counts of a rule. */
export function ruleCounts(rule) {
  if (!rule.enabled) return "off";
  if (!rule.matched) return "never matched";
  const words = [`matched ${rule.matched}`, `applied to ${rule.applied}`];
  if (rule.preceded) words.push(`${rule.preceded} taken by an earlier rule`);
  if (rule.displaced) words.push(`${rule.displaced} displaced by a fault`);
  return words.join(", ");
}

/** Milliseconds as a clock that runs shows them: tenths of seconds, or minutes and seconds. */
export function clock(value) {
  const tenths = Math.floor(Math.max(0, value) / 100);
  return tenths < 600 ? `${(tenths / 10).toFixed(1)} s` : `${Math.floor(tenths / 600)} min ${Math.floor((tenths % 600) / 10)} s`;
}

const STAGES = { request: "request", response: "answer", event: "event", clientMessage: "message from the client", serverMessage: "message from the server" };

export function stageWords(item) { return STAGES[item.stage] ?? item.stage; }

/** What may be decided about a message of a stage: names and labels. */
export function decisions(stage) {
  const all = [["pass", "Go on"], ["change", "Go on changed"], ["answer", "Answer"], ["drop", "Drop"]];
  return all.filter(([name]) => name !== "answer" || stage === "request");
}

/** Header fields as people type them, one a line, without blank lines. */
export function fieldLines(text) { return text.split(/\r?\n/).filter((line) => line.trim() !== ""); }

/** The content that a decision sends: what people typed, and nothing that they cannot change. */
export function contentOf(stage, typed, shown) {
  const content = {};
  if (stage === "request") { content.method = typed.method.trim(); content.url = typed.url.trim(); }
  if (stage === "response") { content.status = Number(typed.status); content.reason = typed.reason; }
  if (stage === "request" || stage === "response") content.headers = fieldLines(typed.headers);
  // A body that is not text is sent back only if it was replaced by text.
  if (typed.body !== undefined && (shown.body !== undefined || typed.body !== "")) content.body = typed.body;
  return content;
}

/** The content of an answer to a paused request. */
export function answerOf(typed) {
  return { status: Number(typed.status), headers: fieldLines(typed.headers), body: typed.body };
}
