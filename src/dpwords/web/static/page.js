// The frame: which view is shown. A view is a module with `show(settings)`; it is loaded when it is first opened.
import { read, onChange } from "./address.js";

const VIEWS = ["words", "runs", "odds", "data", "estimate"];

async function show() {
  const { view, settings } = read(VIEWS);
  for (const name of VIEWS) {
    document.getElementById(`view-${name}`).hidden = name !== view;
    const link = document.querySelector(`.top nav a[href^="#${name}"]`);
    if (name === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const shown = await import(`./${view}.js`);
  if (read(VIEWS).view === view) shown.show(settings); // the user may have gone on while it was loading
}

onChange(show);
show();
