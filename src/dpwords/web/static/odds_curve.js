// The privacy–accuracy curves of all mechanisms, computed ε by ε in the background and cached.
import { ask, attempt } from "./ask.js";
import { lines } from "./charts.js";

const STEPS = [8, 7, 6, 5, 4, 3, 2.5, 2, 1.5, 1, 0.7]; // ε for k = 1; large ones are quick to compute, so they come first
const BEYOND = [30, 20, 15, 12, 10], BELOW = [0.4, 0.2, 0.1]; // on the way to an ε that is outside of them
const rows = new Map(); // from a question to its row

/**
 * A function that draws the curves for settings { language, k, edits, length, epsilon }, and computes rows that are not
 * known yet. The curves reach to the ε of the settings where it is outside of the usual steps. A call for other settings ends the work for earlier ones after the row that is being computed.
 */
export function curves(figure, { busy, progress, cancel, error, optimal, guessed }) {
  let wanted = null, running = false, stopped = null;
  cancel.addEventListener("click", () => { wanted = null; stopped?.abort(); });

  const questions = ({ language, k, edits, length, epsilon }) => {
    const scaled = (steps) => steps.map((step) => Math.round(1000 * step * k) / 1000), usual = scaled(STEPS);
    const outside = epsilon < usual.at(-1) || epsilon > usual[0] ? [epsilon] : [];
    const between = [...scaled(BEYOND).filter((each) => each < epsilon), ...scaled(BELOW).filter((each) => each > epsilon)];
    return [...usual, ...between, ...outside].map((each) => ({ recipe: { ...language, epsilon: each, k, edits }, length }));
  };

  const draw = (settings) => {
    const known = questions(settings).map((each) => rows.get(JSON.stringify(each))).filter(Boolean);
    known.sort((a, b) => a.epsilon - b.epsilon);
    if (known.length === 0) { figure.replaceChildren(); guessed.replaceChildren(); optimal.textContent = ""; return; }
    const curve = (chart, value, named, about) => {
      const series = known[0].points.map((each, place) => ({ name: named(each), colour: each.colour,
        points: known.map((row) => [row.epsilon, row.points[place][value]]) }));
      const points = known.filter((row) => row.literal !== null).map(({ literal }) => [literal.epsilon, literal[value]]);
      if (points.length > 0) series.push({ name: "the paper's formula at its true ε", colour: "literal", dashed: true, points });
      lines(chart, { ...about, across: "ε", series, mark: settings.epsilon });
    };
    curve(figure, "distance", ({ title, optimal: best }) => (best ? `${title}: optimal` : title),
      { title: "Expected distance of a release from its word", name: "accuracy", up: "distance" });
    curve(guessed, "whole", ({ title }) => title,
      { title: "Whole words guessed, at most, if all are equally likely", name: "guessed", up: "proportion" });
    const best = known[0].points.find((each) => each.optimal);
    optimal.textContent = best === undefined ? "" : `No mechanism with the same promise can be closer to the word on average than “${best.title}”: that is proven.`;
  };

  const work = async () => {
    running = true;
    error.textContent = "";
    while (wanted !== null && !figure.closest(".view").hidden) { // other views need the same worker
      const settings = wanted, all = questions(settings);
      const missing = all.filter((each) => !rows.has(JSON.stringify(each)));
      if (missing.length === 0) break;
      busy.hidden = false;
      progress.value = 1 - missing.length / all.length;
      stopped = new AbortController();
      await attempt(async () => {
        const { values } = await ask("odds/curve", missing[0], { signal: stopped.signal });
        rows.set(JSON.stringify(missing[0]), values);
        if (wanted !== null) draw(wanted);
      }, (reason) => { error.textContent = reason; });
      if (wanted === settings && !rows.has(JSON.stringify(missing[0]))) wanted = null;
    }
    busy.hidden = true;
    running = false;
  };

  return (settings) => {
    wanted = settings;
    draw(settings);
    if (!running) work();
  };
}
