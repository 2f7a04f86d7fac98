// Errors and warnings in the project's own words; their fix is a button.

import { Told } from "./paragraph.jsx";
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
  return (
    <div class={`problem ${error.kind === "warning" ? "warned" : ""}`} onMouseEnter={() => (lit.value = error.span)} onMouseLeave={() => (lit.value = null)}>
      <Told error={error}>
        {error.span && error.full && <pre class="excerpt" tabIndex={0} role="group" aria-label="where it is" ref={toCaret}>{excerpt(error.full)}</pre>}
        {error.notes?.map((note) => <p key={note} class="note">{note}</p>)}
        {error.hint && <p class="hint">{error.hint}</p>}
        <Repairs repairs={error.repairs} source={checked.value?.source ?? text.value} onPut={mend} />
      </Told>
    </div>
  );
}

/** Brings the first caret into sight, where the line is too long for the screen. */
function toCaret(element) {
  const line = element?.textContent.split("\n").find((each) => each.includes("^"));
  if (!line || element.scrollWidth <= element.clientWidth) return;
  const longest = Math.max(...element.textContent.split("\n").map((each) => each.length));
  element.scrollLeft = (line.indexOf("^") / longest) * element.scrollWidth - element.clientWidth / 2;
}

export function Problems() {
  const warnings = checked.value?.warnings ?? [];
  return <div class="problems">{[...errors.value, ...(errors.value.length ? [] : warnings)].map((error, n) => <One key={n} error={error} />)}</div>;
}
