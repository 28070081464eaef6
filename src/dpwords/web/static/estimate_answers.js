// What the view of estimates shows: proportions with intervals beside the plain count, as a chart and as a table.
import { canvas, chart, keys, steps } from "./charts.js";
import { drawn, element, rounded, showFigures } from "./elements.js";

const MOST_BARS = 20, MOST_ROWS = 50; // that are shown; the file that can be saved has all
const ROW = 26, LINE = 13, RIGHT = 16, WIDTH = 560, BELOW = 40, LONGEST = 28, LETTER = 8; // of the chart, and characters of a name
const LEAST = 1e-5; // share that is written as a number
const TITLES = { frequencies: "How often each symbol occurs", visits: "How often each state is visited", transitions: "Which state comes after which",
  dfg: "Which symbol directly follows which", starts: "With which symbol words start", ends: "With which symbol words end", lengths: "How long words are" };
const OF = { frequencies: "symbol", visits: "state", transitions: "step", dfg: "pair", starts: "first symbol", ends: "last symbol", lengths: "length" };
const METHODS = { inverse: "inversion", counted: "counted" };
const MODELS = { chain: "fitted chain", "by place": "fitted chain, by position", "two steps": "fitted chain with two steps of memory" };

/** Show an answer of the server; `at` finds the parts of the view. */
export function showAnswer(at, answer) {
  const { question, releases, confidence, method, model, notes } = answer;
  const sure = `${Number((100 * confidence).toPrecision(4))}%`;
  const named = [...answer.rows];
  if (question !== "lengths") named.sort(([, one], [, other]) => other - one);
  const rows = named.map(([label, ...numbers]) => [label.join(" → "), ...numbers]);
  at("answer-title").textContent = TITLES[question];
  showFigures(at("figures"), [["releases", releases.toLocaleString("en")], ["method", METHODS[method] ?? MODELS[model] ?? method],
    ["error to expect, all proportions together", points(answer.total_error)], ["the plain count differs by", points(answer.moved)]]);
  at("notes").replaceChildren(...notes.map((note) => element("li", {}, `${note[0].toUpperCase()}${note.slice(1)}.`)));
  at("of").textContent = OF[question];
  at("interval").textContent = `${sure} interval`;
  at("proportions").replaceChildren(...rows.slice(0, MOST_ROWS).map(([label, value, low, high, counted]) => element("tr", {},
    element("th", { scope: "row" }, label), element("td", {}, percentOf(value)), element("td", {}, `${percentOf(low)} to ${percentOf(high)}`),
    element("td", {}, percentOf(counted)))));
  at("more").textContent = rows.length > MOST_ROWS ? `${(rows.length - MOST_ROWS).toLocaleString("en")} more, with smaller estimates, are in the CSV file.` : "";
  proportions(at("chart"), TITLES[question], named, answer.rows, OF[question], sure);
  at("command").textContent = answer.command;
  at("python").textContent = answer.python;
  at("answer").hidden = at("recipes").hidden = false;
}

/** Bars of estimates with their intervals, and a ring at each plain count; the names of a pair stand below each other if they are long.
 * `all` are the rows as the server sent them, and `rows` the same in the order of the chart. */
function proportions(figure, title, rows, all, of, sure) {
  const shown = rows.slice(0, MOST_BARS), whole = shown.map(([label]) => label.join(" → "));
  const lines = whole.every((name) => name.length <= LONGEST) ? whole.map((name) => [name])
    : shown.map(([label]) => label.map((name, place) => `${place ? "→ " : ""}${short(name)}`));
  const row = ROW + LINE * ((lines[0]?.length ?? 1) - 1), height = shown.length * row;
  const top = Math.max(...shown.flatMap(([, value, , high, counted]) => [value, high ?? 0, counted]), 1e-9);
  const left = 16 + LETTER * Math.max(...lines.flat().map((line) => line.length));
  const x = (share) => left + (share / top) * (WIDTH - left - RIGHT);
  const about = shown.map(([, value, low, high, counted], place) => `${whole[place]}: ${percentOf(value)}, ${percentOf(low)} to ${percentOf(high)}, counted ${percentOf(counted)}`);
  const picture = canvas(title, about.join("; "), WIDTH, height + BELOW);
  for (const share of steps(0, top)) {
    picture.append(drawn("path", { class: "gridline", d: `M${x(share)} 0V${height}` }),
      drawn("text", { x: x(share), y: height + 16, "text-anchor": "middle" }, percentOf(share)));
  }
  picture.append(drawn("text", { x: (left + WIDTH - RIGHT) / 2, y: height + 34, "text-anchor": "middle" }, "proportion"));
  shown.forEach(([, value, low, high, counted], place) => {
    const middle = (place + 0.5) * row;
    lines[place].forEach((line, number) => picture.append(
      drawn("text", { x: left - 8, y: middle + 5 + LINE * (number - (lines[place].length - 1) / 2), "text-anchor": "end" }, line)));
    picture.append(drawn("rect", { class: "proportion", x: left, y: middle - 8, width: x(value) - left, height: 16 }, drawn("title", {}, about[place])),
      drawn("path", { class: "estimate", d: `M${x(value)} ${middle - 8}v16` }));
    if (low !== null && high !== null) picture.append(drawn("path", { class: "interval", d: whisker(x(low), x(high), middle) }));
    picture.append(drawn("circle", { class: "counted", cx: x(counted), cy: middle, r: 4.5 }));
  });
  const legend = keys([
    ["estimate", drawn("rect", { class: "proportion", x: 0, y: 1, width: 31, height: 14 }), drawn("path", { class: "estimate", d: "M31 1v14" })],
    [`${sure} interval`, drawn("path", { class: "interval", d: whisker(2, 30, 8) })],
    ["plain count of the releases", drawn("circle", { class: "counted", cx: 16, cy: 8, r: 4.5 })]]);
  const labels = all[0]?.[0].length === 2 ? [`${of} from`, `${of} to`] : [of];
  chart(figure, rows.length > MOST_BARS ? `${title}: the ${MOST_BARS} largest of ${rows.length.toLocaleString("en")}` : title, picture,
    () => [[...labels, "estimate", "low", "high", "counted"], ...all.map(([label, ...numbers]) => [...label, ...numbers])], "estimates", legend);
}

function whisker(from, to, y) { return `M${from} ${y - 5}V${y + 5}M${from} ${y}H${to}M${to} ${y - 5}V${y + 5}`; }

function short(label) { return label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label; }

/** A sum of differences between proportions, in percentage points. */
function points(sum) { return sum === null ? "not known" : `${rounded(100 * sum)} points`; }

function percentOf(share) { return share === null ? "not known" : share > 0 && share < LEAST ? "<0.001%" : `${rounded(100 * share)}%`; }
