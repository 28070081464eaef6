// What the view of data shows: what is promised and spent, and what was released.
import { bars } from "./charts.js";
import { element, markedWord, rounded, showFigures } from "./elements.js";
import { download } from "./save.js";

const LONGEST_WORD = 200; // up to which lengths are drawn as a chart
const at = (name) => document.getElementById(`data-${name}`);

/** What was found before anything is drawn; `others` are columns that stay as they are. */
export function showChecked(found, others) {
  const { people, lengths } = found;
  const number = (value) => value.toLocaleString("en");
  const figures = [["words to release", number(found.words)]];
  if (lengths.length > 0) figures.push(["length of a word", range(lengths[0][0], lengths.at(-1)[0])]);
  if (people === null) figures.push(["each word spends", `ε = ${rounded(found.spent)}`]);
  else {
    figures.push(["people", number(people.people)], ["words of a person", `${rounded(people.typical)}, at most ${number(people.most)}`],
      ["a person spends", `ε = ${rounded(people.typical_spent)}, at most ${rounded(found.spent)}`]);
  }
  showFigures(at("figures"), figures);
  at("notes").replaceChildren(...notes(found, others).map(([text, bad]) => element("p", { class: bad ? "bad" : null }, text)));
  showLengths(lengths);
  at("command").textContent = found.command;
  at("python").textContent = found.python;
  at("checked").hidden = at("recipes").hidden = false;
}

function notes(found, others) {
  const { people, fault, skipped, row } = found, all = [];
  if (skipped > 0) {
    const many = `${skipped.toLocaleString("en")} of ${found.rows.toLocaleString("en")} ${row}s ${skipped === 1 ? "has" : "have"} no word of the language`;
    if (at("skip").checked) all.push([`${many}, and will be left out. Whoever knows the original ${row}s can see which.`, false]);
    else all.push([`${many}. The first: ${fault}.`, true]);
    if (found.words === 0) all.push(["Nothing can be released: check where the words are, what is between their symbols, and what may come out.", true]);
    else if (!at("skip").checked) all.push(["Nothing is released before that is mended, or such rows are left out: tick the box for it.", true]);
  }
  if (people === null) all.push(["Each word spends its ε, also if one person has several: choose the column that says whose word it is to see what they add up to.", false]);
  else if (people.left_out > 0) all.push([`The budget does not pay for ${people.left_out.toLocaleString("en")} words: they are left out.`, false]);
  if (at("shape").value === "log") all.push(["The order of the events is written anew, and all other columns are left out: they would tell which events are true.", false]);
  else if (others.length > 0) all.push([`Not protected: ${listed(others)}. ${others.length === 1 ? "It is copied as it is" : "They are copied as they are"}.`, false]);
  return all;
}

function listed(names) {
  return names.length > 6 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} other columns` : names.join(", ");
}

function range(least, most) {
  return least === most ? String(least) : `${least} to ${most}`;
}

function showLengths(lengths) {
  const most = lengths.length > 0 ? lengths.at(-1)[0] : 0;
  at("lengths-part").hidden = most === 0 || most > LONGEST_WORD;
  if (at("lengths-part").hidden) return;
  const values = Array.from({ length: most + 1 }, () => 0);
  for (const [length, number] of lengths) values[length] = number;
  bars(at("lengths"), { title: "How long the words are (for your eyes)", name: "lengths", across: "length", up: "words",
    series: [{ name: "words", colour: "private", values }] });
}

/** The public summary, line by line, or a text while there is none. */
export function showSummary(lines) {
  at("summary").replaceChildren(...lines.map((line) => element("li", {}, line)));
}

/** The released file and its receipt for downloading, and some words before and after. */
export function showReleased({ values, content }) {
  const { name, receipt, inside, examples } = values, between = values.between === "" ? "" : " · "; // names may have spaces
  const save = (what, file, bytes, type) => element("button", { type: "button", class: what, onclick: () => download(bytes, file, type) }, `Download ${file}`);
  at("downloads").replaceChildren(save("main", name, content, "application/octet-stream"),
    ...(inside ? [] : [save("", `${name}.receipt.json`, receipt, "application/json")]));
  at("receipt").textContent = inside
    ? "The receipt, which says what was promised, is in the metadata of the file."
    : "The receipt says what was promised. It has nothing private in it: keep it with the file.";
  at("examples").replaceChildren(...examples.map(([before, after]) => element("tr", {},
    element("td", {}, before.join(between)), element("td", {}, ...markedWord(after, between)),
    element("td", {}, `${after.filter(([, change]) => change !== "same").length} of ${before.length}`))));
  at("released").hidden = false;
}

/** How often this file was released since the page was opened, and what that spends if all of it is published. */
export function showCount({ times, spent }, ofPeople) {
  const who = ofPeople ? "a person has spent at most" : "each word has spent";
  at("count").textContent = times === 0 ? "Each release of the same words spends ε again."
    : times === 1 ? `You have released this file once: ${who} ε = ${rounded(spent)}. Another release spends it again.`
    : `You have released this file ${times} times: if you publish all of them, ${who} ε = ${rounded(spent)} in total.`;
}
