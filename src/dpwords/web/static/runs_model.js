// What is drawn: a grid or a loaded system, the private run on it, and a cursor. Nothing here touches the page.
import { described, firstGrid, FIRST_RUN } from "./grid.js";
import { consisting, gridWorld, pathOf, someRun, symbolsOf, systemWorld, way } from "./world.js";

const WALL = "There is a wall.";

export class Model {
  grid = firstGrid();
  system = null; // what the server said about a loaded file; the grid counts if there is none
  words = "plans"; // of what the private word consists: "moves" or "states", or of moves that are about states: "plans"
  symbols = []; // the private word
  world = gridWorld(this.grid);
  cursor = this.grid.start;

  /** The states that the run visits, as far as its steps are possible. */
  get path() { return pathOf(this.world, this.words, this.symbols); }

  /** The name of the state in which the run ends. */
  get end() { return this.world.names[this.path.at(-1)]; }

  /** Take the run with which the page opens. */
  firstRun() { this.setPath(pathOf(this.world, "moves", FIRST_RUN)); }

  /** Take some run that is possible. */
  anyRun() { this.setPath(someRun(this.world)); }

  setPath(states) { this.symbols = symbolsOf(this.world, this.words, states); }

  /** Let words consist of moves or of states; the run stays the same. */
  setWords(words) {
    const states = this.path;
    this.words = words;
    this.setPath(states);
  }

  /** Draw on another grid, or on this one after it was edited; of the run, keep what is still possible. */
  setGrid(grid) {
    this.grid = grid;
    this.system = null;
    this.#replaced(gridWorld(grid));
    const [row, column] = this.cursor.split(",").map(Number);
    if (!(row < grid.rows && column < grid.columns)) this.cursor = grid.start;
  }

  /** Draw on a system that was loaded, with words that it has. */
  setSystem(system) {
    this.symbols = [];
    if (!system.words.includes(this.words)) [this.words] = system.words;
    this.system = system;
    this.#replaced(systemWorld(system));
    this.cursor = this.world.names[this.world.start ?? 0];
  }

  #replaced(world) {
    const names = this.path.map((state) => this.world.names[state]), kept = [];
    for (const name of names) {
      const state = world.byName.get(name);
      const possible = kept.length > 0 ? [...world.next[kept.at(-1)].values()].includes(state)
        : state !== undefined && (world.start === null || state === world.start);
      if (!possible) break;
      kept.push(state);
    }
    this.world = world;
    this.symbols = kept.length === 0 ? [] : symbolsOf(world, this.words, kept);
  }

  /** Let the run go on to a state, on a shortest way; to the state before its last one, it steps back. Returns a text. */
  goTo(name) {
    const to = this.world.byName.get(name), so = this.path;
    if (to === undefined) return WALL;
    if (so.length === 0) { this.setPath([to]); return this.#told(); }
    if (so.length > 1 && so.at(-2) === to) return this.back();
    const onward = way(this.world, so.at(-1), to);
    return onward === null ? "No way leads there from the end of the run." : this.#extend(onward);
  }

  /** Take one step to a state that is a neighbour of the last one. Returns a text. */
  step(name) {
    const to = this.world.byName.get(name);
    return to === undefined ? WALL : this.#extend([to]);
  }

  #extend(states) {
    const so = this.path, fixed = this.world.start === null ? 0 : 1; // a fixed start is not part of the word
    const added = symbolsOf(this.world, this.words, [...so.slice(-1), ...states]).slice(1 - fixed);
    this.symbols = [...this.symbols.slice(0, so.length - fixed), ...added];
    this.cursor = this.end;
    return this.#told();
  }

  /** Take the last step back. Returns a text. */
  back() {
    const possible = this.path.length - (this.world.start === null ? 0 : 1); // less if a wall is on the run
    this.symbols = this.symbols.slice(0, Math.min(possible, this.symbols.length - 1));
    if (this.path.length > 0) this.cursor = this.end;
    return this.#told();
  }

  #told() { return `${this.cursor}: the run has ${this.symbols.length} steps.`; }

  /** What is at the cursor, as a text. */
  get here() {
    const state = this.world.byName.get(this.cursor);
    const kind = state === undefined ? ", wall" : this.world.goals?.has(state) ? ", goal" : state === this.world.start ? ", start" : "";
    return `${this.cursor}${kind}${state !== undefined && this.path.includes(state) ? ", on the run" : ""}`;
  }

  /** The language, as fields of a recipe. */
  language(rules) {
    const told = this.system === null ? described(this.grid) : { system: { name: "system.json", content: this.system.system } };
    return { ...told, ...consisting(this.words), rules };
  }
}
