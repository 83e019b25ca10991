// Shows the API's error messages beside the fields that they are about.

// Returns the messages to show above the form: those that belong to no field, and a pointer to the marked fields.
export function showErrors(error, fields) {
  for (const field of fields) field.showError(null);
  const messages = [];
  const marked = [];
  for (const { field: name, message } of error.errors ?? []) {
    const field = fieldOf(name, fields);
    if (!field) messages.push(message);
    else if (!marked.includes(field)) {
      field.showError(message);
      marked.push(field);
    }
  }
  if (marked.length) {
    reveal(marked[0]);
    messages.push(marked.length === 1 ? "Correct the marked field." : `Correct the ${marked.length} marked fields.`);
  }
  return messages.length ? messages : [error.detail ?? error.message];
}

// The field called "kernel.sigma", or else the field called "kernel".
function fieldOf(name, fields) {
  const parts = name.split(".");
  for (let length = parts.length; length > 0; length -= 1) {
    const found = fields.find((field) => field.name === parts.slice(0, length).join("."));
    if (found) return found;
  }
  return null;
}

function reveal(field) {
  field.element.closest("details")?.setAttribute("open", "");
  field.element.scrollIntoView({ block: "center" });
  field.control.focus({ preventScroll: true });
}
