// The steps of a job as events tell them, kept as the traces that are drawn.

export function traces() {
  let stage = null;
  let steps = [];
  return {
    // Of the ascent where there is one already, of the search before. A job that lost its worker goes back a few steps.
    add(step) {
      if (stage === "ascent" && step.stage !== "ascent") return;
      if (step.stage !== stage) steps = [];
      stage = step.stage;
      if (stage === "ascent") {
        let keep = steps.length;
        while (keep > 0 && steps[keep - 1].iteration >= step.iteration) keep -= 1;
        steps.length = keep;
      }
      steps.push(step);
    },
    get last() {
      return steps.at(-1);
    },
    get iterations() {
      return steps.map((step, place) => (stage === "ascent" ? step.iteration : place));
    },
    get objectives() {
      return steps.map((step) => step.objective);
    },
    get eigenvalues() {
      const axes = steps.at(-1)?.eigenvalues?.length ?? 0;
      return Array.from({ length: axes }, (_, axis) => steps.map((step) => step.eigenvalues?.[axis]));
    },
  };
}
