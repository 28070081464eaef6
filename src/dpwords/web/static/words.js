// The view of words: releases of one word with their changes marked, what they cost, and what is promised.
import { copyButton, write } from "./address.js";
import { alphabetChoice } from "./alphabets.js";
import { latest } from "./ask.js";
import { bars } from "./charts.js";
import { element, markedWord, percent, rounded } from "./elements.js";

const at = (name) => document.getElementById(`words-${name}`);
const SHARED = { epsilon: "epsilon-number", distance: "distance", probability: "probability", most: "most", edits: "edits",
  k: "k", j: "j" }; // names in the address, and fields
const WIDEST = 15, LEAST = 0.1, LEAST_EDITS = 0.7; // ends of the slider for k = 1
const MANY = 12, FEW = 4, LONG = 160; // releases that are shown, fewer for words of more characters

const alphabet = alphabetChoice("words", [at("word")]);
const update = latest(question, answered, refused);
let distribution = []; // of the last answer

/** Show the view with the settings of the address. */
export function show(settings) {
  if (settings.has("word")) { at("word").value = settings.get("word"); at("share").checked = true; }
  alphabet.read(settings);
  for (const [name, field] of Object.entries(SHARED)) if (settings.has(name)) at(field).value = settings.get(name);
  if (settings.has("by")) (at(`by-${settings.get("by")}`) ?? at("by-epsilon")).checked = true;
  changed();
}

at("form").addEventListener("submit", (event) => event.preventDefault());
at("form").addEventListener("input", (event) => {
  if (event.target === at("epsilon")) { at("epsilon-number").value = at("epsilon").value; choose("epsilon"); }
  if (event.target === at("epsilon-number")) choose("epsilon");
  if (event.target === at("distance")) choose("distance");
  if (event.target === at("probability") || event.target === at("most")) choose("probability");
  changed(event);
});
at("again").addEventListener("click", update);
at("j").addEventListener("input", () => { showWithin(); keep(); });
copyButton("words", keep, "the word");

function choose(by) { at(`by-${by}`).checked = true; }

function by() { return at("form").querySelector('[name="words-by"]:checked').value; }

/** The ends of the slider follow k and the kind of edits. */
function fitSlider() {
  const k = Math.max(1, Number(at("k").value) || 1), all = at("edits").value === "all";
  at("epsilon").min = (all ? LEAST_EDITS : LEAST) * k;
  at("epsilon").max = WIDEST * k;
  at("epsilon").value = at("epsilon-number").value;
}

function changed(event) {
  if (event?.target === at("share")) { at("copied").textContent = ""; keep(); return; }
  fitSlider();
  keep();
  update();
}

/** Put the public settings into the address, and the word if the user ticked the box. */
function keep() {
  const shared = Object.fromEntries(Object.entries(SHARED).map(([name, field]) => [name, at(field).value]));
  write("words", { ...alphabet.settings(), ...shared,
    by: by() === "epsilon" ? "" : by(), word: at("share").checked ? at("word").value : "" });
}

function question() {
  const values = { word: at("word").value, draws: at("word").value.length > LONG ? FEW : MANY,
    recipe: { ...alphabet.language(), k: Number(at("k").value), edits: at("edits").value } };
  if (by() === "epsilon") values.recipe.epsilon = Number(at("epsilon-number").value);
  else if (by() === "distance") values.target = { distance: Number(at("distance").value) };
  else values.target = { probability: Number(at("probability").value) / 100, at_most: Number(at("most").value) };
  return ["words/release", values];
}

function refused(text) {
  at("error").textContent = text;
  at("shown").classList.toggle("busy", text !== "");
}

function answered(answer) {
  distribution = answer.distribution;
  alphabet.found();
  if (by() !== "epsilon") { at("epsilon-number").value = answer.epsilon; fitSlider(); keep(); }
  const changes = answer.edits_made ? "edits" : "changes";
  at("short").textContent = `At ε = ${rounded(answer.epsilon)}, ${rounded(answer.expected)} ${changes} are made on average in `
    + `a word of ${answer.length} symbol${answer.length === 1 ? "" : "s"}.`;
  at("releases-title").textContent = answer.releases.length === FEW ? "Four releases" : "Twelve releases";
  at("releases").replaceChildren(...answer.releases.map((marks) => row(marks, answer.between)));
  at("expected-name").textContent = answer.edits_made ? "Edits on average" : "Changes on average";
  at("expected").textContent = rounded(answer.expected);
  at("unchanged-name").textContent = answer.edits_made ? "No edit" : "Unchanged";
  at("unchanged").textContent = percent(distribution[0]);
  at("within-name").textContent = answer.edits_made ? "edits" : "changed";
  showWithin();
  showPromise(answer);
  showLiteral(answer);
  showDistribution(answer);
  at("shown").hidden = false;
}

function row(marks, between) {
  const count = marks.filter(([, change]) => change !== "same").length;
  return element("li", {}, element("span", {}, ...markedWord(marks, between)),
    element("span", { class: "count" }, count === 0 ? "unchanged" : `${count} changed`));
}

function showWithin() {
  const most = Math.max(0, Math.floor(Number(at("j").value) || 0));
  at("within").textContent = percent(Math.min(1, distribution.slice(0, most + 1).reduce((sum, share) => sum + share, 0)));
}

function showDistribution({ edits_made: made, literal }) {
  const series = [{ name: "this mechanism", colour: made ? "channel" : "tight", values: distribution }];
  if (literal !== null) series.push({ name: "the paper's formula (not private)", colour: "literal", values: literal.distribution });
  bars(at("distribution"), { title: made ? "How many edits are made" : "How many symbols change", name: "changes",
    across: made ? "edits" : "changes", up: "probability", series });
}

function showPromise({ of_100: cases, promise, warnings }) {
  at("odds").textContent = cases === null ? "" : "Say somebody knows two words within k changes of each other, one of them yours, "
    + `and holds both equally likely: ${cases}.`;
  at("promise").replaceChildren(...promise.map((line) => element("li", {}, line)));
  at("warnings").replaceChildren(...warnings.map((line) => element("li", {}, line)));
}

function showLiteral({ literal, between }) {
  at("literal").hidden = literal === null;
  if (literal === null) return;
  at("claimed").textContent = rounded(literal.claimed);
  at("true").textContent = rounded(literal.true);
  at("literal-expected").textContent = rounded(literal.expected);
  at("reason").textContent = `It is not private at the ε that it claims: ${literal.reason}.`;
  at("perturbed").replaceChildren(...literal.words.map((marks) => row(marks, between)));
}
