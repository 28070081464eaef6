// Small helpers to build parts of the page. Text always goes in as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: element("li", { class: "word" }, "text", child, …). */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An SVG element, likewise. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** Fill a list of figures with [[name, value], …]. */
export function showFigures(list, figures) {
  list.replaceChildren(...figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/** The symbols of a released word, as the server marks them: [[symbol, change], …], as nodes. */
export function markedWord(marks, between = "") {
  return marks.flatMap(([symbol, change], place) => {
    const shown = change === "same" ? symbol : element("span", { class: change, title: change }, symbol);
    return place === 0 || between === "" ? [shown] : [between, shown];
  });
}

/** A number for people: three digits, or a percentage. */
export function rounded(value) {
  return value === null ? "not known" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
/** A probability that is a bound from above, rounded up, so that it remains one. */
export function percentAtMost(share) {
  return share < 0.001 ? "<0.1%" : share > 0.999 ? ">99.9%" : `${(Math.ceil(1000 * share) / 10).toFixed(1)}%`;
}
export function percent(share) {
  return share === null ? "not known" : share < 0.001 ? "<0.1%" : share > 0.999 ? ">99.9%" : `${(100 * share).toFixed(1)}%`;
}
