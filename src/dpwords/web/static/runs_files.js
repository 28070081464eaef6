// Loading a system from a file: the browser reads it, and the server on this machine parses it in memory.
import { ask } from "./ask.js";

const at = (name) => document.getElementById(`runs-${name}`);

/** Show the options that a kind of file takes; returns those that are filled in. */
function options(kind) {
  const takes = { start: ["csv", "dot", "gv", "graphml"].includes(kind), action: kind === "graphml" };
  for (const [name, shown] of Object.entries(takes)) at(`file-${name}-label`).hidden = !shown;
  at("file-options").hidden = !takes.start;
  return Object.fromEntries(Object.keys(takes).map((name) => [name, at(`file-${name}`).value.trim()])
    .filter(([name, value]) => takes[name] && value !== ""));
}

/** Read the chosen file into the model: a map becomes a grid that can be edited. Raises a refusal. */
export async function loadInto(model) {
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
