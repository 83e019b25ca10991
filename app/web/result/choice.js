// The settings that were chosen from the data: the candidates with their scores, and a button to run with the choice.

import { run } from "../api.js";
import { actionButton, copyButton, h } from "../dom.js";
import { counted, expandable, number, percent, table } from "../format.js";
import { settingLine } from "../jobs/labels.js";

const SHOWN_AT_FIRST = 8; // candidates
const CRITERIA = {
  accuracy: [
    "Accuracy",
    "The score is the mean cross-validated accuracy of an SVM and of 5 nearest neighbors on the new axes",
  ],
  r2: ["R²", "The score is the cross-validated share of the target's variance that the new axes explain"],
  consensus: [
    "Agreement",
    "The score is the agreement of the clusters with those of all other candidates (NMI, at most 1)",
  ],
};
const CORRECTED =
  "The best of many scores is slightly too optimistic. The score under “Quality of the result” is not: " +
  "it is corrected for the choice of the best candidate, or comes from folds that chose their own settings.";

export function choiceSection({ result, dataset }) {
  const { choice } = result;
  if (!choice) return "";
  const ranked = [...choice.candidates].sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity));
  const shown = ranked.filter(({ chosen }, index) => index < SHOWN_AT_FIRST || chosen);
  const all = () => candidateTable(ranked, choice, "All candidates, the best first");
  return h(
    "section",
    { class: "chosen" },
    h("h2", {}, "Chosen settings"),
    h("p", {}, h("strong", {}, settingLine(choice.spec)), ". ", choice.reason),
    h(
      "div",
      { class: "card" },
      candidateTable(shown, choice, "Candidates, the best first"),
      ranked.length > shown.length ? expandable(`All ${ranked.length} candidates`, all) : null,
      h("p", { class: "hint" }, explanation(choice)),
      dataset ? rerun(choice.spec) : null,
    ),
  );
}

function explanation({ criterion, rows, seconds, candidates }) {
  if (!rows) return "";
  const meaning = CRITERIA[criterion] ? [`${CRITERIA[criterion][1]}. The number after ± is its standard error.`] : [];
  const fits = criterion === "consensus" ? "" : ", each with a fit per fold as long as it kept up with the best,";
  const effort = `${counted(candidates.length, "candidate was", "candidates were")} tried on ${counted(rows, "row")}${fits} in ${number(seconds, 2)} s.`;
  return [...meaning, effort, ...(criterion === "consensus" ? [] : [CORRECTED])].join(" ");
}

function candidateTable(candidates, { criterion }, caption) {
  return table(
    ["Settings", { number: CRITERIA[criterion]?.[0] ?? criterion }, { number: "Time" }],
    candidates.map((candidate) => [
      candidate.chosen
        ? [settingLine(candidate), " ", h("span", { class: "badge succeeded" }, "chosen")]
        : settingLine(candidate),
      scoreText(candidate, criterion),
      `${number(candidate.seconds, 2)} s`,
    ]),
    caption,
  );
}

function scoreText({ score, error }, criterion) {
  if (score === null) return "–";
  const written = criterion === "accuracy" ? percent : (value) => value.toFixed(3);
  return `${written(score)}${error === null ? "" : ` ± ${written(error)}`}`;
}

// Posts the job again with the chosen settings as numbers, so that it chooses nothing and is fast.
function rerun(spec) {
  const { button, problem } = actionButton("Run again with exactly these settings", () => run(spec));
  const copy = copyButton(JSON.stringify(spec, null, 2), "Copy as JSON");
  return h("div", {}, h("div", { class: "row" }, button, copy), problem);
}
