// The form as JSON and as commands, to copy.

import { address } from "../api.js";
import { copyButton } from "../copy.js";
import { h } from "../dom.js";
import { key } from "../key.js";

export function recipe() {
  const json = h("pre", { tabIndex: 0, "aria-label": "The job as JSON" });
  const curl = h("pre", { tabIndex: 0, "aria-label": "The job as a curl command" });
  const element = h(
    "details",
    { class: "card recipe" },
    h("summary", {}, "The same as JSON and curl"),
    h(
      "div",
      { class: "row spread" },
      h("h3", {}, "JSON"),
      copyButton(() => json.textContent, "Copy JSON"),
    ),
    json,
    h(
      "div",
      { class: "row spread" },
      h("h3", {}, "curl"),
      copyButton(() => curl.textContent, "Copy curl"),
    ),
    curl,
  );
  return {
    element,
    show: (spec) => {
      json.textContent = JSON.stringify(spec, null, 2);
      curl.textContent = command(spec);
    },
  };
}

function command(spec) {
  const parts = [`curl ${quoted(address("/jobs"))}`, "-H 'Content-Type: application/json'"];
  if (key() !== null) parts.push('-H "Authorization: Bearer $ISM_API_KEY"');
  parts.push(`-d ${quoted(JSON.stringify(spec))}`);
  return parts.join(" \\\n  ");
}

// As one word of a POSIX shell, whatever is in it.
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
