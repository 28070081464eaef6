// Views with files: a file that is dropped there or chosen, its first rows, where its words are, and code to copy.
import { write } from "./address.js";
import { ask, attempt } from "./ask.js";
import { element } from "./elements.js";

const MOST_BYTES = 2 ** 26;
const MOST_COLUMNS = 40; // that are shown

/**
 * Lets a view take files. `example` is { name, about, settings, content() }: the file to begin with, and what it needs in
 * the form. `command` takes larger files, `receipts` says whether a receipt can come with a file, and `answers` are the
 * parts that show answers. Functions: `stop(whole)` ends what is under way, with a new file the whole of it; `cleared()`
 * forgets answers; `more(content)` is what else to keep of a file, and `looked(file)` takes what was found in it;
 * `missing()` says what is; `ready(yes)` is called when the form has changed, and `reset()` when the file is forgotten.
 */
export function fileView(view, form, example, { command, receipts, answers, stop, cleared, more, looked, missing, ready, reset }) {
  const { at } = form;
  const own = { file: null, show, changed, hint, refuse }; // file: { name, content, own, given, columns, rows, … }, in memory
  let wanted = new URLSearchParams(); // settings that came with the address, until there is a file of one's own

  /** Show the view with the settings of the address. */
  async function show(given) {
    if (own.file === null) {
      wanted = given;
      await openExample(() => form.fill(given));
    } else { // the view was open before, with settings that stay unless the address has others
      form.fill(given);
      form.fill(given, own.file.columns);
      changed();
    }
  }

  async function openExample(then) {
    for (const [name, value] of Object.entries(example.settings)) at(name).value = value;
    then();
    await open([new File([await example.content()], example.name)], false);
  }

  /** Take a file, and its receipt if it is among the chosen ones, into memory, forget the one before, and look at its columns. */
  async function open(chosen, isOwn = true) {
    refuse("");
    const isReceipt = ({ name }) => receipts && name.endsWith(".json");
    const data = chosen.find((each) => !isReceipt(each)), beside = chosen.find(isReceipt), before = own.file;
    if (data === undefined && !before?.own) {
      refuse(`${beside.name} is no table of releases: drop the released file, with its .receipt.json if it has one`);
      return;
    }
    const refusal = tooLarge(data ?? beside, command);
    if (refusal !== null) { refuse(refusal); return; }
    stop(true);
    for (const name of [...answers, "hint"]) at(name).hidden = true;
    cleared();
    const content = data === undefined ? before.content : new Blob([await data.arrayBuffer()]), name = data?.name ?? before.name;
    const opened = { name, content, own: isOwn, given: await beside?.text(), columns: [], rows: [], receipt: null, ...await more(content) };
    own.file = opened;
    at("name").textContent = isOwn ? `${name}, ${written(content.size)}` : example.about;
    at("own").hidden = !isOwn;
    if (isOwn && at("alphabet").value === example.settings.alphabet && !wanted.has("alphabet")) at("alphabet").value = "";
    await look(opened);
  }

  async function look(opened) {
    stop(false);
    refuse("");
    opened.columns = [];
    at("table").replaceChildren();
    await attempt(async () => {
      const { values } = await ask(`${view}/look`, { recipe: form.file(opened.name), receipt: opened.given }, { file: opened.content });
      if (own.file !== opened) return;
      Object.assign(opened, values);
      form.offer(values.columns, values.guess);
      if (opened.own && at("alphabet").value === "" && at("kind").value === "alphabet" && form.hasNames(opened)) at("kind").value = "symbols";
      form.fill(wanted, values.columns);
      looked(opened);
      if (opened.own) wanted = new URLSearchParams();
      changed();
    }, (text) => { if (own.file === opened) refuse(text); });
  }

  /** Something in the form is other than before: put it into the address, and ask again unless something is missing. */
  function changed() {
    const { file } = own;
    stop(false);
    form.arrange();
    const chosen = form.forAddress();
    if (!file?.own) { // the example has settings that are of no use elsewhere
      const ofExample = Object.keys(example.settings).filter((name) => chosen[name] === example.settings[name]);
      for (const name of [...form.ofColumns, ...ofExample]) chosen[name] = wanted.get(name);
    }
    write(view, chosen);
    if (file === null || file.columns.length === 0) return;
    at("table").replaceChildren(rowsTable(file, form.wordColumns(file.columns)));
    const lacking = missing();
    hint(lacking ?? "");
    if (lacking !== null) refuse("");
    for (const name of answers) at(name).hidden ||= lacking !== null;
    ready(lacking === null);
  }

  function hint(text) {
    at("hint").textContent = text;
    at("hint").hidden = text === "";
  }

  function refuse(text) {
    at("error").textContent = text;
    if (text === "") return;
    hint("");
    for (const name of answers) at(name).hidden = true;
  }

  form.onChange((control) => { if (control !== at("confirmed")) changed(); });
  onFiles(view, open);
  copyButtons(view);
  at("format").addEventListener("change", () => { if (own.file !== null) look(own.file); });
  at("forget").addEventListener("click", () => { reset(); openExample(() => {}); });
  return own;
}

/** Why the page does not take a file of this size, or null; `command` is what does. */
function tooLarge({ name, size }, command) {
  if (size <= MOST_BYTES) return null;
  return `${name} has ${Math.ceil(size / 2 ** 20)} MB, and the page takes at most 64 MB: use the command line, dpwords ${command} --input ${name}`;
}

/** How large a file is, for people. */
function written(bytes) {
  return bytes < 2 ** 10 ? `${bytes} bytes` : bytes < 2 ** 20 ? `${(bytes / 2 ** 10).toFixed(1)} kB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

/** Call `open` with the files, a list, that are dropped onto a view while it is shown, or chosen by its button. */
function onFiles(view, open) {
  const input = document.getElementById(`${view}-file`), zone = document.getElementById(`${view}-drop`);
  const shown = () => !document.getElementById(`view-${view}`).hidden;
  input.addEventListener("change", () => { if (input.files.length > 0) open([...input.files]); });
  document.addEventListener("dragover", (event) => {
    if (!shown()) return;
    event.preventDefault(); // or else the browser would leave the page for the file
    zone.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => { if (event.relatedTarget === null) zone.classList.remove("over"); });
  document.addEventListener("drop", (event) => {
    if (!shown()) return;
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files.length > 0) open([...event.dataTransfer.files]);
  });
}

/** The first rows of a file as a table, with the columns of the words first, and marked. */
function rowsTable({ columns, rows }, marked) {
  const places = columns.map((_, place) => place);
  const order = [...places.filter((place) => marked.includes(columns[place][0])), ...places.filter((place) => !marked.includes(columns[place][0]))]
    .slice(0, MOST_COLUMNS);
  const chosen = (name) => (marked.includes(name) ? "chosen" : null);
  const head = order.map((place) => columns[place]).map(([name, kind]) => element("th", { scope: "col", class: chosen(name) }, name, element("small", {}, kind)));
  const body = rows.map((row) => element("tr", {}, ...order.map((place) => element("td", { class: chosen(columns[place][0]) }, row[place]))));
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/** Make the buttons of a view that copy commands and code do so. */
function copyButtons(view) {
  for (const button of document.querySelectorAll(`#${view}-recipes [data-copy]`)) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      const before = button.textContent;
      button.textContent = "Copied";
      button.addEventListener("blur", () => { button.textContent = before; }, { once: true });
    });
  }
}
