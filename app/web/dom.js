// Builds elements. Text is only ever set as text, so nothing that users name or upload can become markup.

const SVG = "http://www.w3.org/2000/svg";

// h("button", {class: "quiet", onclick: close, "aria-label": "Close"}, "×")
// A property whose name begins with "on" is a listener. A property of the element (value, checked, hidden, …) is set on
// it; any other is set as an attribute. null, undefined and false leave a property out. Children may be nested lists.
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

// Makes screen readers say a sentence.
export function announce(sentence) {
  document.getElementById("status").textContent = sentence;
}

export function setTitle(name) {
  document.title = name ? `${name} · ISM` : "ISM";
}

let lastId = 0;
export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

export function messageOf(error) {
  return error.errors?.map(({ message }) => message).join(" ") || (error.detail ?? error.message);
}

// A line for an error message, hidden until there is one: {element, show(error), hide()}.
export function errorLine() {
  const element = h("p", { class: "error", role: "alert", hidden: true });
  return {
    element,
    show(error) {
      element.textContent = messageOf(error);
      element.hidden = false;
    },
    hide() {
      element.hidden = true;
    },
  };
}

// A button that runs an asynchronous action, and the line for the message if that fails: {button, problem}.
export function actionButton(label, action) {
  const problem = errorLine();
  const onclick = async () => {
    button.disabled = true;
    problem.hide();
    try {
      await action();
    } catch (error) {
      problem.show(error);
      button.disabled = false;
    }
  };
  const button = h("button", { type: "button", onclick }, label);
  return { button, problem: problem.element };
}

// A button that copies `text`, a string or a function that returns one.
export function copyButton(text, label) {
  const button = h(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: async () => {
        const copied = await copy(typeof text === "function" ? text() : text);
        button.textContent = copied ? "Copied" : "Copying failed";
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
    await navigator.clipboard.writeText(text); // browsers offer it on https and localhost only
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

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style")
      Object.assign(element.style, value); // an object: the security policy forbids style attributes
    else if (name in element && element.namespaceURI !== SVG) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
