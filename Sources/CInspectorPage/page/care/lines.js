// Finds the lines in which two texts differ.

/** The most cells of the table for the longest common lines; beyond, all lines from the first to the last difference count as changed. */
const CELLS = 250_000;

/** Lists [mark, line number in its text, line]: "-" for lines only in `before`, "+" for those only in `after`. */
export function changedLines(before, after) {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  const left = old.slice(start, old.length - end);
  const right = fresh.slice(start, fresh.length - end);
  const common = left.length * right.length <= CELLS ? table(left, right) : null;
  const changes = [];
  let [one, other] = [0, 0];
  while (one < left.length || other < right.length) {
    if (common && one < left.length && other < right.length && left[one] === right[other]) { one += 1; other += 1; continue; }
    const removes = one < left.length && (!common || other >= right.length || common[one + 1][other] >= common[one][other + 1]);
    if (removes) { changes.push(["-", start + one + 1, left[one]]); one += 1; } else { changes.push(["+", start + other + 1, right[other]]); other += 1; }
  }
  return changes;
}

/** For each pair of places, how many lines the remainders of both texts have in common. */
function table(left, right) {
  const rows = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let one = left.length - 1; one >= 0; one -= 1) {
    for (let other = right.length - 1; other >= 0; other -= 1) {
      rows[one][other] = left[one] === right[other] ? rows[one + 1][other + 1] + 1 : Math.max(rows[one + 1][other], rows[one][other + 1]);
    }
  }
  return rows;
}

/** The offset of a line and column in a text; both count from 1. */
export function offset(text, line, column = 1) {
  let place = 0;
  for (let index = 1; index < line; index += 1) {
    const next = text.indexOf("\n", place);
    if (next < 0) return text.length;
    place = next + 1;
  }
  // Columns count characters, some of which have two code units.
  const rest = [...text.slice(place, (text.indexOf("\n", place) + 1 || text.length + 1) - 1)].slice(0, column - 1).join("");
  return place + rest.length;
}
