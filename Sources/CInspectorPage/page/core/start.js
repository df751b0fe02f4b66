// Asks how far the cassette is, and for the rows at its beginning, while the rest of the page is still loading.
import * as api from "./api.js";
import * as route from "./route.js";

// Of a tall window, and some below it.
const ROWS = 100;

const { filter, sort, descends } = route.read();
const isPlain = !filter.trim() && sort === "start" && !descends;

/** How far the cassette is, with rows unless the link has a filter or an order; null without a token. */
export const asked = api.hasToken ? api.json("/api/state" + (isPlain ? "?rows=" + ROWS : "")) : null;

// The page looks at it again, and says what is wrong.
asked?.catch(() => {});
