// Bar and line charts. Each is a figure with a caption, an SVG with a text for screen readers, and buttons to save it.
import { drawn, element, rounded } from "./elements.js";
import { saveButtons } from "./save.js";

const WIDTH = 640, HEIGHT = 240, LEFT = 48, BOTTOM = 36, TOP = 12, RIGHT = 12;

/** Replace the content of `figure` by a chart: `picture` is an SVG element, `rows()` its numbers with a first row of names. */
export function chart(figure, title, picture, rows, name, legend = null) {
  figure.classList.add("chart");
  figure.replaceChildren(
    element("figcaption", {}, title, saveButtons(picture, rows, name)), ...(legend === null ? [] : [legend]), picture);
}

/** Bars of probabilities: `series` is [{ name, colour, values }], several of them side by side at each place. */
export function bars(figure, { title, name, across, up, series }) {
  const count = Math.max(...series.map(({ values }) => values.length));
  const top = Math.max(...series.flatMap(({ values }) => values), 1e-12);
  const x = (place) => LEFT + (place / count) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
  const wide = (x(1) - x(0)) * 0.8 / series.length;
  const picture = canvas(title, series.map((each) => `${each.name}: ${each.values.map(rounded).join(", ")}`).join("; "));
  axes(picture, across, up, steps(0, top).map((value) => [y(value), rounded(value)]),
    places(count).map((place) => [x(place + 0.5), place]));
  series.forEach(({ name: own, colour, values }, number) => values.forEach((value, place) => {
    picture.append(drawn("rect", { x: x(place + 0.1) + number * wide, y: y(value), width: Math.max(wide - 0.5, 0.5),
      height: HEIGHT - BOTTOM - y(value), fill: `var(--${colour})` }, drawn("title", {}, `${own}, ${place}: ${rounded(value)}`)));
  }));
  const rows = () => [[across, ...series.map((each) => each.name)],
    ...Array.from({ length: count }, (_, place) => [place, ...series.map(({ values }) => values[place] ?? 0)])];
  chart(figure, title, picture, rows, name, series.length > 1 ? legend(series) : null);
}

/** Lines: `series` is [{ name, colour, points: [[x, y], …], dashed }]; a null y leaves a gap. `mark` is an x to mark; the axis reaches to it. */
export function lines(figure, { title, name, across, up, series, mark = null }) {
  const points = series.flatMap((each) => each.points.filter(([, value]) => value !== null));
  const ats = [...points.map(([at]) => at), ...(mark === null ? [] : [mark])], low = Math.min(...ats), high = Math.max(...ats);
  const top = Math.max(...points.map(([, value]) => value), 1e-12);
  const x = (at) => LEFT + ((at - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
  const picture = canvas(title, series.map((each) => each.name).join(", "));
  axes(picture, across, up, steps(0, top).map((value) => [y(value), rounded(value)]),
    steps(low, high).map((at) => [x(at), rounded(at)]));
  if (mark !== null) picture.append(drawn("path", { class: "axis", d: `M${x(mark)} ${TOP}V${HEIGHT - BOTTOM}`, "stroke-dasharray": "2 3" },
    drawn("title", {}, `${across} = ${rounded(mark)}`)));
  for (const { colour, dashed, points: own } of series) {
    const path = own.map(([at, value], place) => value === null ? "" :
      `${place === 0 || own[place - 1][1] === null ? "M" : "L"}${x(at)} ${y(value)}`).join("");
    picture.append(drawn("path", { d: path, fill: "none", stroke: `var(--${colour})`, "stroke-width": 2,
      "stroke-dasharray": dashed ? "6 3" : null }));
    for (const [at, value] of own) {
      if (value !== null) picture.append(drawn("circle", { cx: x(at), cy: y(value), r: 3, fill: `var(--${colour})` },
        drawn("title", {}, `${rounded(at)}: ${rounded(value)}`)));
    }
  }
  const rowsAt = [...new Set(series.flatMap((each) => each.points.map(([at]) => at)))].sort((a, b) => a - b);
  const rows = () => [[across, ...series.map((each) => each.name)],
    ...rowsAt.map((at) => [at, ...series.map((each) => each.points.find(([own]) => own === at)?.[1] ?? "")])];
  chart(figure, title, picture, rows, name, legend(series));
}

/** An empty picture with a title and a description for screen readers. */
export function canvas(title, description, width = WIDTH, height = HEIGHT) {
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${description}` });
}

/** The list that says which colour is what; `series` is [{ name, colour, dashed }]. */
export function legend(series, width = 4) {
  return keys(series.map(({ name, colour, dashed }) => [name, drawn("path", { d: "M0 8H32", stroke: `var(--${colour})`,
    "stroke-width": width, "stroke-dasharray": dashed ? "6 3" : null })]));
}

/** The list that says which mark is what: [[name, mark, …], …]. */
export function keys(entries, viewBox = "0 0 32 16") {
  return element("ul", { class: "legend" }, ...entries.map(([name, ...marks]) => element("li", {},
    drawn("svg", { viewBox, "aria-hidden": "true" }, ...marks), name)));
}

function axes(picture, across, up, ups, acrosses) {
  picture.append(drawn("path", { class: "axis", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }));
  for (const [at, text] of ups) picture.append(drawn("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, String(text)));
  for (const [at, text] of acrosses) picture.append(drawn("text", { x: at, y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, String(text)));
  picture.append(drawn("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, across));
  picture.append(drawn("text", { x: 12, y: (TOP + HEIGHT - BOTTOM) / 2, "text-anchor": "middle",
    transform: `rotate(-90 12 ${(TOP + HEIGHT - BOTTOM) / 2})` }, up));
}

/** A few round numbers between two others. */
export function steps(low, high) {
  const rough = (high - low || 1) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high * (1 + 1e-9); at += step) found.push(at);
  return found;
}

function places(count) {
  const every = Math.ceil(count / 20);
  return Array.from({ length: Math.ceil(count / every) }, (_, place) => place * every);
}
