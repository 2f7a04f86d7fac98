// The line at the top: what the page is, examples, a link to share, light and dark, the size for a lecture hall.

import { signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Copy } from "./code_tab.jsx";
import { keptExercises } from "./exercise_tab.jsx";
import { python } from "./python.js";
import { packedState } from "./share.js";
import { kept, open, tab, typeset } from "./state.js";
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

function Share() {
  const link = useSignal(null);
  const button = useRef(null);
  const close = () => {
    link.value = null;
    button.current?.focus(); // what the keyboard was at is gone
  };
  const share = async () => {
    const fragment = `#${await packedState({ ...kept(), ...(tab.value === "exercise" && keptExercises()) })}`;
    history.replaceState(null, "", fragment);
    link.value = location.href;
    navigator.clipboard?.writeText(link.value).catch(() => {});
  };
  return (
    <span class="share">
      <button type="button" onClick={share} ref={button} aria-expanded={link.value !== null}>share</button>
      {link.value && (
        <div class="popover" role="dialog" aria-label="a link to this" onKeyDown={(event) => event.key === "Escape" && close()}>
          <p>The address holds all of this, and nothing was sent anywhere.</p>
          <input readOnly value={link.value} aria-label="the link" ref={(box) => box?.select()} />
          <div class="row">
            <Copy text={link.value} label="copy the link" />
            {typeset.value && <Copy text={typeset.value.plain} label="copy LaTeX" />}
            <button type="button" onClick={close}>done</button>
          </div>
        </div>
      )}
    </span>
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
