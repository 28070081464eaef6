// The view of runs: its settings, the large picture, and what is asked of the server.
import { write } from "./address.js";
import { ask, attempt, latest } from "./ask.js";
import { frame, parts } from "./board.js";
import { chart } from "./charts.js";
import { drawn, showFigures } from "./elements.js";
import { fromSettings, MOST_SIDE, resized, toSettings } from "./grid.js";
import { certifying } from "./runs_certificates.js";
import { drawable } from "./runs_drawing.js";
import { Model } from "./runs_model.js";
import { best, boardLegend, figures, MECHANISMS, panels, rowsOf, proportions } from "./runs_panels.js";
import { counted, readWord, separator, writeWord } from "./world.js";

const DRAWS = 12, MANY = 500; // releases, and draws of a heat map
const FIRST_LENGTH = 12; // of a random run on a system that was just loaded
const LINK = "The address holds the public settings for sharing. The run is private and stays out of it.";
const LINK_OF_FILE = "The address holds ε, k and the mechanism. The file, its rules and the run stay out of it.";

const at = (name) => document.getElementById(`runs-${name}`);
const radios = (name) => [...document.querySelectorAll(`input[name="runs-${name}"]`)];
const chosen = (name) => radios(name).find((input) => input.checked).value;
const rules = () => at("rules").value.split("\n").map((line) => line.trim()).filter((line) => line !== "");

const model = new Model();
let results = {}; // by mechanism
let heat = false;
let objection = ""; // to something else than the settings, such as the length of a random run; until something changes
const board = drawn("svg", { tabindex: 0, role: "application", "aria-label": "The system, to draw on",
  "aria-describedby": "runs-status" });
const update = latest(() => ["runs/release", question()], answered, refused);
const certificates = certifying(question, (values) => { results = { ...results, ...values }; paint(); });

/** Show the view with the settings of the address. */
export function show(settings) {
  const grid = fromSettings(settings);
  if (grid !== null) { model.setGrid(grid); model.cursor = grid.start; }
  if (["plans", "moves", "states"].includes(settings.get("words")) && model.system === null) model.setWords(settings.get("words"));
  for (const name of ["epsilon", "k", "rules"]) if (settings.has(name)) at(name).value = settings.get(name);
  if (settings.has("mechanism")) choose("mechanism", settings.get("mechanism"));
  if (settings.has("show")) heat = settings.get("show") === "heat";
  if (settings.has("run")) { at("link").checked = true; model.symbols = readWord(model.world, model.words, settings.get("run")); }
  else if (model.symbols.length === 0) { if (grid === null) model.firstRun(); else model.anyRun(); }
  if (model.system === null) choose("source", "grid");
  changed();
}

function choose(name, value) {
  for (const input of radios(name)) if (input.value === value) input.checked = true;
}

function question() {
  const recipe = { ...model.language(rules()), epsilon: Number(at("epsilon").value), k: Number(at("k").value) };
  return { recipe, run: model.symbols, draws: DRAWS, many: heat ? MANY : 0 };
}

/** After any change: show it, and ask for releases. `typing` leaves the text of the run as the user writes it. */
function changed(text = "", typing = false) {
  at("status").textContent = text;
  controls();
  if (!typing) at("run").value = writeWord(model.world, model.words, model.symbols);
  addressed();
  certificates.stop();
  objection = "";
  busy(true);
  paint(true);
  update();
}

/** Let the controls show what is set, and hide those that do not apply. */
function controls() {
  const onGrid = model.system === null, between = separator(model.world, model.words), written = model.words === "states" ? "states" : "moves";
  const visible = { "grid-settings": chosen("source") === "grid", "system-settings": chosen("source") !== "grid",
    "keys-grid": onGrid, "keys-system": !onGrid, "clear-walls": onGrid, tools: onGrid };
  for (const [name, shown] of Object.entries(visible)) at(name).hidden = !shown;
  for (const input of radios("words")) input.disabled = !(onGrid || model.system.words.includes(input.value));
  choose("words", model.words);
  at("rows").value = model.grid.rows;
  at("columns").value = model.grid.columns;
  at("epsilon-shown").value = at("epsilon").value;
  if (model.symbols.length > 0) at("length").value = model.symbols.length;
  at("run-hint").textContent = between === "" ? `One character for each ${written.slice(0, -1)}.`
    : `Names of ${written} with ${between === " " ? "spaces" : between} between them.`;
  const [last, other] = [model.world.names.at(-1), model.world.names[0]];
  at("rule-symbols").placeholder = last;
  at("rules-hint").textContent = `Such as contains:${last} or never:${other} or before:${other};${last} or re: and a pattern.`;
  at("show-runs").setAttribute("aria-pressed", String(!heat));
  at("show-heat").setAttribute("aria-pressed", String(heat));
  at("link").disabled = !onGrid;
  at("link-hint").textContent = onGrid ? LINK : LINK_OF_FILE;
}

/** Put the public settings into the address; those of a loaded system only as far as they mean something without it. */
function addressed() {
  const shared = { epsilon: at("epsilon").value, k: at("k").value, mechanism: chosen("mechanism"), show: heat ? "heat" : "" };
  const own = model.system !== null ? {} : { ...toSettings(model.grid), words: model.words, rules: rules().join("\n"),
    run: at("link").checked ? at("run").value : "" };
  write("runs", { ...shared, ...own });
}

function busy(is) { at("mechanisms").setAttribute("aria-busy", String(is)); }

function refused(text) {
  at("error").textContent = text || objection;
  if (text === "") return;
  results = {};
  paint();
  busy(false);
}

function answered(values) {
  results = { ...values, ...(certificates.known() ?? {}) };
  paint();
  busy(false);
  if (results.tight === undefined) certificates.wanted();
}

/** The name of the mechanism in the large picture; null if none is ready. */
function shown() { return chosen("mechanism") === "best" ? best(results) : chosen("mechanism"); }

/** Draw everything anew; `outdated` if the releases belong to earlier settings, and a new answer is under way. */
function paint(outdated = false) {
  const { world, words, symbols, cursor } = model, name = shown();
  const result = results[name] ?? null, many = result?.visits.length > 0 ? MANY : 0;
  const usable = result !== null && (!outdated || result.releases[0].length === symbols.length);
  board.setAttribute("viewBox", frame(world).join(" "));
  board.replaceChildren(...parts(world, { words, symbols, cursor, releases: usable ? result.releases : [],
    visits: usable ? proportions(result, many) : null }));
  at("board").querySelector("figcaption").firstChild.textContent = name === null ? "The private run"
    : result === null ? `${MECHANISMS[name].title}: no release to show`
      : `The private run and its releases: ${MECHANISMS[name].title}, ε = ${at("epsilon").value}`;
  at("board").querySelector(".legend").replaceWith(boardLegend(many));
  if (outdated) return;
  showFigures(at("figures"), figures(result, counted(words)));
  at("promise").textContent = result === null ? "" : `Promised: ${result.promise}.`;
  at("little").hidden = !result?.hides_little;
  panels(at("mechanisms"), world, { words, symbols, results, many });
}

/** Say what is wrong; what is there stays. */
function object(text) {
  objection = text;
  at("error").textContent = text;
}

async function randomRun(length) {
  const { values } = await ask("runs/random", { recipe: model.language(rules()), length });
  model.symbols = values.run;
  changed();
}

async function load() {
  if (at("file").files.length === 0) return;
  certificates.stop();
  update.forget(); // an answer about what was there before would be taken for the file's
  busy(true);
  await attempt(async () => {
    await readFile();
    at("rules").value = "";
    if (model.system === null) choose("source", "grid");
    await attempt(() => randomRun(FIRST_LENGTH), () => { model.anyRun(); changed(); }); // there may be none of this length
  }, refused);
}

/** Show the options that a kind of file takes; returns those that are filled in. */
function options(kind) {
  const takes = { start: ["csv", "dot", "gv", "graphml"].includes(kind), action: kind === "graphml" };
  for (const [name, shown] of Object.entries(takes)) at(`file-${name}-label`).hidden = !shown;
  at("file-options").hidden = !takes.start;
  return Object.fromEntries(Object.keys(takes).map((name) => [name, at(`file-${name}`).value.trim()])
    .filter(([name, value]) => takes[name] && value !== ""));
}

/** Read the chosen file into the model: a map becomes a grid that can be edited. Raises a refusal. */
async function readFile() {
  const file = at("file").files[0];
  const values = { name: file.name, ...options(file.name.toLowerCase().split(".").at(-1)) };
  at("loaded").textContent = "Reading the file …";
  try {
    const { values: found } = await ask("runs/load", values, { file });
    if (found.grid === null) model.setSystem(found);
    else model.setGrid(gridOf(found.grid));
    model.symbols = [];
    at("loaded").textContent = `${file.name}: ${found.states.length} states, ${found.moves.length} moves.`;
  } catch (error) {
    at("loaded").textContent = "";
    throw error;
  }
}

function gridOf({ rows, columns, start, walls, goal }) {
  const names = (cells) => new Set(cells.map((cell) => cell.join(",")));
  return { rows, columns, start: start.join(","), walls: names(walls), goals: names(goal) };
}

/** The rule that the small form describes, as in "at_most:2;4,7"; null if no state or move is named. */
function ruleText() {
  const name = at("rule-name").value, named = at("rule-symbols").value.split(";").map((symbol) => symbol.trim()).filter((symbol) => symbol !== "");
  if (named.length === 0 || (name === "before" && named.length !== 2)) return null;
  return `${name}:${[...(name.startsWith("at_") ? [at("rule-times").value] : []), ...named].join(";")}`;
}

drawable(board, model, { tool: () => chosen("tool"), changed, moved: () => { at("status").textContent = model.here; paint(); } });
chart(at("board"), "The private run", board, () => {
  const result = results[shown()] ?? { releases: [], visits: [] };
  return rowsOf(model.world, model.words, model.symbols, result, result.visits.length > 0 ? MANY : 0);
}, "runs", boardLegend(0));

at("form").addEventListener("submit", (event) => event.preventDefault());
for (const name of ["epsilon", "k", "link", "rules"]) at(name).addEventListener("input", () => changed());
for (const name of ["rows", "columns"]) {
  at(name).addEventListener("change", () => {
    const side = (each) => Math.min(Math.max(Math.round(Number(at(each).value)) || 2, 2), MOST_SIDE);
    model.setGrid(resized(model.grid, side("rows"), side("columns")));
    changed();
  });
}
at("run").addEventListener("input", () => {
  model.symbols = readWord(model.world, model.words, at("run").value);
  changed("", true);
});
at("clear").addEventListener("click", () => { model.symbols = []; changed("The run is empty."); });
at("clear-walls").addEventListener("click", () => {
  model.setGrid({ ...model.grid, walls: new Set(), goals: new Set() });
  changed();
});
at("random").addEventListener("click", () => attempt(() => randomRun(Number(at("length").value) || 0), object));
at("show-runs").addEventListener("click", () => { heat = false; changed(); });
at("show-heat").addEventListener("click", () => { heat = true; changed(); });
at("again").addEventListener("click", () => { certificates.forget(); changed(); });
for (const input of radios("words")) input.addEventListener("change", () => { model.setWords(input.value); changed(); });
for (const input of radios("mechanism")) input.addEventListener("change", () => { paint(); addressed(); });
for (const input of radios("source")) {
  input.addEventListener("change", () => {
    if (chosen("source") === "system" && at("file").files.length > 0) { load(); return; }
    if (chosen("source") === "grid" && model.system !== null) { model.setGrid(model.grid); at("rules").value = ""; model.anyRun(); }
    changed();
  });
}
for (const name of ["file", "file-start", "file-action"]) at(name).addEventListener("change", load);
at("rule-name").addEventListener("change", () => { at("rule-times-label").hidden = !at("rule-name").value.startsWith("at_"); });
at("rule-add").addEventListener("click", () => {
  const text = ruleText();
  object(text === null ? "a rule needs a state or a move, and … before … two with a semicolon between them" : "");
  if (text === null) return;
  at("rules").value = [...rules(), text].join("\n");
  changed();
});
