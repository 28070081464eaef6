// Certificates take seconds to find. They are computed in the background once nothing has changed for a moment.
import { ask, attempt } from "./ask.js";

const REST = 400; // milliseconds without a change
const KEPT = 40; // answers
const at = (name) => document.getElementById(`runs-${name}`);

/** The search for certificates: `question()` is what is asked now, and `found` takes the answer if it still fits. */
export function certifying(question, found) {
  const kept = new Map(); // answers, by question
  let controller = null; // of the search that is under way
  let timer = 0;
  const now = () => JSON.stringify(question());

  async function search() {
    const own = new AbortController(), key = now();
    controller = own;
    say("Searching for a certificate, at most about a minute; until then the other mechanisms are what is proven.", true);
    await attempt(async () => {
      const progress = (share) => { at("progress").value = share; };
      const { values } = await ask("runs/certified", question(), { progress, signal: own.signal });
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
      kept.set(key, values);
      if (key === now()) found(values);
      say("", false);
    }, (reason) => say(`No certificate: ${reason}`, false, true));
    if (controller === own) controller = null;
  }

  function stop() {
    clearTimeout(timer);
    controller?.abort();
    controller = null;
    say("", false);
  }

  at("cancel").addEventListener("click", () => {
    stop();
    say("The search for a certificate was cancelled.", false, true);
    at("certify").focus();
  });
  at("certify").addEventListener("click", search);
  addEventListener("hashchange", () => { if (!location.hash.startsWith("#runs")) stop(); });
  return {
    /** The answer to what is asked now, if there was one before. */
    known: () => kept.get(now()),
    /** Search once nothing changes for a moment; not for a view that was left, as others need the same worker. */
    wanted: () => { clearTimeout(timer); if (!at("certifying").closest(".view").hidden) timer = setTimeout(search, REST); },
    /** End the search: something has changed. */
    stop,
    /** Draw anew the next time. */
    forget: () => kept.clear(),
  };
}

/** What the user reads about the search, with a button to cancel it, or one to start it. */
function say(text, busy, offered = false) {
  at("certifying").textContent = text;
  at("progress").hidden = at("cancel").hidden = !busy;
  if (busy) at("progress").removeAttribute("value");
  at("certify").hidden = !offered;
}
