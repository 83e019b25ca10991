// Text to take along: shown, with a button that copies it.

import { announce, h } from "./dom.js";

export function copyButton(text, label = "Copy") {
  const button = h(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: async () => {
        const copied = await copy(typeof text === "function" ? text() : text);
        button.textContent = copied ? "Copied" : "Press Ctrl+C";
        announce(button.textContent);
        setTimeout(() => {
          button.textContent = label;
        }, 2_000);
      },
    },
    label,
  );
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text); // there only on https and localhost
    return true;
  } catch {
    const area = h("textarea", { value: text, class: "visually-hidden" });
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
