// The view of odds: what two words have to do with each other, whether the promise holds, and what it costs.
import { copyButton, write } from "./address.js";
import { alphabetChoice } from "./alphabets.js";
import { latest } from "./ask.js";
import { lines } from "./charts.js";
import { element, percentAtMost, rounded } from "./elements.js";
import { curves } from "./odds_curve.js";
import { belief, guesses, measured, routes } from "./odds_pictures.js";
import { consisting } from "./world.js";

const at = (name) => document.getElementById(`odds-${name}`);
const SHARED = { kind: "kind", rows: "rows", columns: "columns", start: "start", symbols: "symbols", epsilon: "epsilon-number",
  k: "k", edits: "edits" }; // names in the address, and fields
const WIDEST = 12, LEAST = 0.1, LEAST_EDITS = 0.7; // ends of the slider for k = 1
const ROUTES = { plans: ["EESSEE", "ESESEE"], moves: ["EESSEE", "EESSES"], states: ["0,1 0,2 1,2 2,2", "0,1 1,1 1,2 2,2"] };

const alphabet = alphabetChoice("odds", [at("one"), at("other")]);
const update = latest(question, answered, refused);
const audit = latest(() => ["odds/audit", about()], audited, (text) => { at("audit-error").textContent = text; });
const curve = curves(at("curve"), { busy: at("curve-busy"), progress: at("curve-progress"), cancel: at("curve-cancel"),
  error: at("curve-error"), optimal: at("curve-optimal"), guessed: at("guess-curve") });
const guess = latest(() => ["odds/guess", about()], guessed, (text) => { at("guess-error").textContent = text; });
let length = 1; // of the words in the last answer
let mechanism = ""; // the title that was chosen, "" for the default

/** Show the view with the settings of the address. */
export function show(settings) {
  for (const [name, field] of Object.entries(SHARED)) if (settings.has(name)) at(field).value = settings.get(name);
  mechanism = settings.get("mechanism") ?? "";
  if (settings.has("symbols")) exampleRoutes();
  if (settings.has("one")) { words().forEach((word, place) => { word.value = settings.get(["one", "other"][place]) ?? ""; }); at("share").checked = true; }
  alphabet.read(settings);
  changed();
}

at("form").addEventListener("submit", (event) => event.preventDefault());
at("form").addEventListener("input", (event) => {
  if (event.target === at("epsilon")) at("epsilon-number").value = at("epsilon").value;
  if (event.target === at("mechanism")) mechanism = at("mechanism").value;
  if (event.target === at("symbols")) exampleRoutes();
  if (event.target === at("share")) { at("copied").textContent = ""; keep(); return; }
  changed();
});
copyButton("odds", keep, "the words");

function onGrid() { return at("kind").value === "grid"; }

/** The two fields whose words are compared. */
function words() { return onGrid() ? [at("route-one"), at("route-other")] : [at("one"), at("other")]; }

/** Routes that are written as the select says. */
function exampleRoutes() { [at("route-one").value, at("route-other").value] = ROUTES[at("symbols").value]; }

function changed() {
  at("words-fields").hidden = onGrid();
  at("grid-fields").hidden = !onGrid();
  const k = Math.max(1, Number(at("k").value) || 1);
  at("epsilon").min = (at("edits").value === "all" ? LEAST_EDITS : LEAST) * k;
  at("epsilon").max = WIDEST * k;
  at("epsilon").value = at("epsilon-number").value;
  keep();
  update();
}

/** Put the public settings into the address, and the words if the user ticked the box. */
function keep() {
  const settings = Object.fromEntries(Object.entries(SHARED).map(([name, field]) => [name, at(field).value]));
  if (!onGrid()) for (const name of ["rows", "columns", "start", "symbols"]) delete settings[name];
  const [one, other] = words().map((word) => (at("share").checked ? word.value : ""));
  write("odds", { ...(onGrid() ? {} : alphabet.settings()), ...settings, mechanism, one, other });
}

function language() {
  if (!onGrid()) return alphabet.language();
  return { system: `grid:${at("rows").value}x${at("columns").value}@${at("start").value || "any"}`, ...consisting(at("symbols").value) };
}

function promise() {
  return { epsilon: Number(at("epsilon-number").value), k: Number(at("k").value), edits: at("edits").value };
}

function question() {
  const [one, other] = words().map((word) => word.value);
  return ["odds/explain", { recipe: { ...language(), ...promise() }, title: mechanism, one, other }];
}

/** What is asked about the length only, not about the two words. */
function about() { return { recipe: { ...language(), ...promise() }, title: mechanism, length }; }

function refused(text) {
  at("error").textContent = text;
  at("shown").classList.toggle("busy", text !== "");
}

function answered(answer) {
  length = answer.length;
  alphabet.found();
  offer(answer);
  at("short").textContent = answer.distance === 0 ? "The two words are the same: there is nothing to tell apart."
    : `${answer.is_private ? "Promised" : "Not promised, but computed"}: ${answer.of_100}.`;
  if (answer.loss === null) at("short").textContent = "Nothing is promised about these two words.";
  at("distance").textContent = answer.distance;
  at("loss-name").textContent = answer.is_private ? "Loss, at most" : "True loss, at most";
  at("loss").textContent = answer.loss === null ? "no bound" : rounded(answer.loss);
  at("ratio").textContent = answer.ratio === null ? "no bound" : `${rounded(answer.ratio)} : 1`;
  at("certainty").textContent = answer.certainty === null ? "certain" : percentAtMost(answer.certainty);
  at("text").textContent = `${answer.text[0].toUpperCase()}${answer.text.slice(1)}.`;
  at("promise").textContent = answer.promise;
  guesses(at("cases"), answer.cases);
  belief(at("belief"), answer.certainty);
  at("runs").hidden = answer.runs === null;
  if (answer.runs !== null) routes(at("runs"), Number(at("rows").value), Number(at("columns").value), answer.runs.one, answer.runs.other);
  at("shown").hidden = false;
  guess();
  audit();
  curve({ ...promise(), language: language(), length });
}

/** The mechanisms that apply, in the select; the choice stays if it still exists. */
function offer({ mechanisms, title }) {
  at("mechanism").replaceChildren(...mechanisms.map((each) => element("option", { value: each.title }, each.title)));
  at("mechanism").value = title;
}

/** What is guessed of words of this length, in words and as figures. */
function guessed({ found, informed, length: positions, title }) {
  at("guess-figures").hidden = found === null;
  at("guess-informed").textContent = informed === null ? "Somebody who knows which words are usual guesses more; how much is too large to compute here."
    : `Somebody who knows which words are usual guesses more: ${informed.of_100}.`;
  if (found === null) {
    at("guess-short").textContent = `What is guessed through “${title}” is too large to compute here: use shorter words, or a smaller grid.`;
    at("guess-positions").replaceChildren();
    at("guess-how").textContent = "";
    return;
  }
  at("guess-short").textContent = `${found.of_100[0].toUpperCase()}${found.of_100.slice(1)}.`;
  at("guess-hits-name").textContent = found.exact ? "Positions guessed" : "Positions guessed, at most";
  at("guess-hits").textContent = `${rounded(found.hits)} of ${positions}`;
  at("guess-hits-without").textContent = `${rounded(found.without.hits)} of ${positions}`;
  at("guess-whole").textContent = percentAtMost(found.whole);
  at("guess-whole-without").textContent = percentAtMost(found.without.whole);
  const how = informed === null || informed.how === found.how ? "" : ` For usual words: ${informed.how}.`;
  at("guess-how").textContent = `${found.how[0].toUpperCase()}${found.how.slice(1)}.${how}`;
  lines(at("guess-positions"), { title: "Probability of guessing each position", name: "positions", across: "position", up: "probability",
    series: [{ name: "with the release", colour: "changed", points: found.positions.map((probability, number) => [number + 1, probability]) },
      { name: "without it", colour: "inverse", dashed: true, points: found.positions_without.map((probability, number) => [number + 1, probability]) }] });
}

function audited({ audits, length: places, symbols, shorter }) {
  const [first] = audits;
  const over = symbols === null ? "" : ` over the first ${symbols} symbols of the alphabet`;
  const part = first.holds === null ? ` of up to ${first.longest} symbols` : "";
  const rest = first.holds === null ? ` Other outputs have a probability of up to ${rounded(first.delta)} and are not covered.` : "";
  at("audit-about").textContent = `Every output${part} of every pair of ${first.words} words is compared: all words of length ${places}${shorter ? " or less" : ""}${over}.${rest}`;
  measured(at("audit"), audits);
  at("audit-lines").replaceChildren(...audits.filter(({ worst }) => worst !== null).map(({ title, worst }) => element("li", {},
    `${title}: the worst pair is “${worst.pair[0]}” and “${worst.pair[1]}” (distance ${worst.distance}), at the output “${worst.output}”: loss ${worst.loss === null ? "without bound" : rounded(worst.loss)}.`)));
}
