// Files that are dropped onto a view or chosen there, their first rows, and code to copy.
import { element } from "./elements.js";

const MOST_BYTES = 2 ** 26;
const MOST_COLUMNS = 40; // that are shown

/** Why the page does not take a file of this size, or null; `command` is what does. */
export function tooLarge({ name, size }, command) {
  if (size <= MOST_BYTES) return null;
  return `${name} has ${Math.ceil(size / 2 ** 20)} MB, and the page takes at most 64 MB: use the command line, dpwords ${command} --input ${name}`;
}

/** How large a file is, for people. */
export function written(bytes) {
  return bytes < 2 ** 10 ? `${bytes} bytes` : bytes < 2 ** 20 ? `${(bytes / 2 ** 10).toFixed(1)} kB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

/** Call `open` with the files, a list, that are dropped onto a view while it is shown, or chosen by its button. */
export function onFiles(view, open) {
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
export function rowsTable({ columns, rows }, marked) {
  const places = columns.map((_, place) => place);
  const order = [...places.filter((place) => marked.includes(columns[place][0])), ...places.filter((place) => !marked.includes(columns[place][0]))]
    .slice(0, MOST_COLUMNS);
  const chosen = (name) => (marked.includes(name) ? "chosen" : null);
  const head = order.map((place) => columns[place]).map(([name, kind]) => element("th", { scope: "col", class: chosen(name) }, name, element("small", {}, kind)));
  const body = rows.map((row) => element("tr", {}, ...order.map((place) => element("td", { class: chosen(columns[place][0]) }, row[place]))));
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/** Make the buttons of a view that copy commands and code do so. */
export function copyButtons(view) {
  for (const button of document.querySelectorAll(`#${view}-recipes [data-copy]`)) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      const before = button.textContent;
      button.textContent = "Copied";
      button.addEventListener("blur", () => { button.textContent = before; }, { once: true });
    });
  }
}
