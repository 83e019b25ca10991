// The API key: asked for when the service wants one, kept for this tab only.

import { h } from "./dom.js";

const NAME = "ism-key";
let asking = null; // one dialog for all calls that wait for a key

export function key() {
  return sessionStorage.getItem(NAME);
}

export function forget() {
  sessionStorage.removeItem(NAME);
  showButton();
}

// Whether there is a key now; false when the person closed the dialog. `why` is the API's sentence.
export function ask(why) {
  asking ??= dialog(why).finally(() => {
    asking = null;
  });
  return asking;
}

export function showButton() {
  const button = document.getElementById("key");
  button.hidden = key() === null;
  button.onclick = () => {
    forget();
    location.reload();
  };
}

function dialog(why) {
  return new Promise((resolve) => {
    const input = h("input", {
      type: "password",
      id: "key-input",
      autocomplete: "off",
      required: true,
      "aria-describedby": "key-why",
    });
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", {}, "An API key, please"),
      h("p", { id: "key-why" }, why),
      h("label", { htmlFor: "key-input" }, "API key"),
      input,
      h("p", { class: "hint" }, "It is kept in this tab only and forgotten when you close it."),
      h(
        "div",
        { class: "row" },
        h("button", { class: "primary", value: "ok" }, "Continue"),
        h("button", { type: "button", class: "quiet", onclick: () => box.close("") }, "Cancel"),
      ),
    );
    const box = h("dialog", { class: "card", "aria-label": "API key" }, form);
    box.addEventListener("close", () => {
      const given = box.returnValue === "ok" ? input.value.trim() : "";
      if (given) sessionStorage.setItem(NAME, given);
      showButton();
      box.remove();
      resolve(Boolean(given));
    });
    document.body.append(box);
    box.showModal();
  });
}
