// The view of data: a file goes in, a private version of it comes out.
import { ask, attempt, latest } from "./ask.js";
import { showChecked, showCount, showReleased, showSummary } from "./data_answers.js";
import { fileForm } from "./file_form.js";
import { fileView } from "./file_view.js";

const EXAMPLE = {
  name: "trips.csv",
  about: "An example is loaded: made-up trips between six stations.",
  settings: { alphabet: "A-F" },
  content: () => "rider,trip,route\nann,1,ABCDC\nann,2,ABBDE\nbob,3,DCBA\ncat,4,AAFFA\nbob,5,DCCBAF\ncat,6,EEF\nann,7,ABCD\ndan,8,FEDCB\neve,9,BCDE\neve,10,BCCDE\n",
};
const SHOWN = ["table", "examples", "downloads", "figures", "notes", "lengths", "command", "python"]; // parts with something of the file

let checking = null, summing = null; // what ends the check that is under way, and the computation of the summary
let summed = ""; // what the summary on the page is about
const counts = new Map(); // by the digest of a file: how often it was released, and what that spent

const form = fileForm("data", ["epsilon", "k", "edits", "spending", "budget", "skip", "drop-others"], ["by"],
  () => [at("spending").value === "equal" ? "epsilon" : "", at("spending").value === "word" ? "budget" : ""]);
const { at } = form;
const check = latest(question, checked, (text) => { if (text === "" || missing() === null) view.refuse(text); });
const view = fileView("data", form, EXAMPLE, {
  command: "release", receipts: false, answers: ["checked", "recipes"], missing,
  stop: (whole) => { summing?.abort(); if (whole) checking?.abort(); },
  cleared: () => { at("released").hidden = true; for (const name of SHOWN) at(name).replaceChildren(); },
  more: async (content) => ({ digest: await digest(content) }),
  looked: () => {},
  ready: (yes) => {
    if (yes && at("checked").hidden) view.hint("The file is being read and checked …");
    if (yes) check(); else checking?.abort();
  },
  reset: () => { at("file").value = ""; at("kind").value = "alphabet"; },
});

/** Show the view with the settings of the address. */
export const { show } = view;

/** The recipe of a release of the file of this name. */
function recipe(name) {
  const spending = at("spending").value;
  return {
    ...form.file(name), ...form.where(), ...form.language(),
    epsilon: spending === "equal" ? null : Number(at("epsilon").value),
    k: Number(at("k").value),
    edits: at("edits").value,
    by: at("by").value || null,
    budget: spending === "word" ? null : Number(at("budget").value),
    split: spending === "first" ? "first" : null,
    invalid: at("skip").checked ? "skip" : null,
    drop_others: at("drop-others").checked || null,
  };
}

/** What is still missing before the server can be asked; null if nothing is. */
function missing() {
  if (form.missing() === null && at("spending").value !== "word" && at("by").value === "") {
    return "A budget is for each person: choose the column that says whose word it is.";
  }
  return form.missing();
}

function question() {
  at("checked").classList.add("busy");
  checked.about = view.file;
  checking = new AbortController();
  return ["data/check", { recipe: recipe(view.file.name) }, { file: view.file.content, signal: checking.signal }];
}

function checked(found) {
  checking = null;
  if (checked.about !== view.file || missing() !== null) return; // the form has changed since it was asked
  view.hint("");
  at("checked").classList.remove("busy");
  const { columns } = view.file, words = form.wordColumns(columns);
  const others = columns.map(([name]) => name).filter((name) => !words.includes(name)
    && (!at("drop-others").checked || name === at("by").value)); // whose word it is stays in the file
  showChecked(found, others);
  form.showSymbols();
  showCount(count(), found.people !== null);
  at("release").disabled = found.words === 0 || (found.skipped > 0 && !at("skip").checked);
  summarise(found);
}

/** Ask for the public summary, unless it is there already; on systems this can take a while. */
async function summarise({ length, typical, promise }) {
  if (length === 0) { showSummary([promise]); return; }
  const values = { length, recipe: { ...form.language(), ...typical } };
  const about = JSON.stringify(values);
  if (about === summed) return;
  summed = "";
  showSummary([promise, "The public figures for words of this length are being computed …"]);
  summing = new AbortController();
  await attempt(async () => {
    const answer = await ask("data/summary", values, { signal: summing.signal });
    showSummary(answer.values.lines);
    summed = about;
  }, (text) => showSummary([promise, text]));
  summing = null;
}

/** Draw. The only place where privacy is spent. */
async function release() {
  const about = view.file, stop = new AbortController();
  const cancel = () => stop.abort();
  at("cancel").addEventListener("click", cancel, { once: true });
  running(true);
  view.refuse("");
  await attempt(async () => {
    const answer = await ask("data/release", { recipe: recipe(about.name) }, {
      file: about.content, signal: stop.signal, progress: (share) => { at("progress").value = share; } });
    const { times, spent } = count(about);
    counts.set(about.digest, { times: times + 1, spent: spent + answer.values.spent });
    if (view.file !== about) return;
    showReleased(answer);
    showCount(count(), at("by").value !== "");
    at("released").scrollIntoView({ block: "nearest" });
  }, view.refuse);
  at("cancel").removeEventListener("click", cancel);
  running(false);
}

function running(yes) {
  at("release").disabled = yes;
  at("cancel").hidden = at("running").hidden = !yes;
  at("progress").removeAttribute("value");
}

/** Fill the list of symbols with those of the file, which the user has said to be public. */
async function readSymbols() {
  summing?.abort();
  view.refuse("");
  await attempt(async () => {
    const { name, content } = view.file;
    const { values } = await ask("data/symbols", { recipe: { ...form.file(name), ...form.where() }, confirmed: at("confirmed").checked }, { file: content });
    at("kind").value = "symbols";
    at("symbols").value = values.symbols.join("\n");
    at("confirmed").checked = false;
    at("read-symbols").disabled = true;
    at("occurring").open = false;
    view.changed();
  }, view.refuse);
}

function count(file = view.file) {
  return counts.get(file.digest) ?? { times: 0, spent: 0 };
}

async function digest(content) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer()));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

at("confirmed").addEventListener("input", () => { at("read-symbols").disabled = !at("confirmed").checked; });
at("read-symbols").addEventListener("click", readSymbols);
at("release").addEventListener("click", release);
