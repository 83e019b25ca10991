// Builds elements. Text is only ever set as text, so nothing that users name or upload can become markup.

const SVG = "http://www.w3.org/2000/svg";

// h("button", {class: "quiet", onclick: close, "aria-label": "Close"}, "×")
// Properties that begin with "on" are listeners, those of an element are set on it (value, checked, hidden, …), the
// others are attributes; null, undefined and false leave a property out. Children may be nested lists.
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

export function replace(container, ...children) {
  container.replaceChildren(...nodes(children));
  return container;
}

// A sentence for those who hear the page rather than see it.
export function announce(sentence) {
  document.getElementById("status").textContent = sentence;
}

// What the tab is called.
export function entitle(name) {
  document.title = name ? `${name} · ISM` : "ISM";
}

let last = 0;
export function newId(stem = "id") {
  last += 1;
  return `${stem}-${last}`;
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style")
      Object.assign(element.style, value); // an object; style attributes are not allowed here
    else if (name in element && element.namespaceURI !== SVG && !READ_ONLY.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...nodes(children));
  return element;
}

const READ_ONLY = new Set(["list", "form"]);

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
