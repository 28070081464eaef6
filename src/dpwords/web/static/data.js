// The view of data: a file goes in, a private version of it comes out.
import { write } from "./address.js";
import { ask, latest, Refusal } from "./ask.js";
import { showChecked, showCount, showReleased, showSummary } from "./data_answers.js";
import { arrange, at, fill, forAddress, hasNames, file as fileFields, language, missing, offer, onChange, recipe, showSymbols, where, WHERE, wordColumns } from "./data_form.js";
import { copyButtons, onFiles, rowsTable, tooLarge, written } from "./files.js";

const EXAMPLE = {
  alphabet: "A-F",
  name: "trips.csv",
  text: "rider,trip,route\nann,1,ABCDC\nann,2,ABBDE\nbob,3,DCBA\ncat,4,AAFFA\nbob,5,DCCBAF\ncat,6,EEF\nann,7,ABCD\ndan,8,FEDCB\neve,9,BCDE\neve,10,BCCDE\n",
};

let file = null; // { name, content, own, columns, rows }: what is looked at; its content is a Blob in memory
let wanted = new URLSearchParams(); // settings about columns that came with the address, until a file fits them
let checking = null, summing = null; // what ends the check that is under way, and the computation of the summary
let summed = ""; // what the summary on the page is about
const counts = new Map(); // by the digest of a file: how often it was released, and what that spent

const check = latest(question, checked, (text) => { if (text === "" || missing() === null) refuse(text); });

/** Show the view with the settings of the address. */
export function show(given) {
  if (file === null) {
    at("alphabet").value = EXAMPLE.alphabet;
    wanted = given;
    fill(given);
    openExample();
  } else { // the view was open before, with settings that stay unless the address has others
    fill(given);
    fill(given, file.columns);
    changed();
  }
}

function openExample() {
  return open(new File([EXAMPLE.text], EXAMPLE.name), false);
}

/** Take a file into memory, forget the one before, and look at its columns. */
async function open(chosen, own = true) {
  refuse("");
  const refusal = tooLarge(chosen, "release");
  if (refusal !== null) { refuse(refusal); return; }
  checking?.abort();
  forgetAnswers();
  const content = new Blob([await chosen.arrayBuffer()]);
  const opened = { name: chosen.name, content, own, columns: [], rows: [], digest: await digest(content) };
  file = opened;
  at("name").textContent = own ? `${chosen.name}, ${written(chosen.size)}` : "An example is loaded: made-up trips between six stations.";
  at("own").hidden = !own;
  if (own && at("alphabet").value === EXAMPLE.alphabet && !wanted.has("alphabet")) at("alphabet").value = "";
  await look(opened);
}

async function look(opened) {
  summing?.abort();
  await attempt(async () => {
    const { values } = await ask("data/look", { recipe: fileFields(opened.name) }, { file: opened.content });
    if (file !== opened) return;
    Object.assign(opened, { columns: values.columns, rows: values.rows });
    offer(values.columns, values.guess);
    if (opened.own && at("alphabet").value === "" && at("kind").value === "alphabet" && hasNames(opened)) at("kind").value = "symbols";
    fill(wanted, values.columns);
    if (opened.own) wanted = new URLSearchParams();
    changed();
  });
}

/** Something in the form is other than before: check the file again. */
function changed() {
  summing?.abort();
  arrange();
  const chosen = forAddress();
  if (!file?.own) { // the example has settings that are of no use elsewhere
    for (const name of WHERE) chosen[name] = wanted.get(name);
    if (chosen.alphabet === EXAMPLE.alphabet) chosen.alphabet = wanted.get("alphabet");
  }
  write("data", chosen);
  if (file === null || file.columns.length === 0) return;
  at("table").replaceChildren(rowsTable(file, wordColumns(file.columns)));
  const lacking = missing();
  hint(lacking ?? (at("checked").hidden ? "The file is being read and checked …" : ""));
  at("checked").hidden = at("checked").hidden || lacking !== null;
  at("recipes").hidden = at("recipes").hidden || lacking !== null;
  if (lacking === null) check();
  else { checking?.abort(); refuse(""); }
}

function question() {
  at("checked").classList.add("busy");
  const about = file;
  checked.about = about;
  checking = new AbortController();
  return ["data/check", { recipe: recipe(about.name) }, { file: about.content, signal: checking.signal }];
}

function checked(found) {
  checking = null;
  if (checked.about !== file || missing() !== null) return; // the form has changed since it was asked
  hint("");
  at("checked").classList.remove("busy");
  const words = wordColumns(file.columns);
  const others = file.columns.map(([name]) => name).filter((name) => !words.includes(name)
    && (!at("drop-others").checked || name === at("by").value)); // whose word it is stays in the file
  showChecked(found, others);
  showSymbols();
  showCount(count(), found.people !== null);
  at("release").disabled = found.words === 0 || (found.skipped > 0 && !at("skip").checked);
  summarise(found);
}

/** Ask for the public summary, unless it is there already; on systems this can take a while. */
async function summarise({ length, typical, promise }) {
  if (length === 0) { showSummary([promise]); return; }
  const values = { length, recipe: { ...language(), ...typical } };
  const about = JSON.stringify(values);
  if (about === summed) return;
  summed = "";
  showSummary([promise, "The public figures for words of this length are being computed …"]);
  summing = new AbortController();
  try {
    const answer = await ask("data/summary", values, { signal: summing.signal });
    showSummary(answer.values.lines);
    summed = about;
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Refusal)) throw error;
    showSummary([promise, error.message]);
  } finally {
    summing = null;
  }
}

/** Draw. The only place where privacy is spent. */
async function release() {
  const about = file, stop = new AbortController();
  const cancel = () => stop.abort();
  at("cancel").addEventListener("click", cancel, { once: true });
  running(true);
  await attempt(async () => {
    const answer = await ask("data/release", { recipe: recipe(about.name) }, {
      file: about.content, signal: stop.signal, progress: (share) => { at("progress").value = share; } });
    const { times, spent } = counts.get(about.digest) ?? { times: 0, spent: 0 };
    counts.set(about.digest, { times: times + 1, spent: spent + answer.values.spent });
    if (file !== about) return;
    showReleased(answer);
    showCount(count(), at("by").value !== "");
    at("released").scrollIntoView({ block: "nearest" });
  });
  at("cancel").removeEventListener("click", cancel);
  running(false);
}

function running(yes) {
  at("release").disabled = yes;
  at("cancel").hidden = at("running").hidden = !yes;
  at("progress").removeAttribute("value");
}

function hint(text) {
  at("hint").textContent = text;
  at("hint").hidden = text === "";
}

/** Fill the list of symbols with those of the file, which the user has said to be public. */
async function readSymbols() {
  summing?.abort();
  await attempt(async () => {
    const { values } = await ask("data/symbols", { recipe: { ...fileFields(file.name), ...where() },
      confirmed: at("confirmed").checked }, { file: file.content });
    at("kind").value = "symbols";
    at("symbols").value = values.symbols.join("\n");
    at("confirmed").checked = false;
    at("occurring").open = false;
    changed();
  });
}

/** Do something, and show a refusal; what the user cancels is none. */
async function attempt(action) {
  try {
    refuse("");
    await action();
  } catch (error) {
    if (error instanceof Refusal) refuse(error.message);
    else if (error.name !== "AbortError") throw error;
  }
}

function refuse(text) {
  at("error").textContent = text;
  if (text === "") return;
  checking = null;
  hint("");
  at("checked").hidden = at("recipes").hidden = true;
}

function forgetAnswers() {
  for (const name of ["checked", "recipes", "released", "hint"]) at(name).hidden = true;
  for (const name of ["table", "examples", "downloads", "figures", "notes", "lengths", "command", "python"]) at(name).replaceChildren();
}

function count() {
  return counts.get(file.digest) ?? { times: 0, spent: 0 };
}

async function digest(content) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer()));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

onChange((control) => {
  if (control === at("confirmed")) arrange();
  else changed();
});
onFiles("data", ([first]) => open(first));
copyButtons("data");
at("format").addEventListener("change", () => { if (file !== null) look(file); });
at("read-symbols").addEventListener("click", readSymbols);
at("release").addEventListener("click", release);
at("forget").addEventListener("click", () => {
  at("file").value = "";
  at("alphabet").value = EXAMPLE.alphabet;
  at("kind").value = "alphabet";
  openExample();
});
