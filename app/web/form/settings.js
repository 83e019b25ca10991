// The form of a job: what it is for, the few settings that matter, and all others folded away.

import { h, replace } from "../dom.js";
import { field, parameterField, select } from "./fields.js";
import { kernelFields } from "./kernel.js";
import { isClasses, reasons, USUAL_CLUSTERS } from "./proposal.js";
import { parametersOf } from "./spec.js";

const PURPOSES = {
  supervised: ["Explain a column", "What tells known classes apart, or goes with measured values."],
  unsupervised: ["Find groups", "Clusters, and the view that shows them best."],
  semi_supervised: ["Find groups with guidance", "Clusters that agree with scores or labels of some rows."],
  alternative: ["Find other groups", "Clusters that a grouping you know does not show."],
};
const FRONT = {
  supervised: ["target"],
  unsupervised: ["clusters"],
  semi_supervised: ["clusters", "scores"],
  alternative: ["clusters", "clustering"],
};
const ELSEWHERE = new Set(["dataset", "kernel", "q", "features", "metadata"]); // have a place of their own
const LABELS = {
  target: "Column to explain",
  clusters: "Groups",
  scores: "Guiding column",
  clustering: "Known groups",
  reference: "Compare with",
  q: "New axes (q)",
  features_per_axis: "Features in each axis",
  resamples: "Resamples, for error bars",
  missing: "Empty cells",
  categorical: "Text features",
};

export function jobForm(state, dataset, catalogue, changed) {
  const settings = h("div", { class: "fields" });
  const folded = h("div", { class: "fields" });
  let fields = () => [];

  function draw() {
    const lines = reasons(state, dataset);
    const parameters = parametersOf(state.paradigm, catalogue);
    const asked = FRONT[state.paradigm];
    const front = [...asked, "q", ...needed(state, dataset)];
    const ahead = front.map((name) => parameters.find((one) => one.name === name)).filter(Boolean);
    const behind = parameters.filter((one) => !front.includes(one.name) && !ELSEWHERE.has(one.name));
    const kernel = kernelFields(state, catalogue.kernels, changed, () => {
      draw();
      focus("kernel");
    });
    const main = ahead.map((one) => make(one, lines));
    const rest = behind.map((one) => make(one, lines));
    const picture = imageField(state, changed);
    fields = () => [...main, ...kernel.fields, ...rest, picture];
    const [first, then] = [main.slice(0, asked.length), main.slice(asked.length)];
    replace(
      settings,
      first.map((one) => one.element),
      kernel.choice,
      then.map((one) => one.element),
    );
    replace(
      folded,
      kernel.parameters,
      rest.map((one) => one.element),
      picture.element,
    );
    changed();
  }

  function make(parameter, lines) {
    const { name } = parameter;
    const set = (value) => {
      state.values[name] = value === "" ? undefined : value;
    };
    if (COLUMNS[name]) {
      const control = select(columnOptions(name, state, dataset), state.values[name] ?? "", (value) => {
        set(value);
        refit(state, name, dataset);
        draw();
        focus(name);
      });
      return field(name, LABELS[name], control, lines[name]);
    }
    if (name === "clusters") {
      const control = h("input", {
        type: "number",
        min: 1,
        value: state.values[name] ?? "",
        oninput: () => {
          set(control.value === "" ? undefined : Number(control.value));
          changed();
        },
      });
      return field(name, LABELS[name], control, lines[name]);
    }
    const made = parameterField(parameter, state.values[name], (value) => {
      set(value);
      changed();
    });
    if (name === "q") made.hint(lines.q);
    if (CHOSEN.has(name))
      unset(made.control, state.kernel.name === "auto" ? "chosen" : parameter.name === "q" ? "2" : "standard");
    if (LABELS[name]) made.element.querySelector("label").textContent = LABELS[name];
    return made;
  }

  function focus(name) {
    fields()
      .find((one) => one.name === name)
      ?.control.focus();
  }

  const element = h(
    "div",
    {},
    purposes(state, catalogue, draw),
    settings,
    h("details", { class: "advanced" }, h("summary", {}, "Advanced settings"), folded),
  );
  draw();
  return { element, fields: () => fields() };
}

// What stands in a field that is left alone: the kernel "auto" chooses these too.
const CHOSEN = new Set(["q", "scale"]);

function unset(control, word) {
  if (control.tagName === "SELECT") control.querySelector('option[value=""]').textContent = word;
  else control.placeholder = word;
}

const COLUMNS = { target: true, scores: true, clustering: true, reference: true };

function purposes(state, catalogue, draw) {
  return h(
    "fieldset",
    { class: "purposes", "data-field": "paradigm" },
    h("legend", {}, "What do you want to see?"),
    catalogue.paradigms.map(({ name, title, description }) => {
      const [label, line] = PURPOSES[name] ?? [title, description];
      const radio = h("input", {
        type: "radio",
        name: "paradigm",
        value: name,
        checked: state.paradigm === name,
        onchange: () => {
          state.paradigm = name;
          state.values.mu = undefined; // another default
          state.values.clusters ??= USUAL_CLUSTERS;
          draw();
        },
      });
      return h(
        "label",
        { class: "purpose" },
        radio,
        h("span", {}, h("strong", {}, label), h("span", { class: "hint" }, line)),
      );
    }),
  );
}

function columnOptions(name, state, dataset) {
  const classesOnly = name === "clustering" || name === "reference";
  const usable = dataset.columns.filter(
    (column) => !column.constant && (!classesOnly || isClasses(column, dataset) || state.values[name] === column.name),
  );
  const none = name === "reference" ? "nothing" : "choose a column";
  const several = Array.isArray(state.values[name])
    ? [[String(state.values[name]), state.values[name].join(", ")]]
    : [];
  return [["", none], ...several, ...usable.map((column) => [column.name, column.name])];
}

// A column that is no longer the target is a feature again, unless it would not have been one.
function refit(state, name, dataset) {
  const chosen = dataset.columns.find((column) => column.name === state.values[name]);
  if (name === "target" && chosen?.missing) state.values.missing = "drop";
  if (name === "target") state.values.target_kind = undefined;
}

// Settings that are folded away unless this table needs them.
function needed(state, dataset) {
  const used = dataset.columns.filter((column) => state.features.has(column.name));
  const names = [];
  if (state.values.missing || used.some((column) => column.missing)) names.push("missing");
  if (state.values.categorical || used.some((column) => column.kind === "text" && column.name !== state.values.target))
    names.push("categorical");
  return names;
}

function imageField(state, changed) {
  const control = h("input", {
    type: "text",
    placeholder: "such as 30x32",
    autocomplete: "off",
    value: state.values.image ?? "",
    oninput: () => {
      state.values.image = control.value.trim() || undefined;
      changed();
    },
  });
  return field(
    "metadata",
    "Image size",
    control,
    "Where the features are the pixels of an image, row by row: its height and width, to see the axes as pictures. Square images are recognized.",
  );
}
