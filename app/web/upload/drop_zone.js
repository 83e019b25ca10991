// A drop zone for a file. A click or the keyboard opens the file dialog instead.

import { h } from "../dom.js";

const EXTENSIONS =
  ".csv,.tsv,.tab,.txt,.json,.jsonl,.ndjson,.xlsx,.parquet,.feather,.arrow,.dta,.sav,.zsav,.npy,.npz,.gz,.zip";

// Calls `handle(file)`. Until its promise settles, the zone takes no other file.
export function dropZone(title, hint, handle) {
  const input = h("input", {
    type: "file",
    accept: EXTENSIONS,
    class: "visually-hidden",
    onchange: () => take(input.files),
  });
  const line = h("p", { class: "hint" }, hint);
  const bar = h("progress", { max: 1, hidden: true, "aria-label": "Upload" });
  const zone = h("label", { class: "drop" }, input, h("span", { class: "drop-title" }, title), line, bar);

  async function take(files) {
    if (!files.length || zone.classList.contains("busy")) return;
    zone.classList.add("busy");
    try {
      await handle(files[0]);
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
    take(event.dataTransfer.files);
  });
  return {
    element: zone,
    showProgress(share, text) {
      bar.hidden = false;
      if (share < 1) bar.value = share;
      else bar.removeAttribute("value"); // the service does not report how much of the file it has read
      line.textContent = text;
    },
  };
}
