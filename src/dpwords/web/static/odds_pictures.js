// Pictures of the view of odds: 100 guesses, beliefs before and after, two routes on a grid, and measured against claimed ε.
import { canvas, chart, keys, legend } from "./charts.js";
import { drawn, percentAtMost, rounded } from "./elements.js";

const STEP = 26, EDGE = 16; // between the figures of a picture, and around it

/** 100 guesses: those right by chance (dots), those right at most thanks to the output (squares), and the others (rings). */
export function guesses(figure, cases) {
  const right = Math.ceil(cases), kinds = [
    { name: "right without the output: 50", mark: (x, y) => drawn("circle", { cx: x, cy: y, r: 8, fill: "var(--inverse)" }) },
    { name: `right thanks to it, at most: ${right - 50}`,
      mark: (x, y) => drawn("rect", { x: x - 8, y: y - 8, width: 16, height: 16, fill: "var(--changed)" }) },
    { name: `wrong, at least: ${100 - right}`, mark: (x, y) => drawn("circle", { cx: x, cy: y, r: 7, class: "hollow" }) },
  ];
  const title = "Of 100 guesses", picture = canvas(title, kinds.map(({ name }) => name).join("; "), 20 * STEP + 2 * EDGE - 10, 5 * STEP + 2 * EDGE - 10);
  for (let number = 0; number < 100; number += 1) {
    const { mark } = kinds[number < 50 ? 0 : number < right ? 1 : 2];
    picture.append(mark(EDGE + (number % 20) * STEP, EDGE + Math.floor(number / 20) * STEP));
  }
  chart(figure, title, picture, () => [["guesses", "number"], ["right without the output", 50],
    ["right thanks to it, at most", right - 50], ["wrong, at least", 100 - right]], "guesses",
  keys(kinds.map(({ name, mark }) => [name, mark(20, 10)]), "0 0 40 20"));
}

/** What somebody believes of the two words before and after the output that says most; null if they can be certain. */
export function belief(figure, certainty) {
  const rows = [["before", 0.5], ["after, at most", certainty ?? 1]];
  const percentage = (share) => (share === 0.5 ? "50%" : certainty === null ? "100%" : percentAtMost(share));
  const title = "What an observer believes", left = 150, wide = 400;
  const picture = canvas(title, rows.map(([name, share]) => `${name}: ${percentage(share)} for one word`).join("; "), left + wide + 10, 92);
  rows.forEach(([name, share], place) => {
    const y = 6 + place * 42, middle = left + share * wide;
    picture.append(drawn("text", { x: left - 8, y: y + 22, "text-anchor": "end" }, name),
      drawn("rect", { x: left, y, width: share * wide, height: 34, fill: "var(--changed)" }),
      drawn("rect", { x: middle, y: y + 1, width: wide - share * wide, height: 32, class: "hollow" }),
      drawn("text", { class: "onbar", x: left + 8, y: y + 22 }, `one word: ${percentage(share)}`));
    if (share < 0.75) picture.append(drawn("text", { x: left + wide - 8, y: y + 22, "text-anchor": "end" }, `the other: ${(100 - parseFloat(percentage(share))).toFixed(share === 0.5 ? 0 : 1)}%`));
  });
  chart(figure, title, picture, () => [["when", "one word", "the other"], ...rows.map(([name, share]) => [name, share, 1 - share])], "belief");
}

/** Two routes on a grid: `one` and `other` are lists of cells [row, column], the first of which is the start. */
export function routes(figure, rows, columns, one, other) {
  const size = Math.max(8, Math.min(30, 360 / Math.max(rows, columns)));
  const title = "The two routes", picture = canvas(title, `One: ${path(one)}. The other: ${path(other)}.`, columns * size + 2, rows * size + 2);
  for (let row = 0; row <= rows; row += 1) picture.append(drawn("path", { d: `M1 ${1 + row * size}h${columns * size}`, stroke: "var(--pale)" }));
  for (let column = 0; column <= columns; column += 1) picture.append(drawn("path", { d: `M${1 + column * size} 1v${rows * size}`, stroke: "var(--pale)" }));
  const lines = [["one route", one, "private", null, -0.08], ["the other route", other, "changed", "6 3", 0.08]];
  for (const [, cells, colour, dashes, shift] of lines) {
    const points = cells.map(([row, column]) => `${1 + (column + 0.5 + shift) * size} ${1 + (row + 0.5 + shift) * size}`);
    picture.append(drawn("path", { d: `M${points.join("L")}`, fill: "none", stroke: `var(--${colour})`, "stroke-width": 3,
      "stroke-dasharray": dashes, "stroke-linejoin": "round" }));
    const [x, y] = points.at(-1).split(" ");
    picture.append(drawn("circle", { cx: x, cy: y, r: size / 6, fill: `var(--${colour})` }));
  }
  chart(figure, title, picture, () => [["route", "step", "row", "column"],
    ...lines.flatMap(([name, cells]) => cells.map(([row, column], step) => [name, step, row, column]))], "routes",
  legend(lines.map(([name, , colour, dashed]) => ({ name, colour, dashed })), 3));
  figure.classList.add("runs");
}

function path(cells) { return cells.map((cell) => cell.join(",")).join(" "); }

/** Bars of measured ε, with a line at the claimed one; `audits` is [{ title, claimed, measured, holds }].
 * `holds` is null if no output breaks the claim, but not all of them were compared. */
export function measured(figure, audits) {
  const left = 4, wide = 520, height = 84;
  const top = Math.max(...audits.flatMap(({ claimed, measured: value }) => [claimed, value ?? 2 * claimed])) * 1.05;
  const x = (value) => left + Math.min(value / top, 1) * wide;
  const title = "Measured ε against the claim";
  const said = (holds) => holds === null ? "not broken by what was compared" : holds ? "the claim holds ✓" : "the claim is broken ✗";
  const colour = (holds) => holds === null ? "inverse" : holds ? "goal" : "broken";
  const verdict = ({ measured: value, claimed, holds }) => `measured ${value === null ? "without bound" : rounded(value)}, `
    + `claimed ${rounded(claimed)}: ${said(holds)}`;
  const picture = canvas(title, audits.map((each) => `${each.title}: ${verdict(each)}`).join("; "), left + wide + 10, audits.length * height);
  audits.forEach((each, place) => {
    const y = place * height;
    picture.append(drawn("text", { x: left, y: y + 18 }, each.title),
      drawn("rect", { x: left, y: y + 25, width: x(each.measured ?? top) - left, height: 20, fill: `var(--${colour(each.holds)})` }),
      drawn("path", { d: `M${x(each.claimed)} ${y + 21}v28`, stroke: "var(--text)", "stroke-width": 3 }),
      drawn("text", { x: left, y: y + 66 }, verdict(each)));
  });
  chart(figure, title, picture, () => [["mechanism", "claimed", "measured", "holds"],
    ...audits.map(({ title: name, claimed, measured: value, holds }) => [name, claimed, value ?? "inf", holds ?? "not broken"])], "audit");
}
