// Alphabets as people type them, as a recipe has them.

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
