// Placeholder of the skeleton.
import { h } from "../dom.js";
export async function show(container) { container.append(h("h1", {}, "ISM")); }
