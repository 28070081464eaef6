// The part of a form that says where the words of a file are and of which public language, for the views with files.
import { characters, listed, readAs } from "./alphabets.js";
import { element } from "./elements.js";
import { consisting } from "./world.js";

const WHERE = ["shape", "column", "separator", "first", "last", "case", "symbol", "order"];
const LANGUAGE = ["kind", "alphabet", "symbols", "rows", "columns", "words", "start", "walls", "goal", "symbols-are", "start-state", "rules"];
const LONGEST = 500; // characters of a value in the address
const OF_SHAPE = { column: ["column", "separator"], wide: ["first", "last"], log: ["case", "symbol", "order"] };
const OF_KIND = { alphabet: ["alphabet"], symbols: ["symbols"], grid: ["rows", "columns", "words", "start", "walls", "goal"],
  system: ["symbols-are", "start-state"] };
const PROMISE = { epsilon: "", k: 1, edits: "substitutions", mechanism: "", utility: "best", alpha: 1, calibration: "tight" }; // and usual values
const MAY_BE_NONE = new Set(["separator", "order", "by"]);

/**
 * The form `${view}-form`. `own` are the names of public settings that it has besides those of the language, `people` of
 * those about columns besides `WHERE`, and `unused()` those that do not count at the moment.
 */
export function fileForm(view, own, people = [], unused = () => []) {
  const at = (name) => document.getElementById(`${view}-${name}`);
  const ofColumns = [...WHERE, ...people], ofLanguage = [...LANGUAGE, ...own];
  let system = null; // { name, content }: the file of a system, or a system in JSON

  /** Put settings into the form; those about columns only where `columns` has them. */
  function fill(settings, columns = null) {
    for (const name of columns === null ? ofLanguage : ofColumns) {
      if (!settings.has(name)) continue;
      const control = at(name), value = settings.get(name);
      if (control.type === "checkbox") control.checked = value === "1";
      else if (control.tagName !== "SELECT" || [...control.options].some((each) => each.value === value)) control.value = value;
    }
    arrange();
  }

  /** The settings for the address: without defaults, without what belongs to another choice, and without long lists. */
  function forAddress() {
    const shape = at("shape").value, kind = at("kind").value;
    const other = [...Object.entries(OF_SHAPE), ...Object.entries(OF_KIND)]
      .filter(([each]) => each !== shape && each !== kind).flatMap(([, names]) => names)
      .filter((name) => ![...OF_SHAPE[shape], ...OF_KIND[kind]].includes(name));
    const left = new Set([...other, ...unused()]);
    const found = {};
    for (const name of [...ofColumns, ...ofLanguage]) {
      const value = at(name).type === "checkbox" ? (at(name).checked ? "1" : "") : at(name).value;
      if (!left.has(name) && value !== usual(at(name)) && value.length <= LONGEST) found[name] = value;
    }
    return found;
  }

  /** The columns of a file as choices, with a guess at what they are. */
  function offer(columns, guess) {
    const names = columns.map(([name]) => name);
    for (const name of ["column", "first", "last", "case", "symbol"]) choices(at(name), names);
    choices(at("order"), names, "the order of the rows");
    for (const name of people) choices(at(name), names, "not known: each word counts for itself");
    for (const name of ofColumns) at(name).value = guess[name] ?? (MAY_BE_NONE.has(name) ? "" : names[0] ?? "");
    if (guess.last === null) at("last").value = names.at(-1) ?? "";
    arrange();
  }

  /** Whether the words in the first rows seem to consist of names and not of single characters. */
  function hasNames({ columns, rows }) {
    if (at("shape").value === "column") {
      const place = columns.findIndex(([name]) => name === at("column").value);
      const ids = (text) => text.split(/\s+/).length > 1 && text.split(/\s+/).every((symbol) => symbol.length > 1 && /\d/.test(symbol));
      return at("separator").value !== "" || columns[place]?.[1].startsWith("lists") || rows.some((row) => ids(row[place] ?? ""));
    }
    const names = at("shape").value === "log" ? [at("symbol").value] : wordColumns(columns);
    return rows.some((row) => row.some((value, place) => names.includes(columns[place][0]) && [...value].length > 1));
  }

  /** Show only the settings that belong to what is chosen. */
  function arrange() {
    for (const part of document.querySelectorAll(`#${view}-form [data-for]`)) {
      const [name, values] = part.dataset.for.split("=");
      part.hidden = !values.split("|").includes(at(name).value);
    }
    at("epsilon-slider").value = at("epsilon").value;
  }

  const value = (name) => at(name).value || null;

  /** The fields of a recipe about the file of this name. */
  function file(name) {
    const [format, rows] = at("format").value.split("-"), header = ["csv", "tsv"].includes(format);
    return { input: name, format: format || null, header: (header && rows === undefined) || null, no_header: rows === "rows" || null };
  }

  /** Where the words are, as fields of a recipe. */
  function where() {
    const shape = at("shape").value;
    if (shape === "wide") return { columns: `${at("first").value}:${at("last").value}` };
    return Object.fromEntries(OF_SHAPE[shape].map((name) => [name, value(name)]));
  }

  /** The public language, as fields of a recipe. */
  function language() {
    const kind = at("kind").value;
    const rules = at("rules").value.split("\n").filter((line) => line !== "");
    if (kind === "alphabet") return { alphabet: characters(at("alphabet").value), rules };
    if (kind === "symbols") return { alphabet: listed(at("symbols").value), rules };
    if (kind === "system") return { system, ...consisting(value("symbols-are")), start: value("start-state"), rules };
    const start = at("start").value === "0,0" ? "" : `@${at("start").value}`;
    return { system: `grid:${at("rows").value}x${at("columns").value}${start}`, walls: value("walls"), goal: value("goal"),
      ...(at("words").value === "moves" ? {} : consisting(at("words").value)), rules };
  }

  /** Say how a list of symbols was read. */
  function showSymbols() {
    if (at("kind").value === "symbols") at("symbols-hint").textContent = readAs(listed(at("symbols").value));
  }

  /** The names of the columns that hold the words, of all columns. */
  function wordColumns(columns) {
    const names = columns.map(([name]) => name);
    const shape = at("shape").value;
    if (shape === "column") return [at("column").value];
    if (shape === "wide") return names.slice(names.indexOf(at("first").value), names.indexOf(at("last").value) + 1);
    return [at("case").value, at("symbol").value, at("order").value].filter((name) => name !== "");
  }

  /** What is still missing before the server can be asked; null if nothing is. */
  function missing() {
    const kind = at("kind").value;
    if (kind === "alphabet" && at("alphabet").value === "") return "Say what may come out: type the alphabet of the words.";
    if (kind === "symbols" && at("symbols").value.trim() === "") return "Say what may come out: list the symbols, one on each line.";
    const empty = kind === "symbols" ? listed(at("symbols").value).indexOf("") : -1;
    if (empty >= 0) return `Line ${empty + 1} of the list of symbols is empty: write one on each line.`;
    if (kind === "grid" && at("start").value.trim() === "") return "Say where runs start: type a cell such as 0,0, or any for words of cells.";
    if (kind === "system" && system === null) return "Say what may come out: choose the file of the system.";
    return null;
  }

  /** Call a function when something changes: with the control, but not for files, which are read first. */
  function onChange(changed) {
    at("form").addEventListener("submit", (event) => event.preventDefault());
    at("form").addEventListener("input", (event) => {
      if (event.target.type === "file" || event.target === at("format")) return;
      if (event.target === at("epsilon-slider")) at("epsilon").value = at("epsilon-slider").value;
      changed(event.target);
    });
    at("symbols-file").addEventListener("change", async () => {
      if (at("symbols-file").files.length === 0) return;
      at("symbols").value = (await at("symbols-file").files[0].text()).replace(/^\ufeff/, "");
      changed(at("symbols"));
    });
    at("system-file").addEventListener("change", async () => {
      if (at("system-file").files.length === 0) return;
      const [chosen] = at("system-file").files;
      takeSystem({ name: chosen.name, content: await chosen.text() });
      changed(at("system-file"));
    });
  }

  /** Let the form say the same as the recipe in a receipt, as far as a file with these columns allows. */
  function take(recipe, columns) {
    const said = new URLSearchParams(saying(recipe));
    fill(said);
    fill(said, columns);
    if (typeof recipe.system === "object" && neededFile(recipe) === null) takeSystem(recipe.system);
  }

  function takeSystem(given) {
    system = given;
    at("system-name").textContent = given.name ?? "in the receipt";
  }

  return { at, file, ofColumns, fill, take, forAddress, showSymbols, offer, hasNames, arrange, where, language, wordColumns, missing, onChange };
}

/** The name of a file that has to be chosen again, since a recipe only names it; null if there is none. */
export function neededFile({ alphabet, system }) {
  const file = alphabet ?? system;
  return file?.name === undefined || "transitions" in file || "content" in file ? null : file.name;
}

/** The values of controls with which a form says the same as a recipe. */
function saying(recipe) {
  const promise = Object.entries(PROMISE).map(([name, usual]) => [name, recipe[name] ?? usual]);
  return { ...Object.fromEntries(promise), rules: (recipe.rules ?? []).join("\n"), ...sayingLanguage(recipe), ...sayingWhere(recipe) };
}

function sayingLanguage({ alphabet, system, words, protect, start, walls, goal }) {
  const consists = protect === "states" ? "plans" : words;
  if (Array.isArray(alphabet)) return { kind: "symbols", symbols: alphabet.join("\n") };
  if (alphabet !== undefined) return typeof alphabet === "string" ? { kind: "alphabet", alphabet } : { kind: "symbols" };
  if (typeof system !== "string") return { kind: "system", "symbols-are": consists ?? "", "start-state": start ?? "" };
  const [size, from] = system.replace("grid:", "").split("@"), [rows, columns] = size.split("x");
  return { kind: "grid", rows, columns, start: from ?? "0,0", words: consists ?? "moves", walls: walls ?? "", goal: goal ?? "" };
}

function sayingWhere({ column, separator, columns, case: of, symbol, order }) {
  if (of !== undefined) return { shape: "log", case: of, symbol: symbol ?? "", order: order ?? "" };
  if (columns?.includes(":")) {
    const first = columns.slice(0, columns.indexOf(":"));
    return { shape: "wide", first, last: columns.slice(first.length + 1) };
  }
  return column === undefined ? {} : { shape: "column", column, separator: separator ?? "" };
}

/** What a control has from the start; choices of columns have nothing. */
function usual(control) {
  if (control.tagName !== "SELECT") return control.defaultValue;
  return [...control.options].find((option) => option.defaultSelected)?.value ?? "";
}

function choices(select, names, none = null) {
  select.replaceChildren(...(none === null ? [] : [element("option", { value: "" }, none)]),
    ...names.map((name) => element("option", { value: name }, name)));
}
