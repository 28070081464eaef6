// The view of estimates: a released file goes in, proportions with intervals come out, beside the plain count.
import { write } from "./address.js";
import { ask, Refusal } from "./ask.js";
import { showAnswer } from "./estimate_answers.js";
import { fileForm, neededFile, WHERE } from "./file_form.js";
import { copyButtons, onFiles, rowsTable, tooLarge, written } from "./files.js";

const REST = 400; // milliseconds without a change after which an estimate is asked for
const EXAMPLE = { address: "/static/estimate_example.csv", name: "trips.private.csv", alphabet: "A-F", epsilon: "2" };
const RECEIPT = ".receipt.json";
const form = fileForm("estimate", ["question", "confidence", "epsilon", "k", "edits", "mechanism", "utility", "alpha", "calibration"]);
const { at } = form;

let file = null; // { name, content, own, given, columns, rows, receipt }: what is looked at; its content is a Blob in memory
let wanted = new URLSearchParams(); // settings that came with the address, until there is a file of one's own
let fitting = null; // what ends the estimate that is under way
let timer = 0;

/** Show the view with the settings of the address. */
export async function show(given) {
  if (file === null) {
    wanted = given;
    at("alphabet").value = EXAMPLE.alphabet;
    at("epsilon").value = EXAMPLE.epsilon;
    form.fill(given);
    await openExample();
  } else { // the view was open before, with settings that stay unless the address has others
    form.fill(given);
    form.fill(given, file.columns);
    changed();
  }
}

async function openExample() {
  const response = await fetch(EXAMPLE.address);
  await open([new File([await response.blob()], EXAMPLE.name)], false);
}

/** Take a file, and its receipt if it is among the chosen ones, into memory, and forget the one before. */
async function open(chosen, own = true) {
  refuse("");
  const data = chosen.find(({ name }) => !name.endsWith(".json")), beside = chosen.find(({ name }) => name.endsWith(".json"));
  if (data === undefined && !file?.own) {
    refuse(`${beside.name} is no table of releases: drop the released file, with its ${RECEIPT} if it has one`);
    return;
  }
  const refusal = tooLarge(data ?? beside, "estimate");
  if (refusal !== null) { refuse(refusal); return; }
  stop();
  for (const name of ["answer", "recipes", "hint"]) at(name).hidden = true;
  const given = beside === undefined ? null : await beside.text();
  const content = data === undefined ? file.content : new Blob([await data.arrayBuffer()]);
  const name = data?.name ?? file.name;
  file = { name, content, own, given, columns: [], rows: [], receipt: null };
  at("name").textContent = own ? `${name}, ${written(content.size)}` : "An example is loaded: made-up trips between six stations, released at ε = 2.";
  at("own").hidden = !own;
  at("receipt").textContent = "";
  if (own && at("alphabet").value === EXAMPLE.alphabet && !wanted.has("alphabet")) at("alphabet").value = "";
  await look(file);
}

async function look(opened) {
  try {
    const values = { recipe: form.file(opened.name), receipt: opened.given };
    const { values: found } = await ask("estimate/look", values, { file: opened.content });
    if (file !== opened) return;
    const { columns, rows, receipt } = found;
    Object.assign(opened, { columns, rows, receipt });
    form.offer(columns, found.guess);
    if (opened.own && at("alphabet").value === "" && at("kind").value === "alphabet" && form.hasNames(opened)) at("kind").value = "symbols";
    form.fill(wanted, columns);
    if (receipt !== null) form.take(receipt.recipe, columns);
    if (opened.own) wanted = new URLSearchParams();
    at("receipt").textContent = receipt === null ? "" : `Its receipt says: ${receipt.guarantee}.`;
    refuse("");
    changed();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (file === opened) refuse(error.message);
  }
}

/** Something in the form is other than before: estimate again once it rests. */
function changed() {
  stop();
  form.arrange();
  const chosen = form.forAddress();
  if (!file?.own) { // the example has settings that are of no use elsewhere
    for (const name of WHERE) chosen[name] = wanted.get(name);
    if (chosen.alphabet === EXAMPLE.alphabet) chosen.alphabet = wanted.get("alphabet");
    if (chosen.epsilon === EXAMPLE.epsilon) chosen.epsilon = wanted.get("epsilon");
  }
  write("estimate", chosen);
  if (file === null || file.columns.length === 0) return;
  at("table").replaceChildren(rowsTable(file, form.wordColumns(file.columns)));
  const lacking = missing();
  hint(lacking ?? "");
  at("answer").hidden = at("answer").hidden || lacking !== null;
  at("recipes").hidden = at("recipes").hidden || lacking !== null;
  at("ask").hidden = true;
  if (lacking === null) timer = setTimeout(estimate, REST);
  else refuse("");
}

/** What is still missing; a receipt can name the file that has it. */
function missing() {
  const lacking = form.missing(), needs = file.receipt === null ? null : neededFile(file.receipt.recipe);
  return lacking === null || needs === null ? lacking : `${lacking} The release took ${needs}.`;
}

async function estimate() {
  stop();
  hint("");
  at("ask").hidden = true;
  if (document.getElementById("view-estimate").hidden) return; // other views need the same worker
  const own = new AbortController(), about = file;
  fitting = own;
  running(true);
  try {
    const { values } = await ask("estimate/answer", question(), {
      file: about.content, signal: own.signal, progress: (share) => { at("progress").value = share; } });
    refuse("");
    showAnswer(at, values);
    form.showSymbols();
  } catch (error) {
    if (error instanceof Refusal) { refuse(error.message); at("ask").hidden = false; }
    else if (error.name !== "AbortError") throw error;
  } finally {
    if (fitting === own) { fitting = null; running(false); }
  }
}

function question() {
  const number = (name) => Number(at(name).value), unless = (usual, value) => (value === usual ? null : value);
  const recipe = { ...form.file(file.name), ...form.where(), ...form.language(), epsilon: number("epsilon"), k: number("k"),
    edits: at("edits").value, mechanism: unless("", at("mechanism").value), utility: unless("best", at("utility").value),
    alpha: unless(1, number("alpha")), calibration: unless("tight", at("calibration").value) };
  return { recipe, receipt: file.receipt?.text ?? null, question: at("question").value, confidence: number("confidence") };
}

function stop() {
  clearTimeout(timer);
  fitting?.abort();
  fitting = null;
  running(false);
}

function running(yes) {
  at("cancel").hidden = at("running").hidden = !yes;
  at("answer").ariaBusy = String(yes);
  at("earlier").hidden = !yes || at("answer").hidden;
  at("progress").removeAttribute("value");
}

function hint(text) {
  at("hint").textContent = text;
  at("hint").hidden = text === "";
}

function refuse(text) {
  at("error").textContent = text;
  if (text === "") return;
  hint("");
  at("answer").hidden = at("recipes").hidden = true;
}

form.onChange(changed);
onFiles("estimate", (files) => open(files));
copyButtons("estimate");
at("format").addEventListener("change", () => { if (file !== null) look(file); });
at("ask").addEventListener("click", estimate);
at("cancel").addEventListener("click", () => {
  stop();
  hint("The estimate was cancelled.");
  at("answer").hidden = at("recipes").hidden = true;
  at("ask").hidden = false;
  at("ask").focus();
});
at("forget").addEventListener("click", () => {
  at("form").reset();
  at("alphabet").value = EXAMPLE.alphabet;
  at("epsilon").value = EXAMPLE.epsilon;
  openExample();
});
addEventListener("hashchange", () => { if (!location.hash.startsWith("#estimate")) stop(); });
