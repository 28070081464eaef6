// Alphabets as people choose and type them, as a recipe has them: named ones, characters of one's own, or names.
import { element } from "./elements.js";

const NAMED = [
  { alphabet: "a-z ", label: "a to z and space", examples: ["american control conference", "american central conference"] },
  { alphabet: "a-zA-Z ", label: "A to Z, a to z and space", examples: ["Ada Lovelace", "Ann Lovelock"] },
  { alphabet: "name:digits", label: "digits 0 to 9", examples: ["3141592653", "3141592654"] },
  { alphabet: "name:binary", label: "binary: 0 and 1", examples: ["0110100110010110", "0110100110010111"] },
  { alphabet: "name:hex", label: "hexadecimal: 0 to 9, a to f", examples: ["deadbeef", "deafbeef"] },
  { alphabet: "name:dna", label: "DNA: A, C, G, T", examples: ["GATTACAGATTACA", "GATTACACATTACA"] },
  { alphabet: "name:protein", label: "protein: 20 amino acids", examples: ["MKTAYIAKQR", "MKTAYIAKQK"] },
  { alphabet: "name:printable", label: "all printable ASCII characters", examples: ["Call 555-0199!", "Call 555-0198!"] },
];
const OWN = { label: "my own characters", examples: ["abacabad", "abacabab"], text: "a-d" };
const NAMES = { label: "names of my own", examples: ["order pay ship", "order cancel refund"],
  text: "order pay ship cancel refund" };
const EVENTS = "names", CHARACTERS = "own";
const MOST_SHOWN = 12; // names in a line

/** How a list of names was read, for people. */
export function readAs(names) {
  const few = names.length > MOST_SHOWN ? [...names.slice(0, MOST_SHOWN - 1), `${names.length - MOST_SHOWN + 1} more`] : names;
  return `Read as ${names.length} name${names.length === 1 ? "" : "s"}: ${few.join(" · ")}`;
}

/**
 * Wires the fields `${view}-named` (a select) and `${view}-alphabet` (a text), of which the second is shown for
 * alphabets of one's own. `words` are inputs whose examples change with the alphabet, unless the user typed another word.
 */
export function alphabetChoice(view, words) {
  const select = document.getElementById(`${view}-named`), text = document.getElementById(`${view}-alphabet`);
  const hint = document.getElementById(`${view}-alphabet-hint`), row = document.getElementById(`${view}-own`);
  const choices = [...NAMED.map((each) => [each.alphabet, each]), [CHARACTERS, OWN], [EVENTS, NAMES]];
  select.append(...choices.map(([value, { label }]) => element("option", { value }, label)));
  const chosen = () => choices.find(([value]) => value === select.value)[1];
  const own = () => select.value === CHARACTERS || select.value === EVENTS;
  const typed = () => (select.value === CHARACTERS ? text.value.replaceAll("\n", "") : text.value);
  const arrange = () => {
    row.hidden = !own();
    hint.textContent = select.value === EVENTS ? "All names that may occur, with spaces, commas or new lines between them; inside of a name, write pay_now."
      : "All characters that may occur; ranges are written a-z.";
  };
  text.addEventListener("input", arrange); // until the list is in use
  select.addEventListener("input", () => {
    if (own()) text.value = chosen().text;
    words.forEach((word, place) => {
      const known = choices.some(([, { examples }]) => examples[place] === word.value);
      if (known || word.value === "") word.value = chosen().examples[place];
    });
    arrange();
  });
  return {
    /** The language, as fields of a recipe. */
    language: () => (select.value === EVENTS ? { alphabet: spaced(text.value), separator: " " } : { alphabet: own() ? characters(typed()) : select.value }),
    /** The public settings for the address. */
    settings: () => ({ alphabet: own() ? typed() : select.value, names: select.value === EVENTS ? "1" : "" }),
    /** Say how a list of names was read. */
    found: () => { if (select.value === EVENTS) hint.textContent = readAs(spaced(text.value)); },
    /** Take the settings of the address; words that the address does not have are examples. */
    read(settings) {
      const value = settings.get("alphabet"), named = NAMED.some(({ alphabet }) => alphabet === value);
      if (value !== null) {
        select.value = settings.get("names") === "1" ? EVENTS : named ? value : CHARACTERS;
        if (own()) text.value = value;
      }
      words.forEach((word, place) => { if (word.value === "") word.value = chosen().examples[place]; });
      arrange();
    },
  };
}

/** Names without spaces in them, with white space between them, with or without commas, or with commas alone. */
export function spaced(text) {
  const parts = text.split(/\s+/).filter((part) => part !== "");
  if (parts.length === 1) return betweenCommas(text);
  return parts.map((part) => part.replace(/^,+|,+$/g, "")).filter((name) => name !== "");
}

/** The lines of a text. A single line, which would be a single name, is divided at commas, or at white space. */
export function listed(text) {
  const lines = text.replaceAll("\r\n", "\n").replace(/\n+$/, "").split("\n");
  if (lines.length > 1) return lines;
  return text.includes(",") ? betweenCommas(text) : text.split(/\s+/).filter((part) => part !== "");
}

/** Characters and ranges; an @ at the beginning, which would stand for a file, is one of the characters. */
export function characters(text) {
  return text.startsWith("@") ? `\\${text}` : text;
}

function betweenCommas(text) {
  return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
}
