// The choice of a kernel, and the parameters of the one that is chosen.

import { h } from "../dom.js";
import { field, parameterField, select } from "./fields.js";

// {choice, parameters, fields}: elements, and the fields for errors. Another kernel is another form: `chosen` draws it.
export function kernelFields(state, kernels, changed, chosen) {
  const control = select(
    kernels.map((kernel) => [kernel.name, kernel.title]),
    state.kernel.name,
    (name) => {
      state.kernel = { name };
      chosen();
    },
  );
  const choice = field("kernel", "Kernel", control);

  const kernel = kernels.find((one) => one.name === state.kernel.name);
  choice.hint(kernel.description);
  const made = kernel.parameters.map((parameter) => {
    if (kernel.form === "combination") state.kernel[parameter.name] ??= kernel.example[parameter.name];
    return parameterField(
      parameter,
      state.kernel[parameter.name],
      (value) => {
        if (value === undefined) delete state.kernel[parameter.name];
        else state.kernel[parameter.name] = value;
        changed();
      },
      "kernel.",
    );
  });
  const parameters = h(
    "div",
    { class: "fields" },
    made.length ? h("h3", {}, `${kernel.title}: ${kernel.formula}`) : null,
    made.map((one) => one.element),
  );
  return { choice: choice.element, parameters, fields: [choice, ...made] };
}
