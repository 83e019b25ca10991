// What the user asks about rows of the scatter plot: selected rows, one row, rows by a column, and other views of them.

import { selectionPanel } from "../explorer/selection.js";
import { rowFilter } from "./filter.js";
import { linkedViews } from "./linked.js";
import { rowPanel } from "./row_panel.js";

// {select(mask), selectGroup(name), pick(index, point), marks(), show(state), filter, panels, linked}; `show` gives the
// linked views another state. `onChange()` is called when other rows are selected, `onPair(x, y)` for two axes that are
// clicked, and `onPick(index)` for a row that is named in a panel.
export function questions(source, { onChange, onPair, onPick, signal }) {
  let selected = null; // 1 for each selected row, or null
  let isolated = false; // whether all other rows are hidden

  const selection = selectionPanel(source, {
    onClear: () => select(null),
    onIsolate(checked) {
      isolated = checked;
      onChange();
    },
  });
  const filter = source.dataset ? rowFilter(source, apply) : null;
  const row = rowPanel(source, onPick);
  const linked = linkedViews(source, { onSelect: select, onPair, signal });

  function apply(mask) {
    selected = mask?.includes(1) ? mask : null;
    isolated &&= selected !== null;
    selection.show(selected);
    onChange();
  }

  // Selects rows by a lasso, a bar or a group, so that the filter holds no longer.
  function select(mask) {
    filter?.reset();
    apply(mask);
  }

  return {
    select,
    selectGroup: (name) =>
      select(Uint8Array.from(source.group, (value) => Number(value !== null && String(value) === name))),
    pick: (index, point = null) => row.show({ index, point }),
    marks: () => ({ selected, isolated }),
    show: (state) => linked?.show(state),
    filter: filter?.elements ?? [],
    panels: [filter?.problem, selection.element, row.element],
    linked: linked?.element ?? null,
  };
}
