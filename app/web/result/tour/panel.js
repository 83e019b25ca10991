// The panel below the plot during a tour: the quick score, the candidates to turn to, and the features to take out.

import { errorLine, h, replace } from "../../dom.js";
import { percent, signed, table } from "../../format.js";
import { settingLine } from "../../jobs/labels.js";
import { ranking } from "../data.js";

const NAMED = 3; // features of a candidate

// {element, show(left, best), report(now, best), mark(stop), hide()}: `left` has {index, name, score} for each feature
// that can be taken out, `now` and `best` are quick scores, and `stop` is the place of a candidate, or null.
export function tourPanel({ result }, stops, { onBack, onStop, onPlay, onWithout }) {
  const status = h("p", { class: "tour-score", role: "status" });
  const problem = errorLine();
  const buttons = stops.map((stop, place) =>
    h("button", { type: "button", class: "small quiet", onclick: () => run(() => onStop(place)) }, settingLine(stop)),
  );
  const left = h("div", {});
  const element = h(
    "div",
    { class: "tour", hidden: true },
    h(
      "div",
      { class: "row" },
      status,
      h("button", { type: "button", class: "small", onclick: () => run(onBack) }, "Back to the optimum"),
    ),
    h("p", { class: "hint" }, "Drag the tip of an arrow to change the weight of its feature."),
    problem.element,
    h("div", { class: "grid" }, left, stops.length ? candidates() : null),
  );

  async function run(action) {
    problem.hide();
    try {
      await action();
    } catch (error) {
      problem.show(error);
    }
  }

  function candidates() {
    const leaders = ({ W }) =>
      ranking(W.map((weights) => Math.hypot(...weights)))
        .slice(0, NAMED)
        .map((feature) => result.features[feature])
        .join(", ");
    const rows = stops.map((stop, place) => [buttons[place], stop.score.toFixed(3), leaders(stop)]);
    return h(
      "div",
      {},
      h(
        "div",
        { class: "row spread" },
        h("h3", {}, "Other candidates"),
        h("button", { type: "button", class: "small", onclick: () => run(onPlay) }, "Visit them all"),
      ),
      h(
        "p",
        { class: "hint" },
        "The best candidates of the choice whose axes differ, with their scores. What they also show does not depend on the settings. They learned from a part of the rows.",
      ),
      table(["Turn to", { number: "Score" }, "Largest weights"], rows, "Other candidates"),
    );
  }

  function withoutEach(features, best) {
    const button = ({ index, name }) =>
      h("button", { type: "button", class: "small quiet", onclick: () => run(() => onWithout(index)) }, name);
    const rows = [...features]
      .sort((a, b) => a.score - b.score)
      .map((each) => [button(each), signed(each.score - best.score, 3), each.score.toFixed(3)]);
    return [
      h("h3", {}, "Without one feature"),
      h(
        "p",
        { class: "hint" },
        `Its arrow shrinks to zero and the other weights stay. ${best.note} A small change means that the other features show the same.`,
      ),
      table(["Leave out", { number: "Change" }, { number: best.measure }], rows, "Without one feature"),
    ];
  }

  return {
    element,
    show(features, best) {
      element.hidden = false;
      replace(left, best.score === null ? null : withoutEach(features, best));
    },
    report({ objective, score, measure }, best) {
      const parts = [];
      if (objective !== null && best.objective) parts.push(`J: ${percent(objective / best.objective)} of the optimum`);
      if (score !== null) parts.push(`${measure}: ${score.toFixed(3)} (optimum ${best.score.toFixed(3)})`);
      status.textContent = parts.join(" · ");
    },
    mark(stop) {
      for (const [place, button] of buttons.entries()) button.setAttribute("aria-pressed", String(place === stop));
    },
    hide() {
      element.hidden = true;
    },
  };
}
