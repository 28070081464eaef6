// The view of runs: the settings, the large picture, and what is asked of the server.
import { write } from "./address.js";
import { ask, latest, Refusal } from "./ask.js";
import { frame, parts } from "./board.js";
import { chart } from "./charts.js";
import { drawn } from "./elements.js";
import { described, FIRST_RUN, firstGrid, fromSettings, MOST_SIDE, resized, toSettings } from "./grid.js";
import { drawable } from "./runs_drawing.js";
import { best, boardLegend, figures, MECHANISMS, panels, rowsOf, shares } from "./runs_panels.js";
import { rulesText } from "./runs_rules.js";
import { gridWorld, pathOf, readWord, separator, someRun, symbolsOf, systemWorld, way, writeWord } from "./world.js";

const at = (name) => document.getElementById(`runs-${name}`);
const DRAWS = 12, MANY = 500, REST = 400; // releases; draws of a heat map; milliseconds without a change
const FIRST_LENGTH = 12; // of a random run on a system that was just loaded
const KEPT = 40; // answers with certificates

let grid = firstGrid();
let system = null; // what the server said about a loaded file
let world = gridWorld(grid);
let symbols = []; // the private word
let results = {}; // by mechanism
let heat = false;
const certificates = new Map(); // results of the long lane, by question
let certifying = null; // { key, controller } while a certificate is computed
let resting = 0; // a timer

const board = drawn("svg", { tabindex: 0, role: "application", "aria-label": "The system, to draw on", "aria-describedby": "runs-status" });
const view = {
  cursor: grid.start,
  world: () => world,
  grid: () => (system === null ? grid : null),
  tool: () => chosen("tool"),
  end: () => world.names[path().at(-1)],
  goTo, back, clear, moved, edited,
  step: (name) => { if (world.byName.has(name)) extend(world.byName.get(name)); else say("There is a wall."); },
  say,
};

const update = latest(() => ["runs/release", question()], answered, refused);

/** Show the view with the settings of the address. */
export function show(settings) {
  const found = fromSettings(settings);
  if (found !== null) { grid = found; system = null; view.cursor = grid.start; choose("source", "grid"); }
  for (const name of ["epsilon", "k"]) if (settings.has(name)) at(name).value = settings.get(name);
  for (const name of ["words", "mechanism"]) if (settings.has(name)) choose(name, settings.get(name));
  if (settings.has("rules")) at("rules").value = settings.get("rules");
  if (settings.has("show")) heat = settings.get("show") === "heat";
  rebuilt();
  if (settings.has("run")) { at("link").checked = true; symbols = readWord(world, words(), settings.get("run")); }
  else if (symbols.length === 0) symbols = symbolsOf(world, words(), found === null ? pathOf(world, "moves", FIRST_RUN) : someRun(world));
  changed();
}

function chosen(name) { return document.querySelector(`input[name="runs-${name}"]:checked`).value; }
function choose(name, value) {
  const input = document.querySelector(`input[name="runs-${name}"][value="${CSS.escape(value)}"]`);
  if (input !== null && !input.disabled) input.checked = true;
}
function words() { return chosen("words"); }
function path() { return pathOf(world, words(), symbols); }
function say(text) { at("status").textContent = text; }

// Editing ------------------------------------------------------------------------------------------------------------

/** After the grid or the system is another one: keep of the run what is still possible. */
function rebuilt() {
  const names = path().map((state) => world.names[state]);
  world = system === null ? gridWorld(grid) : systemWorld(system);
  const kept = [];
  for (const name of names) {
    const state = world.byName.get(name);
    const first = kept.length === 0 && (world.start === null || state === world.start);
    if (state === undefined || !(first || (kept.length > 0 && [...world.next[kept.at(-1)].values()].includes(state)))) break;
    kept.push(state);
  }
  symbols = kept.length === 0 ? [] : symbolsOf(world, words(), kept);
  if (system === null ? !inside(view.cursor) : !world.byName.has(view.cursor)) view.cursor = world.names[world.start ?? 0];
  for (const [name, shown] of [["grid-settings", chosen("source") === "grid"], ["system-settings", chosen("source") !== "grid"],
    ["keys-grid", system === null], ["keys-system", system !== null], ["clear-walls", system === null], ["tools", system === null]]) at(name).hidden = !shown;
  at("rows").value = grid.rows;
  at("columns").value = grid.columns;
}

function inside(name) {
  const [row, column] = name.split(",").map(Number);
  return row < grid.rows && column < grid.columns;
}

function edited() { rebuilt(); changed(); }

function setPath(states) { symbols = states.length === 0 ? [] : symbolsOf(world, words(), states); changed(); }

/** Let the run go on to a state, on a shortest way; to the state before its last one, it steps back. */
function goTo(name) {
  const to = world.byName.get(name), so = path();
  if (to === undefined) { say("There is a wall."); return; }
  if (so.length === 0) { setPath([to]); return; }
  if (so.length > 1 && so.at(-2) === to) { back(); return; }
  const onward = way(world, so.at(-1), to);
  if (onward === null) say("No way leads there from the end of the run.");
  else if (onward.length > 0) extend(...onward);
}

function extend(...states) {
  const so = path();
  symbols = [...symbols.slice(0, so.length - (world.start === null ? 0 : 1)), ...symbolsOf(world, words(), [...so.slice(-1), ...states]).slice(world.start === null ? 1 : 0)];
  view.cursor = world.names[states.at(-1)];
  changed();
  told();
}

function back() {
  symbols = symbols.slice(0, -1);
  if (path().length > 0) view.cursor = view.end();
  changed();
  told();
}

function clear() { symbols = []; changed(); say("The run is empty."); }
function told() { say(`${view.cursor}: the run has ${symbols.length} steps.`); }
function moved() {
  const kind = system === null && grid.walls.has(view.cursor) ? ", wall" : world.goals?.has(world.byName.get(view.cursor)) ? ", goal"
    : world.byName.get(view.cursor) === world.start ? ", start" : "";
  say(`${view.cursor}${kind}${path().includes(world.byName.get(view.cursor)) ? ", on the run" : ""}`);
  paint();
}

drawable(board, view);
at("form").addEventListener("submit", (event) => event.preventDefault());
at("clear").addEventListener("click", clear);
at("clear-walls").addEventListener("click", () => { grid.walls.clear(); grid.goals.clear(); edited(); });
for (const name of ["rows", "columns"]) {
  at(name).addEventListener("change", () => {
    const [rows, columns] = ["rows", "columns"].map((each) => Math.min(Math.max(Math.round(Number(at(each).value)) || 2, 2), MOST_SIDE));
    grid = resized(grid, rows, columns);
    edited();
  });
}
at("words").addEventListener("change", (event) => {
  const before = event.target.value === "states" ? "moves" : "states";
  symbols = symbolsOf(world, words(), pathOf(world, before, symbols));
  changed();
});
at("run").addEventListener("input", () => { symbols = readWord(world, words(), at("run").value); changed(true); });
for (const name of ["epsilon", "k", "link", "rules"]) at(name).addEventListener("input", () => changed());
for (const input of document.querySelectorAll('input[name="runs-mechanism"]')) input.addEventListener("change", () => { paint(); addressed(); });
at("rule-name").addEventListener("change", () => { at("rule-times-label").hidden = !at("rule-name").value.startsWith("at_"); });
at("rule-add").addEventListener("click", () => {
  const text = rulesText(at("rule-name").value, at("rule-times").value, at("rule-symbols").value);
  if (text === null) { refused("a rule needs a state or a move: write for example 4,7, or two with a semicolon between them"); return; }
  at("rules").value = [...rules(), text].join("\n");
  changed();
});
for (const [name, wanted] of [["show-runs", false], ["show-heat", true]]) at(name).addEventListener("click", () => { heat = wanted; changed(); });
at("again").addEventListener("click", () => { certificates.clear(); changed(); });
at("random").addEventListener("click", randomRun);
for (const input of document.querySelectorAll('input[name="runs-source"]')) {
  input.addEventListener("change", () => {
    if (chosen("source") === "grid") { system = null; offerWords(["moves", "states"]); }
    else if (at("file").files.length > 0) { load(); return; }
    edited();
  });
}
at("file").addEventListener("change", load);
for (const name of ["file-start", "file-action"]) at(name).addEventListener("change", load);

function rules() { return at("rules").value.split("\n").map((line) => line.trim()).filter((line) => line !== ""); }

async function randomRun() {
  await tried(async () => {
    const { values } = await ask("runs/random", { language: language(), length: Number(at("length").value) || 0 });
    symbols = values.run;
    changed();
  });
}

/** Read the chosen file. */
async function load() {
  const file = at("file").files[0];
  if (file === undefined) return;
  const kind = file.name.toLowerCase().split(".").at(-1);
  const takes = { "file-start": ["csv", "dot", "gv", "graphml"].includes(kind), "file-action": kind === "graphml" };
  for (const [name, shown] of Object.entries(takes)) at(`${name}-label`).hidden = !shown;
  at("file-options").hidden = !takes["file-start"];
  stopCertifying();
  at("loaded").textContent = "Reading the file …";
  at("mechanisms").setAttribute("aria-busy", "true");
  const option = (name) => (takes[name] && at(name).value.trim() !== "" ? at(name).value.trim() : undefined);
  const done = await tried(async () => {
    const { values } = await ask("runs/load", { name: file.name, start: option("file-start"), action: option("file-action") }, { file });
    const editable = values.grid !== null;
    at("rules").value = "";
    if (editable) {
      const cell = (pair) => pair.join(",");
      grid = { ...values.grid, start: cell(values.grid.start), walls: new Set(values.grid.walls.map(cell)), goals: new Set(values.grid.goal.map(cell)) };
      system = null;
    } else system = values;
    symbols = [];
    at("length").value = FIRST_LENGTH;
    offerWords(values.words);
    if (editable) choose("source", "grid");
    edited();
    at("loaded").textContent = `${file.name}: ${values.states.length} states, ${values.moves.length} moves.`;
  });
  if (!done) at("loaded").textContent = "";
  else await randomRun();
}

/** Of words of moves and of states, offer those that the system has. */
function offerWords(kinds) {
  for (const input of document.querySelectorAll('input[name="runs-words"]')) input.disabled = !kinds.includes(input.value);
  if (!kinds.includes(words())) choose("words", kinds[0]);
}

async function tried(action) {
  try {
    await action();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused(error.message);
    return false;
  }
}

// Asking and showing ---------------------------------------------------------------------------------------------------

function language() {
  const told = system === null ? described(grid) : { kind: "system", system: system.system };
  return { ...told, words: words(), rules: rules() };
}

function question() {
  return { language: language(), promise: { epsilon: Number(at("epsilon").value), k: Math.max(1, Math.round(Number(at("k").value)) || 1) },
    run: symbols, draws: DRAWS, many: heat ? MANY : 0 };
}

/** After any change: show it, and ask for releases. `typing` leaves the text of the run as the user writes it. */
function changed(typing = false) {
  at("epsilon-shown").value = at("epsilon").value;
  if (!typing) at("run").value = writeWord(world, words(), symbols);
  at("run-hint").textContent = separator(world, words()) === "" ? "One letter for each move." : `${words() === "moves" ? "Moves" : "States"} with ${separator(world, words()) === " " ? "spaces" : separator(world, words())} between them.`;
  for (const [name, on] of [["show-runs", !heat], ["show-heat", heat]]) at(name).setAttribute("aria-pressed", String(on));
  if (symbols.length > 0) at("length").value = symbols.length;
  addressed();
  stopCertifying();
  at("mechanisms").setAttribute("aria-busy", "true");
  paint(true);
  update();
}

function addressed() {
  const shared = { epsilon: at("epsilon").value, k: at("k").value, mechanism: chosen("mechanism"), show: heat ? "heat" : "" };
  const own = system === null ? { ...toSettings(grid), words: words(), rules: rules().join("\n"), run: at("link").checked ? at("run").value : "" } : {};
  write("runs", { ...shared, ...own });
  at("link").disabled = system !== null;
  at("link-hint").textContent = system === null ? "The address holds the public settings for sharing. The run is private and stays out of it."
    : "The address holds ε, k and the mechanism. The file, its rules and the run stay out of it.";
}

function refused(text) {
  at("error").textContent = text;
  if (text !== "") { results = {}; shownAnew(); }
}

function shownAnew() {
  paint();
  at("mechanisms").setAttribute("aria-busy", "false");
}

function answered(values) {
  const key = JSON.stringify(question());
  results = { ...values, ...(certificates.get(key) ?? {}) };
  shownAnew();
  if (results.tight === undefined) {
    waiting("The certificate is computed when nothing has changed for a moment.", false);
    resting = setTimeout(() => certify(key), REST);
  } else waiting("", false);
}

/** Compute the certified mechanism in the background; a change or Cancel ends it. */
async function certify(key) {
  if (key !== JSON.stringify(question()) || certifying !== null) return;
  const controller = new AbortController();
  certifying = { key, controller };
  waiting("Searching for a certificate, at most about a minute; until then the others are what is proven.", true);
  try {
    const progress = (share) => { at("progress").value = share; };
    const { values } = await ask("runs/certified", question(), { progress, signal: controller.signal });
    if (certificates.size >= KEPT) certificates.delete(certificates.keys().next().value);
    certificates.set(key, values);
    if (key === JSON.stringify(question())) { results = { ...results, ...values }; paint(); waiting("", false); }
  } catch (error) {
    if (error.name !== "AbortError" && !(error instanceof Refusal)) throw error;
    if (error instanceof Refusal) waiting(`No certificate: ${error.message}.`, false, true);
  } finally {
    if (certifying?.controller === controller) certifying = null;
  }
}

function stopCertifying() {
  clearTimeout(resting);
  certifying?.controller.abort();
  certifying = null;
  waiting("", false);
}

function waiting(text, busy, offered = false) {
  at("certifying").textContent = text;
  at("progress").hidden = at("cancel").hidden = !busy;
  if (busy) at("progress").removeAttribute("value");
  at("certify").hidden = !offered;
}

at("cancel").addEventListener("click", () => { stopCertifying(); waiting("The search for a certificate was cancelled.", false, true); at("certify").focus(); });
at("certify").addEventListener("click", () => certify(JSON.stringify(question())));
addEventListener("hashchange", () => { if (!location.hash.startsWith("#runs")) stopCertifying(); });

/** The mechanism in the large picture. */
function shown() {
  return chosen("mechanism") === "best" ? best(results) : chosen("mechanism");
}

/** Draw everything anew; `outdated` if the releases belong to earlier settings, and a new answer is under way. */
function paint(outdated = false) {
  const name = shown(), result = name === null ? null : results[name] ?? null, many = result?.visits?.length > 0 ? MANY : 0;
  const [x, y, wide, tall] = frame(world);
  const same = !outdated || result?.releases[0].length === symbols.length;
  board.setAttribute("viewBox", `${x} ${y} ${wide} ${tall}`);
  board.replaceChildren(...parts(world, { words: words(), symbols, releases: same && result ? result.releases : [],
    visits: same && result && many > 0 ? shares(result, many) : null, cursor: view.cursor }));
  const title = name === null ? "The private run" : `The private run and its releases: ${MECHANISMS[name].title}, ε = ${at("epsilon").value}`;
  at("board").querySelector("figcaption").firstChild.textContent = result === null && name !== null ? `${MECHANISMS[name].title} is not there yet` : title;
  at("board").querySelector(".legend").replaceWith(boardLegend(many));
  if (outdated) return;
  const unit = words();
  figures(at("figures"), result, unit);
  panels(at("mechanisms"), world, { words: unit, symbols, results, many, unit });
}

chart(at("board"), "The private run", board, () => {
  const result = results[shown()] ?? { releases: [], visits: [] };
  return rowsOf(world, words(), symbols, result, result.visits.length > 0 ? MANY : 0);
}, "runs", boardLegend(0));
