// Several jobs side by side.

import { h } from "../dom.js";

export async function show(container, ids) {
  container.append(h("h1", {}, ids.join(", ")));
}
