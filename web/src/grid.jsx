// The numbers of an input, to be changed: arrows move from cell to cell, a pasted block fills several.

import { useRef, useState } from "preact/hooks";
import { offset, shown, sizesOf } from "./arrays.js";
import { number } from "./reading.js";
import { record } from "./state.js";
import { Held, sign, strengthOf, tinted, wordOf } from "./tables.jsx";
import { Axis } from "./types.jsx";

const MOST = 24;
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [1, 0] };

function Cell({ x, label, first, onChange, onPaste, style, kind }) {
  const [typed, setTyped] = useState(null);
  const wrong = typed !== null && number(typed) === undefined;
  return (
    <td class={kind} style={style}>
      <input
        class="cell" inputMode="decimal" aria-label={label} aria-invalid={wrong || undefined} tabIndex={first ? 0 : -1} value={typed ?? shown(x, 6)} size={Math.max(4, (typed ?? shown(x, 6)).length)}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => {
          const text = event.currentTarget.value;
          setTyped(text);
          const value = number(text);
          if (value !== undefined) onChange(value);
        }}
        onBlur={() => setTyped(null)} onPaste={onPaste}
      />
    </td>
  );
}

/** The grid of an array; `onChange` is given another one. */
export function Grid({ name, axes, value, onChange }) {
  const table = useRef(null);
  const [at, setAt] = useState([0, 0]);
  const shape = sizesOf(axes);
  const shownAxes = axes.slice(-2);
  const held = axes.slice(0, -2);
  const [row, column] = shownAxes.length === 2 ? shownAxes : [null, shownAxes[0]];
  const fixed = held.map(([axis, size]) => Math.min(size, record.value[axis] ?? 1) - 1);
  const index = (r, c) => offset(shape, [...fixed, ...(row ? [r] : []), c]);
  const [rows, columns] = [Math.min(row?.[1] ?? 1, MOST), Math.min(column[1], MOST)];
  const strength = strengthOf(value.data);
  const change = (entries) => {
    const data = Float64Array.from(value.data);
    for (const [r, c, x] of entries) if (r < (row?.[1] ?? 1) && c < column[1]) data[index(r, c)] = x;
    onChange({ shape, data });
  };
  const keys = (event) => {
    const [down, right] = ARROWS[event.key] ?? [];
    const box = event.target;
    if (down === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const inside = box.selectionStart !== box.selectionEnd ? false : right < 0 ? box.selectionStart > 0 : right > 0 ? box.selectionStart < box.value.length : false;
    if (inside) return; // the caret moves within the number first
    const next = [Math.min(rows - 1, Math.max(0, at[0] + down)), Math.min(columns - 1, Math.max(0, at[1] + right))];
    event.preventDefault();
    setAt(next);
    table.current.querySelectorAll("input.cell")[next[0] * columns + next[1]]?.focus();
  };
  const paste = (r, c) => (event) => {
    const block = event.clipboardData.getData("text").trim().split(/\r?\n/).map((line) => line.split("\t"));
    if (block.length * block[0].length < 2) return;
    event.preventDefault();
    change(block.flatMap((line, down) => line.map((cell, right) => [r + down, c + right, number(cell)])).filter(([, , x]) => x !== undefined));
  };
  const label = (r, c) => [`${name} at`, row && `${row[0]} ${wordOf(row[0], r + 1)},`, `${column[0]} ${wordOf(column[0], c + 1)}`].filter(Boolean).join(" ");
  const cells = (r) => Array.from({ length: columns }, (_, c) => {
    const x = value.data[index(r, c)];
    return <Cell key={c} x={x} label={label(r, c)} first={at[0] === r && at[1] === c} kind={sign(strength(x))} style={tinted(strength(x))} onChange={(to) => change([[r, c, to]])} onPaste={paste(r, c)} />;
  });
  const more = (row?.[1] ?? 1) > rows || column[1] > columns;
  return (
    <div class="value">
      <Held axes={held} />
      <div class="scroll" tabIndex={-1}>
        <table class="numbers grid" ref={table} onKeyDown={keys} onFocusIn={(event) => {
          const place = [...table.current.querySelectorAll("input.cell")].indexOf(event.target);
          if (place >= 0) setAt([Math.floor(place / columns), place % columns]);
        }}>
          <caption class="hidden">{`The numbers of ${name}`}</caption>
          <thead>
            <tr>
              <th scope="col" class="corner">{row && <Axis name={row[0]} />}{row && <span class="by"> ╲ </span>}<Axis name={column[0]} /></th>
              {Array.from({ length: columns }, (_, c) => <th key={c} scope="col">{wordOf(column[0], c + 1)}</th>)}
            </tr>
          </thead>
          <tbody>{Array.from({ length: rows }, (_, r) => <tr key={r}><th scope="row">{row ? wordOf(row[0], r + 1) : <span class="hidden">values</span>}</th>{cells(r)}</tr>)}</tbody>
        </table>
      </div>
      {more && <p class="quiet">the first {rows} × {columns}; paste or open a file to change the rest</p>}
    </div>
  );
}
