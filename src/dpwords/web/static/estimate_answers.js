// What the view of estimates shows: proportions with intervals beside the plain count, as a chart and as a table.
import { canvas, chart, keys, steps } from "./charts.js";
import { drawn, element, rounded, showFigures } from "./elements.js";

const MOST_BARS = 20, MOST_ROWS = 50; // that are shown; the file that can be saved has all
const RIGHT = 22, WIDTH = 640, BELOW = 40, BAR = 16, APART = 10; // of the chart
const WIDE = { size: 12, line: 14, most: 296 }, NARROW = { size: 16, line: 17, most: 236 }; // letters of names as in charts.css, and their lines
const PEN = element("canvas").getContext("2d"); // to measure texts
const ARROW = " → ";
const LEAST = 1e-5; // share that is written as a number
const TITLES = { frequencies: "How often each symbol occurs", visits: "How often each state is visited", transitions: "Which state comes after which",
  dfg: "Which symbol directly follows which", rates: "How likely each next step is", starts: "With which symbol words start",
  ends: "With which symbol words end", variants: "The most frequent whole words", lengths: "How long words are" };
const OF = { frequencies: "symbol", visits: "state", transitions: "step", dfg: "pair", rates: "step", starts: "first symbol", ends: "last symbol",
  variants: "word", lengths: "length" };
const METHODS = { inverse: "inversion", counted: "counted" };
const MODELS = { chain: "fitted chain", "by place": "fitted chain, by position", "two steps": "fitted chain with two steps of memory" };

/** Show an answer of the server; `at` finds the parts of the view. */
export function showAnswer(at, answer) {
  const { question, releases, confidence, method, model, fits, notes } = answer;
  const sure = `${Number((100 * confidence).toPrecision(4))}%`, how = METHODS[method] ?? MODELS[model] ?? method;
  const rows = answer.rows.map(([, ...numbers], place) => [answer.names[place], ...numbers]);
  const order = question === "rates" ? 2 : 1; // rates that are at least the largest come first: others can be anything
  if (question !== "lengths") rows.sort((one, other) => other[order] - one[order]);
  at("answer-title").textContent = TITLES[question];
  showFigures(at("figures"), [["releases", releases.toLocaleString("en")], ["method", fits ? how : `${how}, which does not fit`],
    ...(answer.moved === undefined ? [] : [["error to expect, all proportions together", points(answer.total_error)], ["the plain count differs by", points(answer.moved)]])]);
  at("notes").replaceChildren(...notes.map((note, place) => element("li", { class: fits || place > 0 ? null : "bad" }, `${note[0].toUpperCase()}${note.slice(1)}.`)));
  at("of").textContent = OF[question];
  at("interval").textContent = `${sure} interval`;
  at("proportions").replaceChildren(...rows.slice(0, MOST_ROWS).map(([name, value, low, high, counted]) => element("tr", {},
    element("th", { scope: "row" }, name), element("td", {}, percentOf(value)), element("td", {}, `${percentOf(low)} to ${percentOf(high)}`),
    element("td", {}, percentOf(counted)))));
  at("more").textContent = rows.length > MOST_ROWS ? `${(rows.length - MOST_ROWS).toLocaleString("en")} more are in the CSV file.` : "";
  const shown = question === "rates" ? `${MOST_BARS} of ${rows.length.toLocaleString("en")}, those whose intervals begin highest`
    : `the ${MOST_BARS} largest of ${rows.length.toLocaleString("en")}`;
  proportions(at("chart"), rows.length > MOST_BARS ? `${TITLES[question]}: ${shown}` : TITLES[question], rows, question === "rates" ? "rate" : "proportion", sure,
    () => table(answer.rows, OF[question]));
  at("command").textContent = answer.command;
  at("python").textContent = answer.python;
  at("answer").hidden = at("recipes").hidden = false;
}

/** All rows as the server sent them, below the names of the columns; pairs have a column for each end. */
function table(rows, of) {
  const labels = rows[0]?.[0].length === 2 ? [`${of} from`, `${of} to`] : [of];
  return [[...labels, "estimate", "low", "high", "counted"], ...rows.map(([label, ...numbers]) => [...label, ...numbers])];
}

/** Bars of estimates with their intervals, and a ring at each plain count; names are in full, on as many lines as they need. */
function proportions(figure, title, rows, across, sure, saved) {
  const { size, line, most } = matchMedia("(max-width: 40rem)").matches ? NARROW : WIDE;
  PEN.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  const shown = rows.slice(0, MOST_BARS), lines = shown.map(([name]) => wrapped(name, most));
  const highs = lines.map((each) => Math.max(BAR, line * each.length) + APART), height = highs.reduce((one, other) => one + other, 0);
  const top = Math.max(...shown.flatMap(([, value, , high, counted]) => [value, high ?? 0, counted ?? 0]), 1e-9);
  const left = 16 + Math.max(...lines.flat().map(wide), 0);
  const x = (share) => left + (share / top) * (WIDTH - left - RIGHT);
  const about = shown.map(([name, value, low, high, counted]) => `${name}: ${percentOf(value)}, ${percentOf(low)} to ${percentOf(high)}, counted ${percentOf(counted)}`);
  const picture = canvas(title, about.join("; "), WIDTH, height + BELOW);
  for (const share of steps(0, top)) {
    picture.append(drawn("path", { class: "gridline", d: `M${x(share)} 0V${height}` }),
      drawn("text", { x: x(share), y: height + 16, "text-anchor": "middle" }, percentOf(share)));
  }
  picture.append(drawn("text", { x: (left + WIDTH - RIGHT) / 2, y: height + 34, "text-anchor": "middle" }, across));
  let end = 0;
  shown.forEach(([, value, low, high, counted], place) => {
    const middle = end + highs[place] / 2, half = BAR / 2;
    end += highs[place];
    lines[place].forEach((text, number) => picture.append(
      drawn("text", { x: left - 8, y: middle + 4 + line * (number - (lines[place].length - 1) / 2), "text-anchor": "end" }, text)));
    picture.append(drawn("rect", { class: "proportion", x: left, y: middle - half, width: x(value) - left, height: BAR }, drawn("title", {}, about[place])),
      drawn("path", { class: "estimate", d: `M${x(value)} ${middle - half}v${BAR}` }));
    if (low !== null && high !== null) picture.append(drawn("path", { class: "interval", d: whisker(x(low), x(high), middle) }));
    if (counted !== null) picture.append(drawn("circle", { class: "counted", cx: x(counted), cy: middle, r: 4.5 }));
  });
  const legend = keys([
    ["estimate", drawn("rect", { class: "proportion", x: 0, y: 1, width: 31, height: 14 }), drawn("path", { class: "estimate", d: "M31 1v14" })],
    [`${sure} interval`, drawn("path", { class: "interval", d: whisker(2, 30, 8) })],
    ["plain count of the releases", drawn("circle", { class: "counted", cx: 16, cy: 8, r: 4.5 })]]);
  chart(figure, title, picture, saved, "estimates", legend);
}

function whisker(from, to, y) { return `M${from} ${y - 5}V${y + 5}M${from} ${y}H${to}M${to} ${y - 5}V${y + 5}`; }

function wide(text) { return PEN.measureText(text).width; }

/** A name on lines that are at most so wide: broken after arrows, else at blanks, else anywhere. */
function wrapped(name, most) {
  const lines = [""];
  const fits = (text) => wide(lines.at(-1) + text) <= most;
  const add = (text) => {
    if (lines.at(-1) !== "" && fits(` ${text}`)) lines[lines.length - 1] += " ";
    else if (lines.at(-1) !== "") lines.push("");
    for (const letter of fits(text) ? [text] : text) {
      if (!fits(letter)) lines.push("");
      lines[lines.length - 1] += letter;
    }
  };
  name.split(ARROW).forEach((part, place, parts) => {
    const text = place < parts.length - 1 ? `${part} →` : part;
    if (wide(text) <= most) { add(text); return; }
    if (lines.at(-1) !== "") lines.push("");
    for (const word of text.split(/ (?!→$)/)) add(word);
  });
  return lines;
}

/** A sum of differences between proportions, in percentage points. */
function points(sum) { return sum === null ? "not known" : `${rounded(100 * sum)} points`; }

function percentOf(share) { return share === null ? "not known" : share > 0 && share < LEAST ? "<0.001%" : `${rounded(100 * share)}%`; }
