import { element, clear } from "./dom.js";

const dialog = document.getElementById("dialog");
let before = null;

function open(...content) {
  before = document.activeElement;
  clear(dialog, ...content);
  if (!dialog.open) dialog.showModal();
}

export function close() { if (dialog.open) dialog.close(); }

// The event comes late: something else may be in the dialog by then.
dialog.addEventListener("close", () => { if (dialog.open) return; dialog.onkeydown = null; clear(dialog); before?.focus?.(); });
dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });

export function help(commands) {
  open(element("h2", { id: "dialog-title", text: "Keys" }),
    element("table", {}, element("tbody", {}, commands.filter((one) => one.key).map((one) => element("tr", {}, element("th", { scope: "row" }, element("kbd", { text: one.key })), element("td", { text: one.label }))))),
    element("h3", { text: "Filters" }),
    element("p", { text: "As on the command line: ~m method, ~u url, ~d domain, ~c status, ~t type, ~b body, ~h header (~tq ~bq ~hq of the request, ~ts ~bs ~hs of the response), ~grpc status, ~websocket, ~a asset, ~q without a response, ~e cut or failed; !, &, | and parentheses; a pattern alone matches the URL." }),
    element("button", { type: "button", text: "Close", onclick: close, autofocus: true }));
  // The focus is on the button at the end, which the browser has scrolled to.
  dialog.scrollTop = 0;
}

/** Offers all commands by name. */
export function palette(commands) {
  let place = 0;
  let shown = [];
  const list = element("ul", { class: "palette", role: "listbox", id: "palette", "aria-label": "Commands" });
  const input = element("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "palette", "aria-label": "Command", autocomplete: "off", autofocus: true });
  // Runs after the dialog's own handler, which empties it.
  const run = (command) => { dialog.addEventListener("close", () => command.run(), { once: true }); close(); };
  const render = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = commands.filter((one) => words.every((word) => one.label.toLowerCase().includes(word)));
    place = Math.min(place, Math.max(0, shown.length - 1));
    clear(list, shown.map((one, index) => element("li", { role: "option", id: "command-" + index, "aria-selected": String(index === place), onclick: () => run(one) }, one.label, one.key ? element("kbd", { text: one.key }) : null)));
    if (shown.length) input.setAttribute("aria-activedescendant", "command-" + place);
    else input.removeAttribute("aria-activedescendant");
    list.children[place]?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => { place = 0; render(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      place = (place + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % Math.max(1, shown.length);
      render();
      event.preventDefault();
    } else if (event.key === "Enter" && shown[place]) { event.preventDefault(); run(shown[place]); }
  });
  open(element("h2", { id: "dialog-title", text: "Commands" }), input, list);
  render();
  input.focus();
}

/** Offers a few things to do, each [label, function]. */
export function choose(title, choices) {
  const buttons = choices.map(([label, run]) => element("button", { type: "button", class: "choice", text: label, onclick: () => { dialog.addEventListener("close", run, { once: true }); close(); } }));
  open(element("h2", { id: "dialog-title", text: title }), element("div", { class: "palette" }, buttons), element("button", { type: "button", text: "Close", onclick: close }));
  buttons[0].focus();
  dialog.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const place = buttons.indexOf(document.activeElement);
    if (!step || place < 0) return;
    event.preventDefault();
    buttons[(place + step + buttons.length) % buttons.length].focus();
  };
}

/** Something that takes a while, and can be cancelled. */
export function wait(title, cancel, ...content) {
  open(element("h2", { id: "dialog-title", text: title }), ...content, element("button", { type: "button", text: "Cancel", onclick: () => { cancel(); close(); } }));
}

/** A list of choices or results in the dialog. */
export function show(title, ...content) {
  open(element("h2", { id: "dialog-title", text: title }), ...content, element("button", { type: "button", text: "Close", onclick: close }));
}
