// What was chosen, from what and why: the candidates in a table, and the settings to pin.

import { post } from "../api.js";
import { copyButton } from "../copy.js";
import { h } from "../dom.js";
import { settingLine } from "../jobs/labels.js";
import { counted, folded, number, table } from "./format.js";

const FIRST = 8; // candidates that are shown at once
const CRITERIA = {
  accuracy: "Accuracy",
  r2: "R²",
  consensus: "Agreement",
};
const MEANING = {
  accuracy:
    "Accuracy of simple classifiers on the new axes, in folds that the axes were not learnt from, ± its standard error.",
  r2: "Share of the target's variation that the new axes explain, in folds that they were not learnt from, ± its standard error.",
  consensus: "How far the clusters agree with those of all other candidates (NMI, at most 1), ± its standard error.",
};
const NESTED =
  "The best of many scores flatters itself a little. The figure under “How good it is” does not: there, every fold makes the choice anew, from its own rows.";

export function choiceSection({ result, dataset }) {
  const { choice } = result;
  if (!choice) return "";
  const ranked = [...choice.candidates].sort((one, other) => (other.score ?? -Infinity) - (one.score ?? -Infinity));
  const taken = ranked.findIndex(({ chosen }) => chosen);
  const kept = ranked.filter((_, place) => place < FIRST || place === taken);
  const nested = choice.criterion !== "consensus" && choice.rows > 0;
  return h(
    "section",
    { class: "chosen" },
    h("h2", {}, "What was chosen"),
    h("p", {}, h("strong", {}, settingLine(choice.spec)), ". ", choice.reason),
    h(
      "div",
      { class: "card" },
      candidates(kept, choice, "Candidates, the best first"),
      ranked.length > kept.length
        ? folded(`All ${ranked.length} candidates`, () => candidates(ranked, choice, "All candidates, the best first"))
        : null,
      h("p", { class: "hint" }, tried(choice), nested ? ` ${NESTED}` : ""),
      dataset ? pinned(choice.spec) : null,
    ),
  );
}

function tried({ criterion, rows, seconds, candidates: all }) {
  if (!rows) return "";
  return `${MEANING[criterion] ?? ""} ${counted(all.length, "setting was", "settings were")} tried on ${counted(rows, "row")}, in ${number(seconds, 2)} s.`;
}

function candidates(rows, { criterion }, caption) {
  return table(
    ["Setting", { number: CRITERIA[criterion] ?? criterion }, { number: "Time" }],
    rows.map((each) => [
      each.chosen ? [settingLine(each), " ", h("span", { class: "badge succeeded" }, "chosen")] : settingLine(each),
      score(each),
      `${number(each.seconds, 2)} s`,
    ]),
    caption,
  );
}

function score({ score: found, error }) {
  if (found === null) return "–";
  return `${found.toFixed(3)}${error === null ? "" : ` ± ${error.toFixed(3)}`}`;
}

// The same job with numbers in place of what was open: it chooses nothing, so it is fast and stays as it is.
function pinned(spec) {
  const problem = h("p", { class: "error", role: "alert", hidden: true });
  const button = h(
    "button",
    {
      type: "button",
      onclick: async () => {
        button.disabled = true;
        problem.hidden = true;
        try {
          const { id } = await post("/jobs", spec);
          location.hash = `#/jobs/${id}`;
        } catch (error) {
          problem.textContent = error.detail ?? error.message;
          problem.hidden = false;
          button.disabled = false;
        }
      },
    },
    "Run with these settings pinned",
  );
  return h(
    "div",
    {},
    h("div", { class: "row" }, button, copyButton(JSON.stringify(spec, null, 2), "Copy as JSON")),
    problem,
  );
}
