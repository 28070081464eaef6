// The settings of the view of data: what stands in the form, as the server takes it and as it goes into the address.
import { element } from "./elements.js";

/** The control of this name. */
export const at = (name) => document.getElementById(`data-${name}`);

/** The settings about columns. */
export const WHERE = ["shape", "column", "separator", "first", "last", "case", "symbol", "order", "by"];
const PUBLIC = ["kind", "alphabet", "symbols", "rows", "columns", "words", "start", "walls", "goal", "symbols-are", "start-state", "rules",
  "epsilon", "k", "edits", "spending", "budget", "skip", "drop-others"];
const LONGEST = 500; // characters of a value in the address
const OF_SHAPE = { column: ["column", "separator"], wide: ["first", "last"], log: ["case", "symbol", "order"] };
const OF_KIND = { alphabet: ["alphabet"], symbols: ["symbols"], grid: ["rows", "columns", "words", "start", "walls", "goal"],
  system: ["symbols-are", "start-state"] };
const NUMBERS = new Set(["rows", "columns"]);

let system = null; // { name, text }: the file of a system

/** Put the settings of an address into the form; those about columns only where `columns` has them. */
export function fill(settings, columns = null) {
  for (const name of columns === null ? PUBLIC : WHERE) {
    if (!settings.has(name)) continue;
    const control = at(name), value = settings.get(name);
    if (control.type === "checkbox") control.checked = value === "1";
    else if (control.tagName !== "SELECT" || [...control.options].some((each) => each.value === value)) control.value = value;
  }
  arrange();
}

/** The settings for the address: without defaults, without what belongs to another choice, and without long lists. */
export function forAddress() {
  const shape = at("shape").value, kind = at("kind").value, spending = at("spending").value;
  const other = [...Object.entries(OF_SHAPE), ...Object.entries(OF_KIND)]
    .filter(([own]) => own !== shape && own !== kind).flatMap(([, names]) => names)
    .filter((name) => ![...OF_SHAPE[shape], ...OF_KIND[kind]].includes(name));
  const unused = new Set([...other, spending === "equal" ? "epsilon" : "", spending === "word" ? "budget" : ""]);
  const found = {};
  for (const name of [...WHERE, ...PUBLIC]) {
    const value = at(name).type === "checkbox" ? (at(name).checked ? "1" : "") : at(name).value;
    if (!unused.has(name) && value !== usual(at(name)) && value.length <= LONGEST) found[name] = value;
  }
  return found;
}

/** What a control has from the start; choices of columns have nothing. */
function usual(control) {
  if (control.tagName !== "SELECT") return control.defaultValue;
  return [...control.options].find((option) => option.defaultSelected)?.value ?? "";
}

/** The columns of a file as choices, with a guess at what they are. */
export function offer(columns, guess) {
  const names = columns.map(([name]) => name);
  for (const name of ["column", "first", "last", "case", "symbol"]) choices(at(name), names);
  choices(at("order"), names, "the order of the rows");
  choices(at("by"), names, "not known: each word counts for itself");
  for (const name of WHERE) at(name).value = guess[name] ?? (name === "separator" || name === "order" || name === "by" ? "" : names[0] ?? "");
  if (guess.last === null) at("last").value = names.at(-1) ?? "";
  arrange();
}

/** Whether the words in the first rows seem to consist of names and not of single characters. */
export function hasNames({ columns, rows }) {
  if (at("shape").value === "column") {
    const place = columns.findIndex(([name]) => name === at("column").value);
    const ids = (text) => text.split(/\s+/).length > 1 && text.split(/\s+/).every((symbol) => symbol.length > 1 && /\d/.test(symbol));
    return at("separator").value !== "" || columns[place]?.[1].startsWith("lists") || rows.some((row) => ids(row[place] ?? ""));
  }
  const names = at("shape").value === "log" ? [at("symbol").value] : wordColumns(columns);
  return rows.some((row) => row.some((value, place) => names.includes(columns[place][0]) && [...value].length > 1));
}

function choices(select, names, none = null) {
  select.replaceChildren(...(none === null ? [] : [element("option", { value: "" }, none)]),
    ...names.map((name) => element("option", { value: name }, name)));
}

/** Show only the settings that belong to what is chosen. */
export function arrange() {
  for (const part of document.querySelectorAll("#data-form [data-for]")) {
    const [name, values] = part.dataset.for.split("=");
    part.hidden = !values.split("|").includes(at(name).value);
  }
  at("epsilon-slider").value = at("epsilon").value;
  at("read-symbols").disabled = !at("confirmed").checked;
}

/** Where the words are, for the server. */
export function where() {
  const shape = at("shape").value;
  return { shape, ...taken(OF_SHAPE[shape]) };
}

/** The public language, for the server. */
export function language() {
  const kind = at("kind").value;
  const rules = at("rules").value.split("\n").filter((line) => line !== "");
  if (kind === "system") {
    return { kind, name: system?.name, system: system?.text, words: at("symbols-are").value || null, start: at("start-state").value || null, rules };
  }
  return { kind, ...taken(OF_KIND[kind]), rules };
}

/** Take the file of a system into memory. */
export async function takeSystem(file) {
  system = { name: file.name, text: await file.text() };
  at("system-name").textContent = file.name;
}

/** What is asked of the server about a file, but for the file's own name. */
export function settings() {
  const spending = at("spending").value;
  return {
    format: at("format").value || null,
    where: where(),
    language: language(),
    promise: { epsilon: spending === "equal" ? null : Number(at("epsilon").value), k: Number(at("k").value), edits: at("edits").value },
    people: { by: at("by").value || null, spending, budget: spending === "word" ? null : Number(at("budget").value) },
    skip: at("skip").checked,
    drop_others: at("drop-others").checked,
  };
}

/** The names of the columns that hold the words, of all columns. */
export function wordColumns(columns) {
  const names = columns.map(([name]) => name);
  const shape = at("shape").value;
  if (shape === "column") return [at("column").value];
  if (shape === "wide") return names.slice(names.indexOf(at("first").value), names.indexOf(at("last").value) + 1);
  return [at("case").value, at("symbol").value, at("order").value].filter((name) => name !== "");
}

/** What is still missing before the server can be asked; null if nothing is. */
export function missing() {
  const kind = at("kind").value;
  if (kind === "alphabet" && at("alphabet").value === "") return "Say what may come out: type the alphabet of the words.";
  if (kind === "symbols" && at("symbols").value.trim() === "") return "Say what may come out: list the symbols, one on each line.";
  if (kind === "grid" && at("start").value.trim() === "") return "Say where runs start: type a cell such as 0,0, or any for words of cells.";
  if (kind === "system" && system === null) return "Say what may come out: choose the file of the system.";
  if (at("spending").value !== "word" && at("by").value === "") return "A budget is for each person: choose the column that says whose word it is.";
  return null;
}

function taken(names) {
  const value = (name) => (NUMBERS.has(name) ? Number(at(name).value) : at(name).value || null);
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}
