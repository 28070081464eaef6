// Mechanisms side by side: a small picture for each, with its expected distance; the best one is marked.
import { canvas, legend } from "./charts.js";
import { element, percent, rounded } from "./elements.js";
import { frame, parts } from "./board.js";
import { saveButtons } from "./save.js";
import { counted, pathOf } from "./world.js";

export const MECHANISMS = {
  tight: { title: "Certified", what: "Whole runs are drawn, nearer ones more likely, as sharply as a proof for this system allows." },
  online: { title: "Online", what: "Each step is drawn as the run goes on, with a part of ε of its own; no proof is needed." },
  textbook: { title: "Textbook", what: "Whole runs are drawn with half of ε, which is always allowed." },
};

/** The name of the mechanism with the least public expected distance, among those whose results are there. */
export function best(results) {
  const ready = Object.keys(MECHANISMS).filter((name) => results[name] && results[name].expected !== null);
  return ready.reduce((least, name) => (least === null || results[name].expected < results[least].expected ? name : least), null);
}

/** The visits of a result as proportions, or null if there are none. */
export function proportions(result, many) {
  return many === 0 ? null : new Map(result.visits.map(([name, count]) => [name, count / many]));
}

/** Fill the panels. */
export function panels(box, world, { words, symbols, results, many }) {
  const winner = best(results);
  box.replaceChildren(...Object.entries(MECHANISMS).map(([name, about]) =>
    panel(name, about, results[name] ?? null, name === winner, world, { words, symbols, many })));
}

function panel(name, { title, what }, result, isBest, world, { words, symbols, many }) {
  const heading = element("h3", { class: `of-${name}` }, title, ...(isBest ? [element("span", { class: "badge" }, "best")] : []));
  const [x, y, wide, tall] = frame(world);
  const told = result === null ? "no release to show" : summary(result, `${symbols.length} ${counted(words)}`);
  const picture = canvas(`${title}: releases over the private run`, told, wide, tall);
  picture.setAttribute("viewBox", `${x} ${y} ${wide} ${tall}`);
  picture.append(...parts(world, { words, symbols, releases: result?.releases, visits: result && proportions(result, many),
    sameColour: name }));
  const texts = [element("p", { class: "figure" }, told), element("p", { class: "quiet" }, what)];
  if (result === null) return element("div", { class: "panel" }, heading, picture, ...texts);
  return element("div", { class: `panel chart${isBest ? " best" : ""}` }, heading, picture,
    saveButtons(picture, () => rowsOf(world, words, symbols, result, many), `runs-${name}`), ...texts,
    element("p", { class: "quiet" }, `In force: ${result.in_force}.`));
}

function summary({ expected }, unit) {
  return expected === null ? "expected distance: too large to compute" : `${rounded(expected)} of ${unit} change, on average`;
}

/** The numbers of a picture: visits, or the private run and its releases step by step. */
export function rowsOf(world, words, symbols, result, many) {
  if (many > 0) return [["state", "runs that visit it", "proportion"], ...result.visits.map(([name, count]) => [name, count, count / many])];
  const steps = (label, word) => {
    const path = pathOf(world, words, word);
    const first = path.length - word.length;
    return word.map((symbol, place) => [label, place + 1, symbol, world.names[path[place + first]]]);
  };
  return [["run", "step", "symbol", "state"], ...steps("private", symbols),
    ...result.releases.flatMap((word, number) => steps(`release ${number + 1}`, word))];
}

/** Expected distances and the chance of no change. */
export function figures(result, unit) {
  return result === null ? [] : [
    [`${unit} that change, all runs of this length`, result.expected === null ? "too large to compute" : rounded(result.expected)],
    [`${unit} that change, this run`, rounded(result.own)],
    ["this run comes out unchanged", percent(result.unchanged)],
  ];
}

/** The legend of the large picture. */
export function boardLegend(many) {
  return legend(many > 0
    ? [{ name: "private run", colour: "private" }, { name: `visited by many of ${many} releases`, colour: "released" }]
    : [{ name: "private run", colour: "private" }, { name: "released, as in the private run", colour: "released" },
      { name: "released, changed", colour: "changed", dashed: true }]);
}
