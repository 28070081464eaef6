// The settings of the view of data: what stands in the form, as the server takes it and as it goes into the address.
import { fileForm, WHERE as OF_WORDS } from "./file_form.js";

const form = fileForm("data", ["epsilon", "k", "edits", "spending", "budget", "skip", "drop-others"], ["by"], () => {
  const spending = at("spending").value;
  return [spending === "equal" ? "epsilon" : "", spending === "word" ? "budget" : ""];
});

export const { at, fill, forAddress, hasNames, language, offer, onChange, where, wordColumns } = form;

/** The settings about columns. */
export const WHERE = [...OF_WORDS, "by"];

/** Show only the settings that belong to what is chosen. */
export function arrange() {
  form.arrange();
  at("read-symbols").disabled = !at("confirmed").checked;
}

/** What is asked of the server about a file, but for the file's own name. */
export function settings() {
  const spending = at("spending").value;
  return {
    format: at("format").value || null,
    where: where(),
    language: language(),
    promise: { epsilon: spending === "equal" ? null : Number(at("epsilon").value), k: Number(at("k").value), edits: at("edits").value },
    people: { by: at("by").value || null, spending, budget: spending === "word" ? null : Number(at("budget").value) },
    skip: at("skip").checked,
    drop_others: at("drop-others").checked,
  };
}

/** What is still missing before the server can be asked; null if nothing is. */
export function missing() {
  if (form.missing() === null && at("spending").value !== "word" && at("by").value === "") {
    return "A budget is for each person: choose the column that says whose word it is.";
  }
  return form.missing();
}
