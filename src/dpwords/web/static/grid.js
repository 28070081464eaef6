// The grid that is drawn on: walls, goals and a start, and their short form in the address.

export const MOST_SIDE = 40;

/** The run on the grid that the page opens with. */
export const FIRST_RUN = "EESEEEEEESEESEESSSSSSSW";

/** The grid that the page opens with: two rooms with two doors between them, and a goal. */
export function firstGrid() {
  const walls = [];
  for (let row = 0; row < 15; row += 1) if (![3, 4, 10, 11].includes(row)) walls.push(`${row},7`);
  for (const column of [2, 3, 4, 5, 10, 11, 12]) walls.push(`7,${column}`);
  return { rows: 15, columns: 15, start: "2,1", walls: new Set(walls), goals: new Set(["12,12"]) };
}

/** A grid of another size with what fits of the old one. */
export function resized(grid, rows, columns) {
  return fitting(rows, columns, grid.start, [...grid.walls], [...grid.goals]);
}

/** A grid of this size, of whose cells only names that are inside of it count. */
function fitting(rows, columns, start, walls, goals) {
  const inside = (name) => /^\d{1,2},\d{1,2}$/.test(name) && Number(name.split(",")[0]) < rows && Number(name.split(",")[1]) < columns;
  const first = inside(start) ? start : "0,0", all = new Set(walls.filter((name) => inside(name) && name !== first));
  return { rows, columns, start: first, walls: all, goals: new Set(goals.filter((name) => inside(name) && !all.has(name))) };
}

/** Make a cell a wall or free. Returns a text if that is not possible. */
export function setWall(grid, name, wanted) {
  if (!wanted) { grid.walls.delete(name); return ""; }
  if (name === grid.start) return "The start cannot be a wall: move the start first.";
  grid.goals.delete(name);
  grid.walls.add(name);
  return "";
}

/** Make a cell a goal, or no goal any more. */
export function toggleGoal(grid, name) {
  if (grid.goals.delete(name)) return;
  grid.walls.delete(name);
  grid.goals.add(name);
}

/** Let runs start in a cell. */
export function setStart(grid, name) {
  grid.walls.delete(name);
  grid.start = name;
}

/** The grid, as fields of a recipe. */
export function described({ rows, columns, start, walls, goals }) {
  const cells = (names) => [...names].sort().join(";") || null;
  return { system: `grid:${rows}x${columns}@${start}`, walls: cells(walls), goal: cells(goals) };
}

/** The grid as settings of the address; walls are bits, row by row. */
export function toSettings(grid) {
  return { size: `${grid.rows}x${grid.columns}`, start: grid.start, goal: [...grid.goals].sort().join(";"),
    walls: packed(grid) };
}

/** The grid in the settings of the address; null if there is none, or if it cannot be read. */
export function fromSettings(settings) {
  const size = /^([1-9]\d?)x([1-9]\d?)$/.exec(settings.get("size") ?? "");
  if (size === null) return null;
  const [rows, columns] = [Number(size[1]), Number(size[2])];
  const given = (name) => settings.get(name) ?? "";
  return Math.max(rows, columns) > MOST_SIDE ? null
    : fitting(rows, columns, given("start"), unpacked(given("walls"), rows, columns), given("goal").split(";"));
}

function packed({ rows, columns, walls }) {
  const bytes = new Uint8Array(Math.ceil((rows * columns) / 8));
  for (const name of walls) {
    const [row, column] = name.split(",").map(Number), bit = row * columns + column;
    bytes[bit >> 3] |= 128 >> (bit & 7);
  }
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/A*=*$/, "");
}

function unpacked(text, rows, columns) {
  const walls = [];
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  [...text].forEach((character, place) => {
    for (let bit = 0; bit < 6; bit += 1) {
      const number = 6 * place + bit;
      if ((digits.indexOf(character) & (32 >> bit)) > 0 && number < rows * columns) {
        walls.push(`${Math.floor(number / columns)},${number % columns}`);
      }
    }
  });
  return walls;
}
