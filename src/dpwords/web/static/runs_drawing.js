// Drawing on the board: by mouse or finger (pointer events), and by keyboard.
import { nameAt } from "./board.js";
import { setStart, setWall, toggleGoal } from "./grid.js";

const ARROWS = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] };

/**
 * Let users draw on an SVG element. `view` has `world()`, `grid()` (null for a system), `tool()`, `cursor` (a name), and the
 * functions `goTo(name)`, `back()`, `clear()`, `edited()`, `moved()` and `say(text)`.
 */
export function drawable(board, view) {
  let painting = null; // while a button is down: { tool, wall, last }

  board.addEventListener("pointerdown", (event) => {
    const name = under(event);
    if (name === null || event.button !== 0) return;
    event.preventDefault();
    board.focus({ preventScroll: true });
    board.setPointerCapture(event.pointerId);
    painting = { tool: view.grid() === null ? "path" : view.tool(), wall: !view.grid()?.walls.has(name), last: null };
    touch(name);
  });
  board.addEventListener("pointermove", (event) => {
    const name = painting === null ? null : under(event);
    if (name !== null) touch(name);
  });
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { painting = null; });
  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const known = view.grid() === null ? systemKey(event) : gridKey(event);
    if (known) event.preventDefault();
  });

  /** The name of the state under the pointer. */
  function under(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(board.getScreenCTM().inverse());
    return nameAt(view.world(), point.x, point.y);
  }

  function touch(name) {
    if (name === painting.last) return;
    const first = painting.last === null;
    painting.last = view.cursor = name;
    if (painting.tool === "path") view.goTo(name);
    else if (painting.tool === "wall") wall(name, painting.wall);
    else if (painting.tool === "start") place(setStart, name);
    else if (first) place(toggleGoal, name);
  }

  function wall(name, wanted) {
    view.say(setWall(view.grid(), name, wanted));
    view.edited();
  }

  function place(change, name) {
    change(view.grid(), name);
    view.edited();
  }

  function gridKey(event) {
    const name = view.cursor, grid = view.grid();
    if (event.key in ARROWS) {
      const from = (event.shiftKey ? view.end() : name).split(",").map(Number);
      const [row, column] = [0, 1].map((axis) => from[axis] + ARROWS[event.key][axis]);
      if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) return true;
      if (event.shiftKey) view.step(`${row},${column}`);
      else { view.cursor = `${row},${column}`; view.moved(); }
      return true;
    }
    const keys = { w: () => wall(name, !grid.walls.has(name)), g: () => place(toggleGoal, name), s: () => place(setStart, name) };
    if (event.key.toLowerCase() in keys) { keys[event.key.toLowerCase()](); return true; }
    return runKey(event);
  }

  function systemKey(event) {
    if (!(event.key in ARROWS)) return runKey(event);
    const { names, byName } = view.world();
    const by = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
    view.cursor = names[(byName.get(view.cursor) + by + names.length) % names.length];
    view.moved();
    return true;
  }

  function runKey(event) {
    if (event.key === "Enter" || event.key === " ") view.goTo(view.cursor);
    else if (event.key === "Backspace") view.back();
    else if (event.key === "Delete") view.clear();
    else return false;
    return true;
  }
}
