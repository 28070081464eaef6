// Drawing on the board: by mouse or finger (pointer events), and by keyboard.
import { nameAt } from "./board.js";
import { setStart, setWall, toggleGoal } from "./grid.js";

const ARROWS = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] };

/**
 * Let users draw on an SVG element. `tool()` is what the pointer draws on a grid: "path", "wall", "goal" or "start";
 * `changed(text)` is called after a change of the model, `moved()` after one of the cursor.
 */
export function drawable(board, model, { tool, changed, moved }) {
  let painting = null; // while a button is down: { tool, wall, last }

  board.addEventListener("pointerdown", (event) => {
    const name = under(event);
    if (name === null || event.button !== 0) return;
    event.preventDefault();
    board.focus({ preventScroll: true });
    board.setPointerCapture(event.pointerId);
    painting = { tool: model.system === null ? tool() : "path", wall: !model.grid.walls.has(name), last: null };
    touch(name);
  });
  board.addEventListener("pointermove", (event) => {
    const name = painting === null ? null : under(event);
    if (name !== null) touch(name);
  });
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { painting = null; });
  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const known = event.key in ARROWS ? arrow(event) : letter(event.key.toLowerCase()) || key(event.key);
    if (known) event.preventDefault();
  });

  /** The name of the state under the pointer. */
  function under(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(board.getScreenCTM().inverse());
    return nameAt(model.world, point.x, point.y);
  }

  function touch(name) {
    if (name === painting.last) return;
    const first = painting.last === null;
    painting.last = model.cursor = name;
    if (painting.tool === "path") changed(model.goTo(name));
    else if (painting.tool === "wall") edit(setWall, name, painting.wall);
    else if (painting.tool === "start") edit(setStart, name);
    else if (first) edit(toggleGoal, name);
  }

  function edit(change, ...values) {
    const run = model.symbols, text = change(model.grid, ...values);
    model.setGrid(model.grid);
    if (change !== setWall || model.symbols.length === run.length) { changed(text ?? ""); return; }
    model.symbols = run; // it is there again once the wall is gone
    changed(`A wall is on the run after ${model.world.names[model.path.at(-1)]}: remove it, or draw another way.`);
  }

  /** An arrow key moves the cursor or, with Shift on a grid, takes a step of the run. */
  function arrow({ key: name, shiftKey }) {
    if (model.system !== null) {
      const { names, byName } = model.world, by = name === "ArrowRight" || name === "ArrowDown" ? 1 : -1;
      model.cursor = names[(byName.get(model.cursor) + by + names.length) % names.length];
      moved();
      return true;
    }
    const from = (shiftKey ? model.end : model.cursor).split(",").map(Number);
    const [row, column] = [0, 1].map((axis) => from[axis] + ARROWS[name][axis]);
    if (row < 0 || column < 0 || row >= model.grid.rows || column >= model.grid.columns) return true;
    if (shiftKey) changed(model.step(`${row},${column}`));
    else { model.cursor = `${row},${column}`; moved(); }
    return true;
  }

  function letter(name) {
    if (model.system !== null || !["w", "g", "s"].includes(name)) return false;
    if (name === "w") edit(setWall, model.cursor, !model.grid.walls.has(model.cursor));
    else edit(name === "g" ? toggleGoal : setStart, model.cursor);
    return true;
  }

  function key(name) {
    if (name === "Enter" || name === " ") changed(model.goTo(model.cursor));
    else if (name === "Backspace") changed(model.back());
    else if (name === "Delete") { model.symbols = []; changed("The run is empty."); }
    else return false;
    return true;
  }
}
