// Shows the first rows of the cassette. Everything else that the page needs is asked for after that.
import { asked } from "../core/start.js";
import * as api from "../core/api.js";
import * as theme from "../core/theme.js";
import { Rows } from "../core/rows.js";
import { Grid } from "./grid.js";

theme.apply();
export const rows = new Rows(() => grid.schedule());
export const grid = new Grid(document.getElementById("rows"), rows);

asked?.then((state) => {
  // In a file that a killed recorder left, rows are not in the list's order.
  if (!state.list || !state.sorted) return;
  rows.reset(state.epoch, state.rows, null);
  rows.add(state.list);
  grid.update("The cassette holds no exchanges yet.");
}).catch(() => { /* the page says why */ }).then(painted).then(() => {
  api.keepToken();
  return import("../app.js");
});
if (!asked) import("../app.js");

/** Waits for the frame that shows the rows; a page in the background draws no frames, so not for long. */
function painted() {
  return new Promise((go) => { requestAnimationFrame(() => setTimeout(go)); setTimeout(go, 300); });
}
