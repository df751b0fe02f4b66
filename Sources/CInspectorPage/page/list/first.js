// What is on the screen first: the rows at the beginning of the cassette. What else the page does is loaded after that.
import { asked } from "../core/start.js";
import * as theme from "../core/theme.js";
import { Rows } from "../core/rows.js";
import { Grid } from "./grid.js";

theme.apply();
export const rows = new Rows(() => grid.schedule());
export const grid = new Grid(document.getElementById("rows"), rows);

asked?.then((state) => {
  // The order of a file that a killed recorder left is not that of the list.
  if (!state.list || !state.sorted) return;
  rows.reset(state.epoch, state.rows, null);
  rows.add(state.list);
  grid.update("The cassette holds no exchanges yet.");
}).catch(() => { /* the page says why */ }).then(() => import("../app.js"));
if (!asked) import("../app.js");
