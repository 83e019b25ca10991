// Entry point: shows the view that the part of the address after # names.

import { Problem } from "./api.js";
import { h, messageOf, replace, setTitle } from "./dom.js";
import { showForgetButton } from "./key.js";

const ROUTES = [
  [/^#?\/?$/, "./upload/view.js", () => []],
  [/^#\/data\/([\w-]+)(?:\/([\w-]+))?$/, "./form/view.js", (match) => [match[1], match[2]]],
  [/^#\/jobs$/, "./jobs/view.js", () => []],
  [/^#\/jobs\/([\w-]+)$/, "./run/view.js", (match) => [match[1]]],
  [/^#\/compare\/([\w,-]+)$/, "./compare/view.js", (match) => [match[1].split(",")]],
];

let currentView = new AbortController(); // aborted when another view is shown

async function show() {
  currentView.abort();
  currentView = new AbortController();
  const { signal } = currentView;
  const container = h("div", { class: "view" });
  replace(document.getElementById("view"), container, h("p", { class: "lead loading" }, "Loading …"));
  setTitle("");
  markCurrentLink();
  try {
    const [module, parameters] = route();
    const view = await import(module);
    if (!signal.aborted) await view.show(container, ...parameters, { signal });
  } catch (error) {
    if (!signal.aborted) replace(container, errorCard(error));
  }
}

function route() {
  for (const [pattern, module, parameters] of ROUTES) {
    const match = pattern.exec(location.hash);
    if (match) return [module, parameters(match)];
  }
  throw new Problem({ title: "Page not found", detail: `No page has the address ${location.hash}.` });
}

function errorCard(error) {
  if (!error.title) console.error(error); // a bug of the page, not an answer of the API
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("h1", {}, error.title ?? "Internal error of this page"),
    h("p", {}, messageOf(error)),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", onclick: show }, "Try again"),
      h("a", { class: "button", href: "#/" }, "Back to the start"),
    ),
  );
}

function markCurrentLink() {
  for (const link of document.querySelectorAll("nav a")) {
    const isCurrent = link.getAttribute("href") === (location.hash || "#/");
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // following the link would change the address, which names the view
  document.getElementById("view").focus();
});
for (const kind of ["dragover", "drop"]) {
  // Without this, the browser opens a file that is dropped outside the drop zone.
  window.addEventListener(kind, (event) => event.preventDefault());
}
window.addEventListener("hashchange", () => {
  show();
  document.getElementById("view").focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
showForgetButton();
show();
