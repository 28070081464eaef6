// Pictures of a world: the cells of a grid or the states of a system, with runs drawn over it, or visits as a heat map.
import { drawn, percent } from "./elements.js";
import { pathOf } from "./world.js";

export const UNIT = 24; // the side of a cell
const NAMED = 60; // states that have their names in the picture
const LABELLED = 40; // moves that have their names in the picture
const LANES = 0.5; // of a cell, over which runs are spread so that they do not hide each other

/** The viewBox of a world: [x, y, width, height]. */
export function frame(world) {
  if (world.cells !== null) return [-1, -1, world.cells.columns * UNIT + 2, world.cells.rows * UNIT + 2];
  const [wide, tall] = [0, 1].map((axis) => Math.max(...world.spots.map((spot) => spot[axis])) * UNIT);
  return [-2 * UNIT, -2 * UNIT, wide + 4 * UNIT, tall + 4 * UNIT];
}

/** The centre of a state in the picture. */
export function centre(world, state) {
  const middle = world.cells === null ? 0 : 0.5;
  return world.spots[state].map((each) => (each + middle) * UNIT);
}

/** The name of the state at a place of the picture: of the cell there, or of the nearest state. Null if it is far. */
export function nameAt(world, x, y) {
  if (world.cells !== null) {
    const row = Math.floor(y / UNIT), column = Math.floor(x / UNIT);
    return row >= 0 && column >= 0 && row < world.cells.rows && column < world.cells.columns ? `${row},${column}` : null;
  }
  const far = world.spots.map((_, state) => Math.hypot(centre(world, state)[0] - x, centre(world, state)[1] - y));
  const least = Math.min(...far);
  return least < UNIT ? world.names[far.indexOf(least)] : null;
}

/**
 * The parts of a picture. `symbols` is the private word, `releases` are released words, `visits` is a Map from names to
 * proportions, or null, and `cursor` is the name of a state to mark, or null.
 */
export function parts(world, { words, symbols, releases = [], visits = null, cursor = null, sameColour = "released" }) {
  const path = pathOf(world, words, symbols);
  return [
    ...ground(world),
    ...(visits === null ? [] : heat(world, visits)),
    ...rings(world),
    drawn("path", { d: line(world, path, 0), class: "run-private" }),
    ...(visits === null ? releases.flatMap((word, number) => released(world, words, symbols, word,
      lane(number, releases.length), sameColour)) : []),
    ...ends(world, path),
    ...names(world),
    ...letters(world),
    ...(cursor === null ? [] : [cursorMark(world, cursor)]),
  ];
}

function lane(number, count) {
  return count === 1 ? 0 : ((number / (count - 1)) - 0.5) * LANES * UNIT;
}

function ground(world) {
  return world.cells === null ? [roads(world), ...states(world)] : [cells(world), ...walls(world)];
}

function cells({ cells: { rows, columns } }) {
  const across = Array.from({ length: rows + 1 }, (_, row) => `M0 ${row * UNIT}H${columns * UNIT}`).join("");
  const down = Array.from({ length: columns + 1 }, (_, column) => `M${column * UNIT} 0V${rows * UNIT}`).join("");
  return drawn("path", { d: across + down, class: "ground-lines" });
}

function walls({ cells: { walls: names } }) {
  return [...names].map((name) => {
    const [row, column] = name.split(",").map(Number);
    return drawn("rect", { x: column * UNIT, y: row * UNIT, width: UNIT, height: UNIT, class: "ground-wall" });
  });
}

/**
 * Moves as lines with arrowheads. Moves in both directions are bent apart if they have names; otherwise they are one line
 * without arrowheads.
 */
function roads(world) {
  const group = drawn("g", { class: "ground-roads" });
  const count = world.next.reduce((sum, row) => sum + row.size, 0);
  world.next.forEach((row, from) => {
    const named = new Map();
    for (const [move, to] of row) named.set(to, [...(named.get(to) ?? []), move]);
    for (const [to, moves] of named) {
      const both = [...world.next[to].values()].includes(from);
      const label = moves.join(", ") === world.names[to] || count > LABELLED ? "" : moves.join(", ");
      if (from === to) group.append(...loop(world, from, label));
      else if (!both || label !== "") group.append(...arrow(world, from, to, both ? 0.14 : 0, label));
      else if (from < to) group.append(drawn("path", { d: `M${centre(world, from).join(" ")}L${centre(world, to).join(" ")}` }));
    }
  });
  return group;
}

function arrow(world, from, to, bend, label) {
  const [[ax, ay], [bx, by]] = [centre(world, from), centre(world, to)];
  const [dx, dy] = [bx - ax, by - ay], size = Math.hypot(dx, dy) || 1;
  const [mx, my] = [(ax + bx) / 2 - dy * bend, (ay + by) / 2 + dx * bend]; // the control point
  const [hx, hy] = [(ax + 2 * mx + bx) / 4, (ay + 2 * my + by) / 4]; // the middle of the curve
  const [ux, uy] = [(dx / size) * 4, (dy / size) * 4];
  const head = `M${hx - ux - uy} ${hy - uy + ux}L${hx + ux} ${hy + uy}L${hx - ux + uy} ${hy - uy - ux}`;
  const text = label === "" ? [] : [drawn("text", { x: hx - (dy / size) * 10, y: hy + (dx / size) * 10 + 4 }, label)];
  return [drawn("path", { d: `M${ax} ${ay}Q${mx} ${my} ${bx} ${by}` }), drawn("path", { d: head }), ...text];
}

function loop(world, state, label) {
  const [x, y] = centre(world, state);
  const circle = drawn("circle", { cx: x, cy: y - 15, r: 8, class: "ground-loop" });
  return label === "" ? [circle] : [circle, drawn("text", { x, y: y - 27 }, label)];
}

function states(world) {
  const radius = world.names.length <= NAMED ? 7 : 4;
  return world.names.map((name, state) => {
    const [x, y] = centre(world, state);
    return drawn("circle", { cx: x, cy: y, r: radius, class: "ground-state" }, drawn("title", {}, name));
  });
}

/** The names of states, below them; the cells of a grid and the states of large systems have none. */
function names(world) {
  return world.cells !== null || world.names.length > NAMED ? [] : world.names.map((name, state) => {
    const [x, y] = centre(world, state);
    return drawn("text", { x, y: y + 20, class: "ground-name" }, name);
  });
}

function heat(world, visits) {
  return [...visits].filter(([name]) => world.byName.has(name)).map(([name, share]) => {
    const looks = { class: "ground-heat", "fill-opacity": (0.9 * share).toFixed(3) };
    return shape(world, world.byName.get(name), 14, 0, looks, drawn("title", {}, `${name}: visited by ${percent(share)}`));
  });
}

/** A shape on a state: on a grid its cell without a margin, otherwise a circle. */
function shape(world, state, radius, margin, looks, ...titles) {
  const [x, y] = centre(world, state), side = UNIT - 2 * margin;
  return world.cells === null ? drawn("circle", { cx: x, cy: y, r: radius, ...looks }, ...titles)
    : drawn("rect", { x: x - side / 2, y: y - side / 2, width: side, height: side, ...looks }, ...titles);
}

function rings(world) {
  return [...world.goals ?? []].map((state) => shape(world, state, 11, 1.5, { class: "ground-goal" }));
}

/** Goals and the start of a grid have letters, too, so that they are known without colours. */
function letters(world) {
  if (world.cells === null) return [];
  const letter = (state, text, kind) => {
    const [x, y] = centre(world, state);
    return drawn("text", { x: x - UNIT / 2 + 6, y: y - UNIT / 2 + 11, class: `ground-letter ${kind}` }, text);
  };
  return [letter(world.start, "S", "start"), ...[...world.goals ?? []].map((state) => letter(state, "G", "goal"))];
}

/** One release: steps that equal those of the private word, and, dashed, those that differ. */
function released(world, words, symbols, word, shift, colour) {
  const path = pathOf(world, words, word), own = pathOf(world, words, symbols);
  const first = path.length - word.length; // 1 if the path begins with a fixed start
  const same = (each) => (words === "plans" ? path[each + first] === own[each + first] : word[each] === symbols[each]);
  const steps = { same: "", changed: "" };
  for (let place = 1; place < path.length; place += 1) {
    const symbol = place - first;
    const around = words !== "moves" && symbol > 0 ? [symbol - 1, symbol] : [symbol]; // a line joins two states
    steps[around.every(same) ? "same" : "changed"] += line(world, path.slice(place - 1, place + 1), shift);
  }
  return [["same", colour], ["changed", "changed"]].filter(([kind]) => steps[kind] !== "").map(([kind, own]) =>
    drawn("path", { d: steps[kind], class: `run-${kind}`, stroke: `var(--${own})` }));
}

/** The line along a path: on a grid, moved by `shift` down and to the right; otherwise each step is moved sideways. */
function line(world, path, shift) {
  if (world.cells !== null) {
    return path.map((state, place) => `${place === 0 ? "M" : "L"}${centre(world, state).map((each) => each + shift).join(" ")}`).join("");
  }
  return path.slice(1).map((to, place) => {
    const from = path[place];
    const [[ax, ay], [bx, by]] = [centre(world, Math.min(from, to)), centre(world, Math.max(from, to))];
    if (from === to) return `M${ax} ${ay - 7}a${8 + shift / 2} ${8 + shift / 2} 0 1 1 0.1 0`;
    const size = Math.hypot(bx - ax, by - ay) || 1, [x, y] = [((ay - by) / size) * shift, ((bx - ax) / size) * shift];
    return `M${ax + x} ${ay + y}L${bx + x} ${by + y}`;
  }).join("");
}

function ends(world, path) {
  if (path.length === 0) return [];
  const [[ax, ay], [bx, by]] = [centre(world, path[0]), centre(world, path.at(-1))];
  return [drawn("circle", { cx: ax, cy: ay, r: 4, class: "run-start" }),
    drawn("rect", { x: bx - 4, y: by - 4, width: 8, height: 8, class: "run-end" })];
}

function cursorMark(world, name) {
  const [x, y] = world.cells === null ? centre(world, world.byName.get(name))
    : name.split(",").map(Number).reverse().map((each) => (each + 0.5) * UNIT);
  return drawn("rect", { x: x - UNIT / 2 + 1, y: y - UNIT / 2 + 1, width: UNIT - 2, height: UNIT - 2, class: "cursor" });
}
