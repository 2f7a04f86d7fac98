// The axes of the text: name, color and size, each of which can be changed.

import { useSignal } from "@preact/signals";
import { axes, chosen, colorOf } from "./colors.js";
import { checked, resize, sizes } from "./state.js";
import { dark } from "./theme.js";
import { Axis } from "./types.jsx";

const MOST = 512;
const isSize = (number) => Number.isInteger(number) && number > 0 && number <= MOST;

function Size({ axis, size }) {
  const typed = useSignal(null);
  const set = (event) => {
    typed.value = event.currentTarget.value;
    const found = event.currentTarget.valueAsNumber;
    if (isSize(found) && found !== size) resize(axis, found);
  };
  const wrong = typed.value !== null && !isSize(Number(typed.value));
  return (
    <>
      <input class="size-field" type="number" min="1" max={MOST} aria-label={`size of ${axis}`} aria-invalid={wrong || undefined} value={typed.value ?? size} onInput={set} onBlur={() => (typed.value = null)} />
      {wrong && <span class="wrong" role="alert">a size is an integer from 1 to {MOST}</span>}
    </>
  );
}

export function Legend() {
  void dark.value; // the pickers show other colors in the dark
  if (axes.value.length === 0 || !checked.value?.axes?.length) return null;
  return (
    <ul class="legend" aria-label="axes">
      {axes.value.map(({ name, size }) => (
        <li key={name}>
          <input type="color" aria-label={`color of ${name}`} value={colorOf(name)} onInput={(event) => (chosen.value = { ...chosen.value, [name]: event.currentTarget.value })} />
          <Axis name={name} />
          {Number.isInteger(sizes.value[name] ?? size) && <Size axis={name} size={sizes.value[name] ?? size} />}
        </li>
      ))}
      {Object.keys(chosen.value).length > 0 && <li><button type="button" onClick={() => (chosen.value = {})}>own colors</button></li>}
    </ul>
  );
}
