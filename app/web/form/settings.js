// The settings of a job: the paradigm, the kernel and the settings that matter most, and all others in a folded part.
// Kernels, paradigms and their parameters come from the API's catalogue.

import { h, replace } from "../dom.js";
import { field, parameterField, select } from "./fields.js";
import { DEFAULT_CLUSTERS, hints, isClassColumn } from "./proposal.js";
import { COLUMN_PARAMETERS, parametersOf } from "./spec.js";
import { HINTS, LABELS, OPTIONS } from "./words.js";

// Plain words for the paradigms of the catalogue. A paradigm that is not listed has its title and description there.
const PURPOSES = {
  supervised: ["Explain a column", "Finds axes that separate known classes or predict measured values."],
  unsupervised: ["Find clusters", "Finds clusters of similar rows, and the axes that separate them best."],
  semi_supervised: ["Find clusters with guidance", "Finds clusters that agree with scores or labels of some rows."],
  alternative: ["Find other clusters", "Finds clusters that differ from a clustering you already know."],
};
// Not fields of the folded part. Pairs of rows are for programs; here scores guide the clusters.
const ELSEWHERE = new Set(["dataset", "kernel", "features", "metadata", "notify", "must_link", "cannot_link"]);
// With the kernel "auto" these are chosen from the data unless they are given; else they have these defaults.
const DEFAULTS_OF_AUTO = { q: "2", scale: "standard" };
const BETA = {
  product: "β is the inner product of two rows in the new axes.",
  difference: "β is the squared distance between two rows in the new axes.",
};

// {element, fields()}: the form for `state`, which it changes. `onChange()` is called after every change.
export function settingsForm(state, dataset, catalogue, onChange) {
  const shown = h("div", { class: "fields" });
  const folded = h("div", { class: "fields" });
  let fields = [];

  function draw() {
    const texts = hints(state, dataset);
    const parameters = parametersOf(state.paradigm, catalogue);
    const required = parameters.filter(
      (one) =>
        (one.required || (one.name === "scores" && !state.values.must_link && !state.values.cannot_link)) &&
        !ELSEWHERE.has(one.name),
    );
    const frequent = ["q", ...neededByTable(state, dataset)]
      .map((name) => parameters.find((one) => one.name === name))
      .filter(Boolean);
    const others = parameters.filter(
      (one) => !required.includes(one) && !frequent.includes(one) && !ELSEWHERE.has(one.name),
    );
    const make = (list) => list.map((one) => makeField(one, texts[one.name] ?? HINTS[one.name]));
    const kernel = kernelFields(state, catalogue.kernels, onChange, () => redraw("kernel"));
    const [first, second, last] = [make(required), make(frequent), make(others)];
    const image = imageField(state, onChange);
    fields = [...first, ...kernel.fields, ...second, ...last, image];
    const elements = (list) => list.map(({ element }) => element);
    replace(shown, elements(first), kernel.choice, elements(second));
    replace(folded, kernel.parameters, elements(last), image.element);
    onChange();
  }

  function redraw(focused) {
    draw();
    fields.find(({ name }) => name === focused)?.control.focus();
  }

  // The column that was the target is a feature again, and the new one is none, also if the job then finds clusters.
  function changeTarget(name) {
    const { values, features, withheld } = state;
    if (withheld) features.add(withheld);
    state.withheld = features.has(name) ? name : null;
    features.delete(name);
    values.target = name || undefined;
    values.target_kind = undefined; // it belonged to the other target
  }

  function makeField(parameter, text) {
    const { name } = parameter;
    const label = LABELS[name];
    const set = (value) => {
      state.values[name] = value === "" ? undefined : value;
    };
    if (COLUMN_PARAMETERS.includes(name)) {
      const control = select(columnOptions(name, state, dataset), state.values[name] ?? "", (value) => {
        if (name === "target") changeTarget(value);
        else set(value);
        redraw(name);
      });
      return field(name, label, control, text);
    }
    const change = (value) => {
      set(value);
      onChange();
    };
    const made = parameterField(parameter, state.values[name], change, { label, words: OPTIONS[name] });
    if (text) made.setHint(text);
    if (DEFAULTS_OF_AUTO[name])
      showDefault(made.control, state.kernel.name === "auto" ? "automatic" : DEFAULTS_OF_AUTO[name]);
    return made;
  }

  draw();
  return {
    element: h(
      "div",
      {},
      purposes(state, catalogue, draw),
      shown,
      h("details", { class: "advanced" }, h("summary", {}, "Advanced settings"), folded),
    ),
    fields: () => fields,
  };
}

function purposes(state, catalogue, draw) {
  const purpose = ({ name, title, description }) => {
    const [label, text] = PURPOSES[name] ?? [title, description];
    const choose = () => {
      state.paradigm = name;
      state.values.mu = undefined; // its default depends on the paradigm
      state.values.clusters ??= DEFAULT_CLUSTERS;
      draw();
    };
    const checked = state.paradigm === name;
    return h(
      "label",
      { class: "purpose" },
      h("input", { type: "radio", name: "paradigm", value: name, checked, onchange: choose }),
      h("span", {}, h("strong", {}, label), h("span", { class: "hint" }, text)),
    );
  };
  return h(
    "fieldset",
    { class: "purposes", "data-field": "paradigm" },
    h("legend", {}, "What do you want to do?"),
    catalogue.paradigms.map(purpose),
  );
}

// The choice of a kernel and the fields of its parameters: {choice, parameters, fields}. `onChoice()` must draw the form
// again, because another kernel has other parameters.
function kernelFields(state, kernels, onChange, onChoice) {
  const kernel = kernels.find(({ name }) => name === state.kernel.name);
  const options = kernels.map(({ name, title }) => [name, title]);
  const control = select(options, kernel.name, (name) => {
    state.kernel = { name };
    onChoice();
  });
  const choice = field("kernel", "Kernel", control, kernel.description);
  const fields = kernel.parameters.map((parameter) => {
    const { name } = parameter;
    if (kernel.form === "combination") state.kernel[name] ??= kernel.example[name];
    const change = (value) => {
      if (value === undefined) delete state.kernel[name];
      else state.kernel[name] = value;
      onChange();
    };
    return parameterField(parameter, state.kernel[name], change, { prefix: "kernel." });
  });
  const heading = [
    h("h3", {}, `${kernel.title} kernel: ${kernel.formula}`),
    BETA[kernel.form] ? h("p", { class: "hint" }, BETA[kernel.form]) : null,
  ];
  const elements = fields.map(({ element }) => element);
  const parameters = h("div", { class: "fields" }, fields.length ? heading : null, elements);
  return { choice: choice.element, parameters, fields: [choice, ...fields] };
}

function columnOptions(name, state, dataset) {
  const value = state.values[name];
  const needsClasses = name === "clustering" || name === "reference";
  const isUsable = (column) =>
    !column.constant && (!needsClasses || isClassColumn(column, dataset) || value === column.name);
  const several = Array.isArray(value) ? [[String(value), value.join(", ")]] : [];
  const columns = dataset.columns.filter(isUsable).map((column) => [column.name, column.name]);
  return [["", name === "reference" ? "none" : "choose a column"], ...several, ...columns];
}

// Settings that are in the folded part unless this table needs them.
function neededByTable(state, dataset) {
  const used = dataset.columns.filter(({ name }) => state.features.has(name) && name !== state.values.target);
  const names = [];
  if (used.some((column) => column.missing)) names.push("missing");
  if (used.some((column) => column.kind === "text" && !column.date_format)) names.push("categorical");
  if (used.some((column) => column.date_format)) names.push("dates");
  return names;
}

function showDefault(control, text) {
  if (control.tagName === "SELECT") control.querySelector('option[value=""]').textContent = text;
  else control.placeholder = text;
}

function imageField(state, onChange) {
  const control = h("input", {
    type: "text",
    placeholder: "such as 30x32",
    autocomplete: "off",
    value: state.values.image ?? "",
    oninput: () => {
      state.values.image = control.value.trim() || undefined;
      onChange();
    },
  });
  const text =
    "If the features are the pixels of an image, row by row, give its height and width. " +
    "The result then shows the axes as images. Square images are recognized automatically.";
  return field("metadata", "Image size", control, text);
}
