// Puts the API's sentences beside the fields they belong to.

// Gives the sentences that belong to no field, or one that sends the eye to the fields.
export function showErrors(error, fields) {
  for (const field of fields) field.error(null);
  const rest = [];
  const wrong = [];
  for (const { field: name, message } of error.errors ?? []) {
    const found = owner(name, fields);
    if (!found) rest.push(message);
    else if (!wrong.includes(found)) {
      found.error(message);
      wrong.push(found);
    }
  }
  if (wrong.length) reveal(wrong[0]);
  if (!wrong.length && !rest.length) rest.push(error.detail ?? error.message);
  if (wrong.length)
    rest.push(wrong.length === 1 ? "See the field that is marked." : `See the ${wrong.length} fields that are marked.`);
  return rest;
}

// "kernel.sigma" belongs to the field of that name, or else to "kernel".
function owner(name, fields) {
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
