// A system on the page: its states with their places, and the moves between them. A grid is one of them.
// world = { names, spots: [[x, y], …], next: [Map from move to state, …], start, goals, byName, cells }; states are
// numbers, `start` is null if a run may start anywhere, `goals` is null if it may end anywhere.

const MOVES = [["N", -1, 0], ["E", 0, 1], ["S", 1, 0], ["W", 0, -1]];

/** The world of a grid: { rows, columns, start: "0,0", walls: Set of cells, goals: Set of cells }. */
export function gridWorld(grid) {
  const names = [], spots = [];
  for (let row = 0; row < grid.rows; row += 1) {
    for (let column = 0; column < grid.columns; column += 1) {
      if (!grid.walls.has(`${row},${column}`)) { names.push(`${row},${column}`); spots.push([column, row]); }
    }
  }
  const byName = numbered(names);
  const next = spots.map(([column, row]) => new Map(MOVES
    .map(([move, down, right]) => [move, byName.get(`${row + down},${column + right}`)])
    .filter(([, to]) => to !== undefined)));
  const goals = grid.goals.size === 0 ? null : new Set([...grid.goals].map((name) => byName.get(name)));
  return { names, spots, next, byName, goals, start: byName.get(grid.start), cells: grid };
}

/** The world of a system that the server has read from a file. */
export function systemWorld({ states, moves, start, accepting }) {
  const names = states.map(([name]) => name), next = states.map(() => new Map());
  for (const [from, move, to] of moves) next[from].set(move, to);
  const goals = accepting === null ? null : new Set(accepting);
  return { names, spots: fitted(states), next, byName: numbered(names), goals, start, cells: null };
}

function numbered(names) {
  return new Map(names.map((name, number) => [name, number]));
}

/** Places in a rectangle of a usual size, with the shape that the system has. */
function fitted(states) {
  const low = [1, 2].map((axis) => Math.min(...states.map((state) => state[axis])));
  const high = [1, 2].map((axis) => Math.max(...states.map((state) => state[axis])));
  const [wide, tall] = [high[0] - low[0], high[1] - low[1]];
  const scale = Math.min(24 / (wide || 1), 16 / (tall || 1));
  return states.map(([, x, y]) => [(x - low[0]) * scale, (y - low[1]) * scale]);
}

/** The states that a word visits, the start first: as far as its steps are possible. */
export function pathOf(world, words, symbols) {
  const path = world.start === null ? [] : [world.start];
  for (const symbol of symbols) {
    const to = stepped(world, words, path, symbol);
    if (to === undefined) break;
    path.push(to);
  }
  return path;
}

function stepped(world, words, path, symbol) {
  if (words !== "states") return world.next[path.at(-1)].get(symbol);
  const to = world.byName.get(symbol);
  return path.length === 0 || [...world.next[path.at(-1)].values()].includes(to) ? to : undefined;
}

/** The word of a path; of several moves between two states the first one is taken. */
export function symbolsOf(world, words, path) {
  const entered = world.start === null ? path : path.slice(1);
  if (words === "states") return entered.map((state) => world.names[state]);
  return entered.map((state, place) => [...world.next[path[place]]].find(([, to]) => to === state)[0]);
}

/** The shortest way between two states, without the first one; null if there is none. */
export function way(world, from, to) {
  const before = new Map([[from, null]]), waiting = [from];
  while (waiting.length > 0 && !before.has(to)) {
    const at = waiting.shift();
    for (const state of world.next[at].values()) {
      if (!before.has(state)) { before.set(state, at); waiting.push(state); }
    }
  }
  if (!before.has(to)) return null;
  const found = [];
  for (let at = to; at !== from; at = before.get(at)) found.unshift(at);
  return found;
}

/** A run to begin with: the shortest one to a goal or, where runs may end anywhere, to the farthest state. */
export function someRun(world) {
  const first = world.start ?? 0;
  const ways = world.names.map((_, state) => (world.goals === null || world.goals.has(state) ? way(world, first, state) : null))
    .filter((found) => found !== null && found.length > 0)
    .sort((one, other) => (world.goals === null ? other.length - one.length : one.length - other.length));
  return ways.length === 0 ? [first] : [first, ...ways[0]];
}

/** What a word is about: plans are written as moves, and are about the states that they enter. */
export function counted(words) { return words === "plans" ? "states" : words; }

/** The fields of a recipe about what words consist of, and what their promise is about. */
export function consisting(words) { return words === "plans" ? { protect: "states" } : { words }; }

/** All symbols that words may have. */
export function symbolsIn(world, words) {
  return words === "states" ? world.names : [...new Set(world.next.flatMap((row) => [...row.keys()]))];
}

/** What stands between the symbols of a word in a text: nothing if all of them are single characters. */
export function separator(world, words) {
  const symbols = symbolsIn(world, words);
  if (symbols.every((symbol) => [...symbol].length === 1)) return "";
  return [" ", ";", "|", "\t"].find((mark) => !symbols.some((symbol) => symbol.includes(mark))) ?? "\t";
}

/** The symbols of a word that is written as a text. */
export function readWord(world, words, text) {
  const between = separator(world, words);
  if (between === "") return [...text.replaceAll(/\s/g, "")];
  return text.split(between === " " ? /\s+/ : between).map((symbol) => symbol.trim()).filter((symbol) => symbol !== "");
}

/** A word as a text. */
export function writeWord(world, words, symbols) {
  return symbols.join(separator(world, words));
}
