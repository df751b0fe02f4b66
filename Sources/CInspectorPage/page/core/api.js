// The API of the inspector. The token comes in the fragment of the address, which browsers never send, and is kept in the session's
// storage. It is in no cookie, so that no navigation can reach a recorded body.

const KEY = "wiretape-token";
const inAddress = /(?:^#|&)token=([0-9a-f]+)/.exec(location.hash)?.[1];
const token = inAddress ?? sessionStorage.getItem(KEY);

export const hasToken = token !== null;

/** Moves the token out of the address into storage, where a reload finds it. This takes the browser several milliseconds. */
export function keepToken() {
  if (!inAddress) return;
  sessionStorage.setItem(KEY, inAddress);
  history.replaceState(null, "", location.pathname + "#/");
}

export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// The tab in front. What belongs to the page as a whole, or names its tab, is left as it is.
let tab = 0;
const SHARED = /^\/api\/(?:live|tabs|uploads|diffs\?all|t\/)/;

export function setTab(id) { tab = id; }

/** The path of a tab's cassette. */
export function of(id, path) { return id ? path.replace(/^\/api\//, `/api/t/${id}/`) : path.replace(/^\/api\//, "/api/t/0/"); }

/** The path of the cassette in front, for requests that are made later. */
export function here(path) { return tab ? of(tab, path) : path; }

async function ask(asked, options = {}) {
  const path = asked.startsWith("/api/") && !SHARED.test(asked) ? here(asked) : asked.replace(/^\/api\/t\/0\//, "/api/");
  const headers = { Authorization: "Bearer " + token, ...options.headers };
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "away", "wiretape does not answer: is it still running?");
  }
  if (response.ok) return response;
  let problem = { code: "failed", message: "the inspector answered with " + response.status };
  try { problem = (await response.json()).error; } catch { /* not an answer of the API */ }
  throw new Refusal(response.status, problem.code, problem.message);
}

export async function json(path, signal) { return (await ask(path, { signal })).json(); }

export async function post(path, body, signal, headers = {}) {
  return ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers }, signal });
}

/** Sends bytes as they are. */
export async function put(path, array, signal) { return ask(path, { method: "POST", body: array, headers: { "Content-Type": "application/octet-stream" }, signal }); }

/** The bytes from one offset up to another, and the total size. */
export async function range(path, from, to, signal) {
  try {
    const response = await ask(path, { headers: { Range: `bytes=${from}-${to - 1}` }, signal });
    const all = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "");
    const array = new Uint8Array(await response.arrayBuffer());
    return { array, size: all ? Number(all[1]) : array.length };
  } catch (error) {
    if (error instanceof Refusal && error.status === 416) return { array: new Uint8Array(0), size: 0 };
    throw error;
  }
}

export async function whole(path, signal) { return new Uint8Array(await (await ask(path, { signal })).arrayBuffer()); }
export async function get(path, signal) { return ask(path, { signal }); }
export async function text(path, signal) { return (await ask(path, { signal })).text(); }
export async function buffer(path) { return (await ask(path)).arrayBuffer(); }

/** Calls `take` with each line of JSON as it comes. */
export async function lines(response, take) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    rest += value;
    const parts = rest.split("\n");
    rest = parts.pop();
    for (const part of parts) if (part) take(JSON.parse(part));
  }
}

/** Passes on the feed's ticks as long as the page is open, and connects again after a break. */
export async function follow(tick, broken) {
  for (let pause = 250; ; pause = Math.min(pause * 2, 5000)) {
    try {
      const response = await ask("/api/live");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        rest += value;
        const events = rest.split("\n\n");
        rest = events.pop();
        for (const event of events) if (event.startsWith("data: ")) tick(JSON.parse(event.slice(6)));
        pause = 250;
      }
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return broken(error, true);
    }
    broken(null, false);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
