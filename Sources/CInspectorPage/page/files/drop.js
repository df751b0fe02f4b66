import { element, clear, recorded } from "../core/dom.js";
import { bytes, count, plain } from "../core/text.js";
import * as api from "../core/api.js";
import * as dialogs from "../core/dialogs.js";

// Bytes in one request.
const PIECE = 8 << 20;
const MOST = 4000;
// What a browser or a file manager leaves in folders.
const JUNK = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini|__MACOSX)(\/|$)/;

/** The files of a drop, with those of folders: `[path, File]`. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => [file.name, file]);
  const found = [];
  const walk = async (entry, path) => {
    if (found.length >= MOST) return;
    if (entry.isFile) { found.push([path + entry.name, await new Promise((go, fail) => { entry.file(go, fail); })]); return; }
    const reader = entry.createReader();
    for (;;) {
      // A reader hands out a hundred entries at a time.
      const some = await new Promise((go, fail) => { reader.readEntries(go, fail); });
      if (!some.length) return;
      for (const one of some) await walk(one, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}

/** Opens files that are dropped or chosen: the inspector holds them in memory, and writes nothing until it is asked to save. */
export class Opener {
  /** - actions: `opened(ids, notes)`, `say(text)`, `opens()`. */
  constructor(actions) {
    this.actions = actions;
    this.files = this.input({ multiple: true }, "Files to open");
    this.folder = this.input({ webkitdirectory: true }, "A folder to open");
    this.overlay = element("div", { id: "overlay", hidden: true }, element("p", { text: "Drop HAR files, cassettes, flows of mitmproxy, or a folder, to open them here" }));
    document.body.append(this.files, this.folder, this.overlay);
    const isFiles = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => { if (!isFiles(event)) return; event.preventDefault(); this.overlay.hidden = false; });
    addEventListener("dragleave", (event) => { if (!event.relatedTarget) this.overlay.hidden = true; });
    addEventListener("drop", async (event) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      this.overlay.hidden = true;
      let files;
      try { files = await dropped(event.dataTransfer); } catch (error) { this.actions.say(`the browser cannot read these files: ${plain(error.message)}`); return; }
      this.open(files);
    });
  }

  input(properties, label) {
    const input = element("input", { type: "file", hidden: true, "aria-label": label, ...properties });
    input.addEventListener("change", () => {
      const files = [...input.files].map((file) => [file.webkitRelativePath || file.name, file]);
      input.value = "";
      this.open(files);
    });
    return input;
  }

  chooseFiles() { if (this.isAllowed()) this.files.click(); }
  chooseFolder() { if (this.isAllowed()) this.folder.click(); }

  isAllowed() {
    if (!this.actions.opens()) this.actions.say("this page opens no files: start wiretape inspect --web");
    return this.actions.opens();
  }

  /** - files: `[path, File]`. */
  async open(files) {
    const wanted = files.filter(([path]) => !JUNK.test(path));
    if (!wanted.length || !this.isAllowed()) return;
    if (wanted.length > MOST) return this.actions.say(`a page opens at most ${MOST} files at once`);
    const all = wanted.reduce((sum, [, file]) => sum + file.size, 0);
    const [first] = wanted[0][0].split("/");
    const name = wanted.length === 1 ? wanted[0][1].name : wanted.every(([path]) => path.startsWith(first + "/")) ? first : `${wanted.length} files`;
    const stop = new AbortController();
    const words = element("p", { role: "status" });
    const bar = element("progress", { max: Math.max(1, all), value: 0, "aria-label": "Bytes that were read" });
    const dialog = document.getElementById("dialog");
    // The event of an earlier dialog may come when this one is open.
    const close = () => { if (!dialog.open) stop.abort(); };
    dialogs.wait(`Opening ${plain(name)}`, () => stop.abort(), words, bar);
    dialog.addEventListener("close", close);
    try {
      let drop = null;
      let done = 0;
      for (const [path, file] of wanted) {
        let offset = 0;
        do {
          words.textContent = `${plain(path)}, ${bytes(done)} of ${bytes(all)}`;
          const array = new Uint8Array(await file.slice(offset, offset + PIECE).arrayBuffer());
          const query = new URLSearchParams({ name: path, offset, ...(drop === null ? {} : { drop }) });
          ({ drop } = await (await api.put("/api/tabs/upload?" + query.toString().replace(/\+/g, "%20"), array, stop.signal)).json());
          offset += array.length;
          done += array.length;
          bar.value = done;
          if (!array.length) break;
        } while (offset < file.size);
      }
      words.textContent = `${count(wanted.length, "file")} read: looking at what is in ${wanted.length === 1 ? "it" : "them"}`;
      let last = {};
      await api.lines(await api.post("/api/tabs/open", { drop, name }, stop.signal), (line) => { last = line; if (line.read) words.textContent = `${count(line.read, "exchange")} read`; });
      if (!last.opened) throw new Error(last.problem ?? "the inspector has stopped");
      const { opened, notes } = last;
      dialog.removeEventListener("close", close);
      dialogs.close();
      this.actions.opened(opened, notes);
    } catch (error) {
      dialog.removeEventListener("close", close);
      if (error.name === "AbortError") { this.actions.say("nothing was opened"); return; }
      clear(words, element("span", { class: "problem" }, recorded(error.message)));
      bar.hidden = true;
    }
  }

  /** What a page without a cassette shows. */
  welcome(records, record) {
    return [
      element("h2", { text: "Nothing is open yet" }),
      element("p", { text: "Drop HAR files, cassettes, flows of mitmproxy, other tools' recordings, or a folder on this page. They are held in memory, and nothing is written until you save it." }),
      element("p", { class: "viewer-bar" }, element("button", { type: "button", text: "Open files…", title: "o", onclick: () => this.chooseFiles() }), element("button", { type: "button", text: "Open a folder…", onclick: () => this.chooseFolder() }),
        records ? element("button", { type: "button", text: "Start a recording", onclick: record }) : null),
    ];
  }
}
