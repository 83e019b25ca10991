// The choice of a kernel, and the parameters of the one that is chosen.

import { h, replace } from "../dom.js";
import { field, parameterField, select } from "./fields.js";

// {choice, parameters, fields}: elements, and the fields for errors; the parameters are drawn anew with each choice.
export function kernelFields(state, kernels, changed) {
  const fields = [];
  const parameters = h("div", { class: "fields" });
  const control = select(kernels.map((kernel) => [kernel.name, kernel.title]), state.kernel.name, (name) => {
    state.kernel = { name };
    draw();
    changed();
  });
  const choice = field("kernel", "Kernel", control);

  function draw() {
    const kernel = kernels.find((one) => one.name === state.kernel.name);
    choice.hint(kernel.description);
    const made = kernel.parameters.map((parameter) => {
      const combination = kernel.form === "combination";
      if (combination) state.kernel[parameter.name] ??= kernel.example[parameter.name];
      return parameterField(parameter, state.kernel[parameter.name], (value) => {
        if (value === undefined) delete state.kernel[parameter.name];
        else state.kernel[parameter.name] = value;
        changed();
      }, "kernel.");
    });
    fields.splice(0, fields.length, choice, ...made);
    replace(parameters, made.length ? h("h3", {}, `${kernel.title}: ${kernel.formula}`) : null, made.map((one) => one.element));
  }

  draw();
  return { choice: choice.element, parameters, fields };
}
