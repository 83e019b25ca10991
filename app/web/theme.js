// The colors of the page, light or dark, for plots.

// The colors of the stylesheet in the current color scheme, light or dark.
export function themeColors() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  const series = Array.from({ length: 8 }, (_, index) => value(`series-${index + 1}`));
  return {
    ink: value("ink"),
    soft: value("soft"),
    line: value("line"),
    surface: value("surface"),
    accent: value("accent"),
    series,
  };
}

const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");

// Calls `redraw` when the color scheme changes.
export function onThemeChange(redraw, signal) {
  darkScheme.addEventListener("change", redraw, { signal });
}
