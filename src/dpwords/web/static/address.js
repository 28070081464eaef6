// Public settings of a view live in the part of the address after #, which browsers do not send to any server:
// #words?alphabet=a-z&epsilon=3. The private word is in it only if the user asks for that.

const LATER = 2000; // milliseconds until an address is tried again

/** The view and the settings in the address; `views` are the names of all views, the first one is the default. */
export function read(views) {
  const [name, query] = location.hash.slice(1).split("?", 2);
  return { view: views.includes(name) ? name : views[0], settings: new URLSearchParams(query ?? "") };
}

/**
 * Put settings into the address without leaving the view. Values that are null, undefined or "" are left out. Nothing
 * happens if the user has gone to another view in the meantime, as an answer may arrive late.
 */
export function write(view, settings) {
  if (elsewhere(view)) return;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(settings)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  const text = query.toString();
  put(view, `#${view}${text ? `?${text}` : ""}`);
}

let refused = null; // the last change that the browser refused, because there had been too many

function put(view, address) {
  try {
    history.replaceState(null, "", address);
    refused = null;
  } catch {
    if (refused === null) setTimeout(tryAgain, LATER);
    refused = [view, address];
  }
}

function tryAgain() {
  const last = refused;
  refused = null;
  if (last !== null && !elsewhere(last[0])) put(...last);
}

/** Whether another view is shown, or about to be shown because the address names it. */
function elsewhere(view) {
  const name = location.hash.slice(1).split("?", 1)[0];
  return document.getElementById(`view-${view}`).hidden || (name !== view && document.getElementById(`view-${name}`) !== null);
}

/** Call a function when the user changes the address: by a link, by the back button, or by hand. */
export function onChange(changed) {
  addEventListener("hashchange", () => {
    if (location.hash !== "#main") changed();
  });
}

/** Let the button `${view}-copy` copy the address, which `keep()` brings up to date; `words` is what can be in it. */
export function copyButton(view, keep, words) {
  const at = (name) => document.getElementById(`${view}-${name}`);
  at("copy").addEventListener("click", async () => {
    keep();
    try {
      await navigator.clipboard.writeText(location.href);
      at("copied").textContent = `Copied, ${at("share").checked ? "with" : "without"} ${words}.`;
    } catch {
      at("copied").textContent = "Copy it from the address bar.";
    }
  });
}
