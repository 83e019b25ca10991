// Fields of a form: a label, a control, a line about what it is for, and a place for the API's sentence about it.

import { h, newId } from "../dom.js";

// {name, element, error(sentence), hint(line)}
export function field(name, label, control, line = "") {
  const id = newId("field");
  const hint = h("p", { class: "hint", id: `${id}-hint` }, line);
  const error = h("p", { class: "error", id: `${id}-error`, hidden: true });
  control.id = id;
  control.name = name;
  control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  const element = h(
    "div",
    { class: "field", "data-field": name },
    h("label", { htmlFor: id }, label),
    control,
    hint,
    error,
  );
  return {
    name,
    element,
    control,
    error: (sentence) => setError(control, error, sentence),
    hint: (text) => {
      hint.textContent = text;
    },
  };
}

// A field for a parameter of the catalogue; `change(value)` is called with undefined where it is left at its default.
export function parameterField(parameter, value, change, prefix = "") {
  const label = words(parameter.name);
  const options = optionsOf(parameter);
  const control = options ? select(options, value ?? parameter.default) : written(parameter, value);
  for (const happens of options ? ["change"] : ["change", "input"])
    control.addEventListener(happens, () => change(read(control.value, parameter)));
  return field(prefix + parameter.name, label, control, parameter.description);
}

// The values of a parameter that has only some, with one for none of them where that is its default; else null.
function optionsOf({ choices, types, default: usual }) {
  if (types.includes("boolean"))
    return [
      ["false", "no"],
      ["true", "yes"],
    ];
  if (!choices?.length || types.some((type) => type !== "string" && type !== "null")) return null;
  const named = choices.map((choice) => [choice, choice]);
  return usual === null ? [["", "by itself"], ...named] : named;
}

export function select(options, value, onchange) {
  const control = h(
    "select",
    {},
    options.map(([key, text]) => h("option", { value: key, selected: key === String(value ?? "") }, text)),
  );
  if (onchange) control.addEventListener("change", () => onchange(control.value));
  return control;
}

export function words(name) {
  const text = name.replaceAll("_", " ");
  return text[0].toUpperCase() + text.slice(1);
}

function written(parameter, value) {
  const numeric = parameter.types.some((type) => type === "integer" || type === "number");
  return h("input", {
    type: "text",
    inputMode: numeric && !parameter.choices ? "decimal" : "text",
    autocomplete: "off",
    placeholder: shown(parameter.default) || (numeric || !parameter.types.includes("string") ? "by itself" : "none"),
    value: shown(value),
  });
}

function shown(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// What was typed, as JSON has it; what makes no sense is sent as it is, for the API to say so.
function read(text, parameter) {
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

function setError(control, place, sentence) {
  place.textContent = sentence ?? "";
  place.hidden = !sentence;
  if (sentence) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
}
