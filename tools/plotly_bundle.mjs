// Builds app/web/vendor/plotly.min.js: plotly.js with only the traces that the page draws. In an empty folder:
//
//   npm install plotly.js@4.1.1 esbuild@0.28 esbuild-plugin-glsl esbuild-plugin-inline-css esbuild-plugin-environment
//   cp REPOSITORY/tools/plotly_bundle.mjs . && node plotly_bundle.mjs REPOSITORY/app/web/vendor

import { copyFile, readFile } from "node:fs/promises";
import { build } from "esbuild";
import { environmentPlugin } from "esbuild-plugin-environment";
import { glsl } from "esbuild-plugin-glsl";
import inlineCss from "esbuild-plugin-inline-css";

const TRACES = ["bar", "heatmap", "scatter3d"]; // scatter is always there
const folder = process.argv[2];
const { version } = JSON.parse(await readFile("node_modules/plotly.js/package.json", "utf8"));
const required = TRACES.map((name) => `require("plotly.js/lib/${name}")`);

// The options are those of plotly.js's own esbuild-config.js.
await build({
  stdin: {
    contents: `module.exports = require("plotly.js/lib/core"); module.exports.register([${required}]);`,
    resolveDir: ".",
  },
  outfile: `${folder}/plotly.min.js`,
  banner: { js: `/*! plotly.js v${version} with ${TRACES.join(", ")}, scatter. MIT license: plotly-license.txt */` },
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "Plotly",
  plugins: [inlineCss(), glsl({ minify: true }), environmentPlugin({ NODE_DEBUG: false })],
  alias: { regl: "@plotly/regl", stream: "stream-browserify" },
  define: { global: "window", "define.amd": "false" },
  target: "es2016",
});
await copyFile("node_modules/plotly.js/LICENSE", `${folder}/plotly-license.txt`);
