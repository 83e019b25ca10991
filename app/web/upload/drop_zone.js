// A place to drop a file on, or to choose one; also used with the keyboard.

import { h } from "../dom.js";

export const FORMATS = ".csv,.tsv,.txt,.parquet,.npy,.npz,.json,.jsonl,.ndjson,.gz";

// `take(file)` is called with the file; what it returns is waited for, and the place is busy meanwhile.
export function dropZone(title, hint, take) {
  const input = h("input", {
    type: "file",
    accept: FORMATS,
    class: "visually-hidden",
    onchange: () => give(input.files),
  });
  const line = h("p", { class: "hint" }, hint);
  const bar = h("progress", { max: 1, hidden: true, "aria-label": "Upload" });
  const zone = h("label", { class: "drop" }, input, h("span", { class: "drop-title" }, title), line, bar);

  async function give(files) {
    if (!files.length || zone.classList.contains("busy")) return;
    zone.classList.add("busy");
    try {
      await take(files[0]);
    } finally {
      zone.classList.remove("busy");
      bar.hidden = true;
      line.textContent = hint;
      input.value = "";
    }
  }

  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    give(event.dataTransfer.files);
  });
  return {
    element: zone,
    progress: (sent, text) => {
      bar.hidden = false;
      if (sent < 1) bar.value = sent;
      else bar.removeAttribute("value"); // the service reads it, and does not say how far it is
      line.textContent = text;
    },
  };
}
