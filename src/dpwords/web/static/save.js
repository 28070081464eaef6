// Saving a chart as a picture (SVG, PNG) or its numbers as CSV. Files are made in the browser.
import { drawn, element } from "./elements.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "text-anchor", "paint-order"];
const EDGE = 8, ROW = 22, KEY = 40, LETTER = 7.5; // of the lines above a saved picture: margins, height, the sample of a colour, a letter

/** Offer bytes, text or a Blob as a download. */
export function download(content, name, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Buttons that save an SVG element and rows of numbers; `name` is the name of the files without their endings. */
export function saveButtons(picture, rows, name) {
  return element("span", { class: "save", role: "group", "aria-label": `Save ${name}` },
    element("button", { type: "button", onclick: () => download(text(whole(picture)), `${name}.svg`, "image/svg+xml") }, "SVG"),
    element("button", { type: "button", onclick: () => savePng(whole(picture), name) }, "PNG"),
    element("button", { type: "button", onclick: () => download(csv(rows()), `${name}.csv`, "text/csv") }, "CSV"));
}

/** The picture on its own, with its title and the list of its colours above it. */
function whole(picture) {
  const chart = picture.closest(".chart"), { width, height } = picture.viewBox.baseVal, { color } = getComputedStyle(chart);
  const keys = [...chart.querySelectorAll(".legend li")].map((item) => [item.textContent, item.querySelector("svg")]);
  const lines = [[chart.querySelector("figcaption, h3").firstChild.textContent, null], ...keys];
  const above = EDGE + ROW * lines.length, most = Math.max(...lines.map(([line]) => line.length));
  const all = drawn("svg", { width: Math.ceil(Math.max(width, 2 * EDGE + KEY + LETTER * most)), height: Math.ceil(above + height) });
  all.style.background = getComputedStyle(document.body).backgroundColor;
  lines.forEach(([line, key], row) => {
    if (key !== null) all.append(placed(key, EDGE, ROW * (row + 0.5), KEY - EDGE, ROW - EDGE));
    const text = drawn("text", { x: key === null ? EDGE : EDGE + KEY, y: ROW * (row + 1) }, line);
    text.style.font = `${key === null ? 600 : 400} 13px system-ui, "DejaVu Sans", sans-serif`;
    text.style.fill = color;
    all.append(text);
  });
  all.append(placed(picture, 0, above, width, height));
  return all;
}

/** A copy of a picture for a place in another one: colours that the page's style gives it are written into it. */
function placed(picture, x, y, width, height) {
  const copy = picture.cloneNode(true), originals = picture.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, place) => {
    const style = getComputedStyle(originals[place]);
    for (const property of STYLES) node.style.setProperty(property, style.getPropertyValue(property));
  });
  for (const [name, value] of Object.entries({ x, y, width, height })) copy.setAttribute(name, value);
  return copy;
}

function text(whole) { return new XMLSerializer().serializeToString(whole); }

async function savePng(whole, name) {
  const [width, height] = ["width", "height"].map((side) => 2 * Number(whole.getAttribute(side)));
  const image = new Image(width, height);
  const address = URL.createObjectURL(new Blob([text(whole)], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  const canvas = element("canvas", { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => download(blob, `${name}.png`, "image/png"));
}

function csv(rows) {
  const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
