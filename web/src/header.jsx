// The line at the top: what the page is, examples, a link to share, light and dark, the size for a lecture hall.

import { signal } from "@preact/signals";
import { python } from "./python.js";
import { Share } from "./share_button.jsx";
import { open } from "./state.js";
import { projector, theme } from "./theme.js";

export const examples = signal([]);
const SAID = { starting: "Python is starting …", ready: "ready", working: "ready", away: "Python cannot be reached" };
const NEXT = { auto: "light", light: "dark", dark: "auto" };

function Examples() {
  if (examples.value.length === 0) return null;
  const choose = (event) => {
    const found = examples.value[Number(event.currentTarget.value)];
    event.currentTarget.value = "";
    if (found) open(found);
  };
  return (
    <select aria-label="examples" onChange={choose} value="">
      <option value="" disabled>examples</option>
      {examples.value.map((each, n) => <option key={each.name} value={n}>{each.title}{each.source ? ` — ${each.source}` : ""}</option>)}
    </select>
  );
}

export function Header({ onFile }) {
  const openFile = async (event) => {
    const [file] = event.currentTarget.files;
    event.currentTarget.value = "";
    if (file) onFile(await file.text());
  };
  return (
    <header>
      <h1>Named tensors</h1>
      <p class="tagline">Type a formula with named axes. See its types, steps and value.</p>
      <span class={`python ${python.value}`}>{SAID[python.value]}</span>
      <nav aria-label="page">
        <Examples />
        <label class="file"><input type="file" accept=".nt,.txt,.tex" aria-label="open a formula or exercises" onChange={openFile} /><span aria-hidden="true">open</span></label>
        <Share />
        <button type="button" onClick={() => (theme.value = NEXT[theme.value])} aria-label={`colors: ${theme.value}`}>{{ auto: "◐ auto", light: "○ light", dark: "● dark" }[theme.value]}</button>
        <button type="button" aria-pressed={projector.value} onClick={() => (projector.value = !projector.value)} aria-label="large letters for a projector">A+</button>
      </nav>
    </header>
  );
}
