// The state of the page in its address: #/x/KEY/TAB?f=FILTER&s=SORT. A link restores it.

export function read() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter(Boolean);
  const values = new URLSearchParams(query);
  const key = parts[0] === "x" ? Number(parts[1]) : NaN;
  return {
    key: Number.isInteger(key) && key > 0 ? key : null, tab: parts[2] ?? null, filter: values.get("f") ?? "",
    sort: values.get("s") ?? "start", descends: values.get("d") === "1", cassette: Number(values.get("t")) || 0,
  };
}

export function write(place, replaces = true) {
  const values = new URLSearchParams();
  if (place.filter) values.set("f", place.filter);
  if (place.sort && place.sort !== "start") values.set("s", place.sort);
  if (place.descends) values.set("d", "1");
  if (place.cassette) values.set("t", place.cassette);
  const query = values.toString();
  const hash = "#/" + (place.key ? `x/${place.key}${place.tab ? "/" + place.tab : ""}` : "") + (query ? "?" + query : "");
  if (hash === location.hash) return;
  if (replaces) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
}
