// Values as tables: two axes at a time, the others at the record that the reader picks; as a heat map where wished.

import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { offset, shown, sizesOf } from "./arrays.js";
import { axes, exerciseAxes } from "./colors.js";
import { CopyAs } from "./copy_as.jsx";
import { labels, record } from "./state.js";
import { cellsOf, toLatex, toTabs, toTypst } from "./table_text.js";
import { Axis } from "./types.jsx";

export const heat = signal(true);
const MOST = 16; // rows and columns that are written out

/** The word for a position of an axis: its label, where all of them have one, or its number. */
export function wordOf(axis, place) {
  const words = exerciseAxes.value ? null : labels.value[axis];
  const size = axes.value.find((each) => each.name === axis)?.size;
  return words && words.length === size ? words[place - 1] : String(place);
}

/** Positions that are shown: all, or the first and the last with null for the gap. */
function places(size) {
  const all = Array.from({ length: Math.min(size, 4096) }, (_, n) => n + 1);
  return size <= MOST ? all : [...all.slice(0, MOST - 3), null, size - 1, size];
}

/** How strongly a cell is tinted: −1 … 1 of the largest number. */
export function strengthOf(data) {
  let most = 0;
  for (const each of data) if (Number.isFinite(each)) most = Math.max(most, Math.abs(each));
  return (x) => (most > 0 && Number.isFinite(x) ? x / most : 0);
}

export const tinted = (strength) => ({ "--heat": `${Math.round(Math.abs(strength) * 38)}%` });
export const sign = (strength) => (strength < 0 ? "cold" : "warm");

/** Which axes lie along rows and columns, and which are held at a record. */
function layout(axes) {
  const shown = axes.length > 2 ? axes.slice(-2) : axes;
  return { held: axes.slice(0, axes.length - shown.length), row: shown.length === 2 ? shown[0] : null, column: shown.at(-1) ?? null };
}

export function Held({ axes }) {
  return axes.map(([axis, size]) => (
    <label class="held" key={axis}>
      <Axis name={axis} />
      <input type="range" min="1" max={size} value={Math.min(size, record.value[axis] ?? 1)} onInput={(event) => (record.value = { ...record.value, [axis]: event.currentTarget.valueAsNumber })} />
      <output>{wordOf(axis, Math.min(size, record.value[axis] ?? 1))}</output>
    </label>
  ));
}

/** A value. `digits` are those of its numbers; `beside` are other numbers of the same shape, from which it may differ; with `copies` it has a button for copies. */
export function Table({ value, axes, caption, digits = 4, differs, copies = false }) {
  const table = useRef(null);
  if (!value) return null;
  const shape = sizesOf(axes);
  if (axes.length === 0) return <output class="scalar" aria-label={caption} title={String(value.data[0])}>{shown(value.data[0], digits)}</output>;
  if (value.data.length === 0) return <p class="quiet">no numbers: an axis has no elements</p>;
  const { held, row, column } = layout(axes);
  const strength = strengthOf(value.data);
  const fixed = Object.fromEntries(held.map(([axis, size]) => [axis, Math.min(size, record.value[axis] ?? 1)]));
  const index = (r, c) => offset(shape, axes.map(([axis]) => (fixed[axis] ?? (row && axis === row[0] ? r : c)) - 1));
  const pick = (r, c) => (record.value = { ...record.value, ...(row && { [row[0]]: r }), [column[0]]: c });
  const current = (axis, place) => (record.value[axis] ?? 1) === place;
  const columns = places(column[1]);
  const cell = (r, c) => {
    const at = index(r ?? 1, c);
    const x = value.data[at];
    const chosen = (!row || current(row[0], r)) && current(column[0], c);
    return (
      <td key={c} class={`${heat.value ? sign(strength(x)) : ""} ${chosen ? "chosen" : ""} ${differs?.(at) ? "differs" : ""}`} style={heat.value ? tinted(strength(x)) : null} title={String(x)} onClick={() => pick(r, c)}>
        {shown(x, digits)}
      </td>
    );
  };
  const line = (r) => columns.map((c) => (c === null ? <td key="gap" class="gap">…</td> : cell(r, c)));
  return (
    <div class="value">
      <Held axes={held} />
      <div class="scroll" tabIndex={0} role="group" aria-label={caption}>
        <table class="numbers" ref={table}>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              <th scope="col" class="corner">{row && <Axis name={row[0]} />}{row && <span class="by"> ╲ </span>}<Axis name={column[0]} /></th>
              {columns.map((c) => (c === null ? <td key="gap" class="gap">…</td> : <th key={c} scope="col">{wordOf(column[0], c)}</th>))}
            </tr>
          </thead>
          <tbody>
            {row ? places(row[1]).map((r) => (r === null ? <tr key="gap"><th class="gap">⋮</th></tr> : <tr key={r}><th scope="row">{wordOf(row[0], r)}</th>{line(r)}</tr>)) : <tr><th scope="row" class="corner"><span class="hidden">values</span></th>{line(null)}</tr>}
          </tbody>
        </table>
      </div>
      {copies && <CopyAs what={caption} name="table" target={() => table.current} forms={{ table: () => toTabs(cellsOf(table.current)), LaTeX: () => toLatex(cellsOf(table.current)), Typst: () => toTypst(cellsOf(table.current)) }} />}
    </div>
  );
}
