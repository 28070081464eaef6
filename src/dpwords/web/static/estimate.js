// The view of estimates: a released file goes in, proportions with intervals come out, beside the plain count.
import { ask, attempt } from "./ask.js";
import { showAnswer } from "./estimate_answers.js";
import { fileForm, neededFile } from "./file_form.js";
import { fileView } from "./file_view.js";

const REST = 400; // milliseconds without a change after which an estimate is asked for
const EXAMPLE = {
  name: "trips.private.csv",
  about: "An example is loaded: made-up trips between six stations, released at ε = 2.",
  settings: { alphabet: "A-F", epsilon: "2" },
  content: async () => (await fetch("/static/estimate_example.csv")).blob(),
};

let fitting = null; // what ends the estimate that is under way
let timer = 0;

const form = fileForm("estimate", ["question", "confidence", "model", "epsilon", "k", "edits", "mechanism", "utility", "alpha", "calibration"]);
const { at } = form;
const view = fileView("estimate", form, EXAMPLE, {
  command: "estimate", receipts: true, answers: ["answer", "recipes"], stop, missing,
  cleared: () => { at("receipt").textContent = ""; },
  more: () => ({}),
  looked: ({ receipt, columns }) => {
    if (receipt !== null) form.take(receipt.recipe, columns);
    at("receipt").textContent = receipt === null ? "" : `Its receipt says: ${receipt.guarantee}.`;
  },
  ready: (yes) => {
    at("ask").hidden = true;
    if (yes) timer = setTimeout(estimate, REST);
  },
  reset: () => at("form").reset(),
});

/** Show the view with the settings of the address. */
export const { show } = view;

/** What is still missing; a receipt can name the file that has it. */
function missing() {
  const lacking = form.missing(), { receipt } = view.file, needs = receipt === null ? null : neededFile(receipt.recipe);
  return lacking === null || needs === null ? lacking : `${lacking} The release took ${needs}.`;
}

async function estimate() {
  stop();
  view.hint("");
  at("ask").hidden = true;
  if (document.getElementById("view-estimate").hidden) return; // other views need the same worker
  const own = new AbortController();
  fitting = own;
  running(true);
  await attempt(async () => {
    const { values } = await ask("estimate/answer", question(), {
      file: view.file.content, signal: own.signal, progress: (share) => { at("progress").value = share; } });
    view.refuse("");
    showAnswer(at, values);
    form.showSymbols();
  }, (text) => { view.refuse(text); at("ask").hidden = false; });
  if (fitting === own) { fitting = null; running(false); }
}

function question() {
  const number = (name) => Number(at(name).value), unless = (usual, value) => (value === usual ? null : value), { name, receipt } = view.file;
  const recipe = { ...form.file(name), ...form.where(), ...form.language(), epsilon: number("epsilon"), k: number("k"),
    edits: at("edits").value, mechanism: unless("", at("mechanism").value), utility: unless("best", at("utility").value),
    alpha: unless(1, number("alpha")), calibration: unless("tight", at("calibration").value) };
  return { recipe, receipt: receipt?.text ?? null, question: at("question").value,
    confidence: number("confidence"), model: at("model").value };
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

at("ask").addEventListener("click", estimate);
at("cancel").addEventListener("click", () => {
  stop();
  view.hint("The estimate was cancelled.");
  at("answer").hidden = at("recipes").hidden = true;
  at("ask").hidden = false;
  at("ask").focus();
});
addEventListener("hashchange", () => { if (!location.hash.startsWith("#estimate")) stop(); });
