import { pieces } from "./text.js";

/** An element with properties and children; strings become text, never HTML. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key === "text") made.textContent = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child != null) made.append(child);
  return made;
}

/** Recorded text, with control characters spelled out and placeholders of secrets marked. */
export function recorded(text, options) {
  const fragment = document.createDocumentFragment();
  for (const [kind, shown] of pieces(String(text), options)) {
    fragment.append(kind === "text" ? shown : element("span", { class: kind, text: shown }));
  }
  return fragment;
}

export function clear(parent, ...children) {
  parent.replaceChildren(...children.flat().filter((child) => child != null));
  return parent;
}

export function facts(lines) {
  return lines.length ? element("ul", { class: "facts" }, lines.map((line) => element("li", {}, recorded(line)))) : null;
}
