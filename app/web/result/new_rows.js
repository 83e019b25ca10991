// New rows dropped on a finished job: they land among the old ones.

import { save, upload } from "../api.js";
import { announce, h, replace } from "../dom.js";
import { dropZone } from "../upload/drop_zone.js";
import { embedding } from "./data.js";
import { counted } from "./format.js";

export function transformSection({ job }, picture, signal) {
  const outcome = h("div", { "aria-live": "polite" });
  const zone = dropZone(
    "Drop new rows here",
    "A table with the same columns, in any order. They are projected on the same axes and shown among the old rows.",
    async (file) => {
      zone.progress(1, `Projecting ${file.name} …`);
      try {
        const found = await upload(`/jobs/${job.id}/transform?format=json`, file, { signal });
        replace(outcome, landed(found, file.name, job));
        await picture.addRows(embedding(found).axes);
        announce(`${counted(found.rows.length, "new row")} in the picture.`);
        picture.element.scrollIntoView({ behavior: "smooth", block: "start" });
      } catch (error) {
        if (signal.aborted) return;
        replace(outcome, problem(error));
      }
    },
  );
  return h("section", {}, h("h2", {}, "New rows"), zone.element, outcome);
}

function landed({ columns, rows, notes }, name, job) {
  const csv = () =>
    save(
      new Blob([[columns.join(","), ...rows.map((row) => row.join(","))].join("\r\n")], { type: "text/csv" }),
      `transformed-${job.id}.csv`,
    );
  return h(
    "div",
    { class: "card" },
    h(
      "div",
      { class: "row spread" },
      h(
        "p",
        {},
        h("strong", {}, `${counted(rows.length, "row")} of ${name}`),
        " are in the picture, as dark diamonds.",
      ),
      h("button", { type: "button", class: "small", onclick: csv }, "Their axes as CSV"),
    ),
    notes.length
      ? h(
          "ul",
          { class: "hint" },
          notes.map((note) => h("li", {}, note)),
        )
      : null,
  );
}

function problem(error) {
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("h3", {}, error.title ?? "This did not work"),
    h("p", {}, error.detail ?? error.message),
    error.errors?.length
      ? h(
          "ul",
          {},
          error.errors.slice(0, 10).map(({ field, message }) => h("li", {}, `${field} ${message}`)),
        )
      : null,
  );
}
