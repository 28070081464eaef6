// Saving a chart as a picture (SVG, PNG) or its numbers as CSV. Files are made in the browser.
import { element } from "./elements.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "text-anchor", "paint-order"];

/** Offer bytes, text or a Blob as a download. */
export function download(content, name, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Buttons that save an SVG element and rows of numbers; `name` is the name of the files without their endings. */
export function saveButtons(picture, rows, name) {
  return element("span", { class: "save", role: "group", "aria-label": `Save ${name}` },
    element("button", { type: "button", onclick: () => download(text(picture), `${name}.svg`, "image/svg+xml") }, "SVG"),
    element("button", { type: "button", onclick: () => savePng(picture, name) }, "PNG"),
    element("button", { type: "button", onclick: () => download(csv(rows()), `${name}.csv`, "text/csv") }, "CSV"));
}

/** The picture on its own: colours that the page's style gives it are written into it. */
function text(picture) {
  const copy = picture.cloneNode(true);
  const originals = picture.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, place) => {
    const style = getComputedStyle(originals[place]);
    for (const property of STYLES) node.style.setProperty(property, style.getPropertyValue(property));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return new XMLSerializer().serializeToString(copy);
}

async function savePng(picture, name) {
  const box = picture.viewBox.baseVal;
  const image = new Image(box.width * 2, box.height * 2);
  const address = URL.createObjectURL(new Blob([text(picture)], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  const canvas = element("canvas", { width: box.width * 2, height: box.height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => download(blob, `${name}.png`, "image/png"));
}

function csv(rows) {
  const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
