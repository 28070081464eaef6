// Rules as text, from the small form.

/** The rule that the form describes, as in "at_most:2;4,7"; null if no state or move is named. */
export function ruleText(name, times, symbols) {
  const named = symbols.split(";").map((symbol) => symbol.trim()).filter((symbol) => symbol !== "");
  if (named.length === 0 || (name === "before" && named.length !== 2)) return null;
  return `${name}:${[...(name.startsWith("at_") ? [times] : []), ...named].join(";")}`;
}
