// Asks for the state of the cassette and its first rows while the rest of the page is still loading.
import * as api from "./api.js";
import * as route from "./route.js";

// Enough for a tall window, and some below it.
const ROWS = 100;

const { filter, sort, descends } = route.read();
const isPlain = !filter.trim() && sort === "start" && !descends;

/** The state of the cassette, with rows unless the link has a filter or an order; null without a token. */
export const asked = api.hasToken ? api.json("/api/state" + (isPlain ? "?rows=" + ROWS : "")) : null;

// The page awaits it as well, and reports the error.
asked?.catch(() => {});
