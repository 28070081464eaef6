// The view of words.
import { write } from "./address.js";
import { latest } from "./ask.js";
import { bars } from "./charts.js";
import { element, markedWord } from "./elements.js";

const at = (name) => document.getElementById(`words-${name}`);

const update = latest(question, answered, (text) => { at("error").textContent = text; });

/** Show the view with the settings of the address. */
export function show(settings) {
  if (settings.has("alphabet")) at("alphabet").value = settings.get("alphabet");
  if (settings.has("epsilon")) at("epsilon").value = settings.get("epsilon");
  changed();
}

at("form").addEventListener("input", changed);
at("form").addEventListener("submit", (event) => event.preventDefault());

function changed() {
  at("epsilon-shown").value = at("epsilon").value;
  write("words", { alphabet: at("alphabet").value, epsilon: at("epsilon").value });
  update();
}

function question() {
  return ["words/release", {
    word: at("word").value,
    language: { kind: "alphabet", alphabet: at("alphabet").value },
    promise: { epsilon: Number(at("epsilon").value) },
  }];
}

function answered({ releases, distribution }) {
  at("releases").replaceChildren(...releases.map((marks) => element("li", {}, ...markedWord(marks))));
  bars(at("distribution"), { title: "How many letters change", name: "changes", across: "changes", up: "probability",
    series: [{ name: "probability", colour: "tight", values: distribution }] });
}
