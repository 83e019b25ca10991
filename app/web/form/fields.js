// Form fields: a label, a control, a hint, and a line for the API's error message.

import { h, newId } from "../dom.js";

const UNSET = "automatic"; // what an empty field stands for
const HALF_WIDTH = 16; // letters of a menu in half the width of the form
const GREEK = { alpha: "α", gamma: "γ", delta: "δ", mu: "μ", sigma: "σ" }; // letters in the formulas of kernels

// {name, element, control, setHint(text), showError(message or null)}
export function field(name, label, control, text = "") {
  const id = newId("field");
  const hint = h("p", { class: "hint", id: `${id}-hint` }, text);
  const error = h("p", { class: "error", id: `${id}-error`, hidden: true });
  control.id = id;
  control.name = name;
  control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  const longest = Math.max(0, ...Array.from(control.options ?? [], (option) => option.text.length));
  const element = h(
    "div",
    { class: longest > HALF_WIDTH ? "field wide" : "field", "data-field": name },
    h("label", { htmlFor: id }, label),
    control,
    hint,
    error,
  );
  return {
    name,
    element,
    control,
    setHint(newText) {
      hint.textContent = newText;
    },
    showError(message) {
      error.textContent = message ? inTheForm(message, name) : "";
      error.hidden = !message;
      if (message) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    },
  };
}

// A message of the API beside the field that it is about: the label has the name, and an empty field is the default.
function inTheForm(message, name) {
  const text = message.startsWith(`${name} is `) ? message.replace(`${name} is `, "It is ") : message;
  return text.replace(", or null for the default", ", or empty for the default");
}

// A field for a parameter of the API's catalogue. `onChange(value)` gets undefined if the user leaves the default.
// `words` has the text of options by their values.
export function parameterField(
  parameter,
  value,
  onChange,
  { prefix = "", label = titleOf(parameter.name), words = {} } = {},
) {
  const options = optionsOf(parameter)?.map(([key, text]) => [key, words[key] ?? text]);
  const control = options ? select(options, value ?? parameter.default) : textInput(parameter, value);
  for (const event of options ? ["change"] : ["change", "input"])
    control.addEventListener(event, () => onChange(parse(control.value, parameter)));
  return field(prefix + parameter.name, label, control, parameter.description);
}

// The options of a parameter that takes a fixed set of values, or null if it also takes others.
function optionsOf({ choices, types, default: defaultValue }) {
  if (types.includes("boolean"))
    return [
      ["false", "no"],
      ["true", "yes"],
    ];
  if (!choices?.length || types.some((type) => type !== "string" && type !== "null")) return null;
  const named = choices.map((choice) => [choice, choice]);
  return defaultValue === null ? [["", UNSET], ...named] : named;
}

export function select(options, value, onChange) {
  const control = h(
    "select",
    {},
    options.map(([key, text]) => h("option", { value: key, selected: key === String(value ?? "") }, text)),
  );
  if (onChange) control.addEventListener("change", () => onChange(control.value));
  return control;
}

// "max_iter" becomes "Max iter", "sigma" becomes "Sigma (σ)", and a single letter stays as it is in formulas.
function titleOf(name) {
  if (name.length === 1) return name;
  const text = name.replaceAll("_", " ");
  const title = text[0].toUpperCase() + text.slice(1);
  return GREEK[name] ? `${title} (${GREEK[name]})` : title;
}

function textInput(parameter, value) {
  const isNumeric = parameter.types.some((type) => type === "integer" || type === "number");
  const isName = !isNumeric && parameter.types.includes("string");
  const empty = parameter.required ? "required" : isName ? "none" : UNSET;
  return h("input", {
    type: "text",
    inputMode: isNumeric && !parameter.choices ? "decimal" : "text",
    autocomplete: "off",
    placeholder: format(parameter.default) || empty,
    value: format(value),
  });
}

function format(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// The typed text as a JSON value. Text that cannot be parsed is sent as a string, and the API explains the error.
function parse(text, parameter) {
  const typed = text.trim();
  if (typed === "") return undefined;
  if (parameter.types.every((type) => type === "string" || type === "null")) return typed;
  if (parameter.types.includes("string") && !/^[-+.\d[{]/.test(typed)) return typed;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}
