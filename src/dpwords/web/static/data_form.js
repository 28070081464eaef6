// The settings of the view of data: what stands in the form, as a recipe and as it goes into the address.
import { fileForm, WHERE as OF_WORDS } from "./file_form.js";

const form = fileForm("data", ["epsilon", "k", "edits", "spending", "budget", "skip", "drop-others"], ["by"], () => {
  const spending = at("spending").value;
  return [spending === "equal" ? "epsilon" : "", spending === "word" ? "budget" : ""];
});

export const { at, file, fill, forAddress, hasNames, language, offer, onChange, showSymbols, where, wordColumns } = form;

/** The settings about columns. */
export const WHERE = [...OF_WORDS, "by"];

/** Show only the settings that belong to what is chosen. */
export function arrange() {
  form.arrange();
  at("read-symbols").disabled = !at("confirmed").checked;
}

/** The recipe of a release of the file of this name. */
export function recipe(name) {
  const spending = at("spending").value;
  return {
    ...file(name), ...where(), ...language(),
    epsilon: spending === "equal" ? null : Number(at("epsilon").value),
    k: Number(at("k").value),
    edits: at("edits").value,
    by: at("by").value || null,
    budget: spending === "word" ? null : Number(at("budget").value),
    split: spending === "first" ? "first" : null,
    invalid: at("skip").checked ? "skip" : null,
    drop_others: at("drop-others").checked || null,
  };
}

/** What is still missing before the server can be asked; null if nothing is. */
export function missing() {
  if (form.missing() === null && at("spending").value !== "word" && at("by").value === "") {
    return "A budget is for each person: choose the column that says whose word it is.";
  }
  return form.missing();
}
