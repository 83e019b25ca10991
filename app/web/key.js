// The API key: asks the user for it if the service needs one, and stores it for this browser tab only.

import { h } from "./dom.js";

const STORAGE_NAME = "ism-key";
let openDialog = null; // a promise; all calls that wait for a key share one dialog

export function key() {
  return sessionStorage.getItem(STORAGE_NAME);
}

// Resolves to whether the user gave a key. `reason` is the API's message.
export function askForKey(reason) {
  openDialog ??= showDialog(reason).finally(() => {
    openDialog = null;
  });
  return openDialog;
}

export function showForgetButton() {
  const button = document.getElementById("key");
  button.hidden = key() === null;
  button.onclick = () => {
    sessionStorage.removeItem(STORAGE_NAME);
    location.reload();
  };
}

function showDialog(reason) {
  return new Promise((resolve) => {
    const input = h("input", {
      type: "password",
      id: "key-input",
      autocomplete: "off",
      required: true,
      "aria-describedby": "key-reason",
    });
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", {}, "Enter an API key"),
      h("p", { id: "key-reason" }, reason),
      h("label", { htmlFor: "key-input" }, "API key"),
      input,
      h("p", { class: "hint" }, "The key is stored in this browser tab only. Closing the tab deletes it."),
      h(
        "div",
        { class: "row" },
        h("button", { class: "primary", value: "ok" }, "Continue"),
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close("") }, "Cancel"),
      ),
    );
    const dialog = h("dialog", { class: "card", "aria-label": "API key" }, form);
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "ok" ? input.value.trim() : "";
      if (given) sessionStorage.setItem(STORAGE_NAME, given);
      showForgetButton();
      dialog.remove();
      resolve(Boolean(given));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
