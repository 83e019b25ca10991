// Shows the job that the form describes as JSON and as a curl command, both to copy.

import { absoluteUrl } from "../api.js";
import { copyButton, h } from "../dom.js";
import { key } from "../key.js";

export function commands() {
  const json = h("pre", { tabIndex: 0, "aria-label": "The job as JSON" });
  const curl = h("pre", { tabIndex: 0, "aria-label": "The job as a curl command" });
  const block = (title, text) => [
    h(
      "div",
      { class: "row spread" },
      h("h3", {}, title),
      copyButton(() => text.textContent, `Copy ${title}`),
    ),
    text,
  ];
  const element = h(
    "details",
    { class: "card commands" },
    h("summary", {}, "This job as JSON and as a curl command"),
    block("JSON", json),
    block("curl", curl),
  );
  return {
    element,
    show(spec) {
      json.textContent = JSON.stringify(spec, null, 2);
      curl.textContent = curlCommand(spec);
    },
  };
}

function curlCommand(spec) {
  const parts = [`curl ${shellQuoted(absoluteUrl("/jobs"))}`, "-H 'Content-Type: application/json'"];
  if (key() !== null) parts.push('-H "Authorization: Bearer $ISM_API_KEY"');
  parts.push(`-d ${shellQuoted(JSON.stringify(spec))}`);
  return parts.join(" \\\n  ");
}

// Any text as one word of a POSIX shell.
function shellQuoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
