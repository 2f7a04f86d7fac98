// Errors and warnings in the project's own words; what mends them is a button.

import { edited, saidOf } from "./places.js";
import { checked, errors, lit, text } from "./state.js";

/** Puts a repair into the text it was made for. */
export function mend(repair) {
  const source = checked.value?.source ?? text.value;
  if (source === text.value) text.value = edited(source, repair);
}

/** Buttons for the repairs of an error of a text. */
export function Repairs({ repairs, source, onPut }) {
  if (!repairs?.length) return null;
  return (
    <p class="repairs">
      {repairs.map((repair) => {
        const [verb, what] = saidOf(repair, source);
        return <button type="button" class="main" key={repair.text} onClick={() => onPut(repair)}>{verb}{what && <> <code>{what}</code></>}</button>;
      })}
    </p>
  );
}

/** The lines of an error that show the text and its carets. */
const excerpt = (full) => full.split("\n").slice(1).filter((line) => /^\s*\d*\s*\|/.test(line)).join("\n");

function One({ error }) {
  const named = error.number ? `${error.kind} error ${error.number}` : error.kind === "page" ? "" : error.kind;
  return (
    <div class={`problem ${error.kind === "warning" ? "warned" : ""}`} onMouseEnter={() => (lit.value = error.span)} onMouseLeave={() => (lit.value = null)}>
      <p class="message">{named && <b>{named}: </b>}{error.message}</p>
      {error.span && error.full && <pre class="excerpt" tabIndex={0} role="group" aria-label="where it is">{excerpt(error.full)}</pre>}
      {error.notes?.map((note) => <p key={note} class="note">{note}</p>)}
      {error.hint && <p class="hint">{error.hint}</p>}
      <Repairs repairs={error.repairs} source={checked.value?.source ?? text.value} onPut={mend} />
    </div>
  );
}

export function Problems() {
  const warnings = checked.value?.warnings ?? [];
  return <div class="problems">{[...errors.value, ...(errors.value.length ? [] : warnings)].map((error, n) => <One key={n} error={error} />)}</div>;
}
