// Shows what the address after # names: the start, a table, the jobs, a job, or several compared.

import { Problem } from "./api.js";
import { entitle, h, replace } from "./dom.js";
import { showButton } from "./key.js";

const ROUTES = [
  [/^#?\/?$/, "./upload/view.js", () => []],
  [/^#\/data\/([\w-]+)(?:\/([\w-]+))?$/, "./form/view.js", (found) => [found[1], found[2]]],
  [/^#\/jobs$/, "./jobs/view.js", () => []],
  [/^#\/jobs\/([\w-]+)$/, "./run/view.js", (found) => [found[1]]],
  [/^#\/compare\/([\w,-]+)$/, "./compare/view.js", (found) => [found[1].split(",")]],
];

let leave = new AbortController(); // ends what the view before was still doing

async function show() {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const container = h("div", { class: "view" });
  replace(document.getElementById("view"), container, h("p", { class: "lead loading" }, "One moment …"));
  entitle("");
  mark();
  try {
    const [module, values] = route();
    const view = await import(module);
    if (!signal.aborted) await view.show(container, ...values, { signal });
  } catch (error) {
    if (!signal.aborted) replace(container, failure(error));
  }
}

function route() {
  for (const [pattern, module, values] of ROUTES) {
    const found = pattern.exec(location.hash);
    if (found) return [module, values(found)];
  }
  throw new Problem({ title: "There is no such page", detail: `There is nothing at ${location.hash}.` });
}

function failure(error) {
  if (!error.title) console.error(error); // a fault of the page itself, not an answer of the API
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("h1", {}, error.title ?? "This page has a fault"),
    h("p", {}, error.detail ?? error.message),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", onclick: show }, "Try again"),
      h("a", { class: "button", href: "#/" }, "Back to the start"),
    ),
  );
}

function mark() {
  for (const link of document.querySelectorAll("nav a")) {
    const current = link.getAttribute("href") === (location.hash || "#/");
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names a view, not a place in it
  document.getElementById("view").focus();
});
for (const kind of ["dragover", "drop"]) {
  window.addEventListener(kind, (event) => event.preventDefault()); // a file dropped beside its place would be opened instead
}
window.addEventListener("hashchange", () => {
  show();
  document.getElementById("view").focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
showButton();
show();
