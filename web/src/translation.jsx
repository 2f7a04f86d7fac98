// Matrices, indices or array code: what they are in named tensor notation, behind a button, with the axes of each input.

import { batch, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "./python.js";
import { checked, inputs, text, types } from "./state.js";
import { Name } from "./types.jsx";

const PAUSE = 300; // milliseconds after the last change

/** The axes of the inputs whose types the reader gave, in order. */
const typedAxes = () => Object.fromEntries(inputs.value.filter(({ from, needed }) => from === "given" && needed !== "number").map(({ name, axes }) => [name, axes.map(([axis]) => axis).join(" ")]));

/** Replaces the text by a translation, which declares the types of its inputs. */
function put(reading, names) {
  batch(() => {
    text.value = reading.text;
    types.value = Object.fromEntries(Object.entries(types.value).filter(([name]) => !names.includes(name)));
  });
}

function Field({ name, value, onChange }) {
  return (
    <label class="axes-field">
      <b class="name"><Name name={name} /></b>
      <input class="axes-field-text" aria-label={`axes of ${name}, in order`} spellcheck={false} autocomplete="off" placeholder="rows columns" size={Math.max(10, value.length + 1)} value={value} onInput={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}

export function Translation() {
  const reply = useSignal(null);
  const written = useSignal({}); // the axes in the fields that were changed, by name
  const source = checked.value?.positional ? checked.value.source : null;
  const shapes = { ...typedAxes(), ...written.value };
  const key = JSON.stringify([source, shapes]);
  useEffect(() => {
    let stale = source === null;
    const asking = async () => {
      const found = await ask({ ask: "translate", text: source, shapes });
      if (!stale) reply.value = { ...found, source };
    };
    const timer = stale ? null : setTimeout(() => asking().catch(() => {}), PAUSE);
    return () => ((stale = true), clearTimeout(timer));
  }, [key]);
  const found = reply.value;
  if (source === null || found?.source !== source || !found.ok) return null;
  const changed = Object.keys(written.value).filter((name) => !found.inputs.some((input) => input.name === name));
  const fields = [...found.inputs, ...(found.readings.length || found.inputs.length || found.error ? changed.map((name) => ({ name })) : [])];
  const offered = found.readings.length > 0 || found.inputs.some(({ axes }) => axes === null) || (found.error && changed.length > 0);
  if (!offered) return null;
  return (
    <section class="translation" aria-labelledby="translation-title">
      <h2 id="translation-title">Matrices, indices or code?</h2>
      <p class="row">{fields.map(({ name, axes }) => <Field key={name} name={name} value={written.value[name] ?? axes ?? ""} onChange={(value) => (written.value = { ...written.value, [name]: value })} />)}</p>
      {found.error && <p class="wrong" role="alert">{found.error.message}</p>}
      {found.readings.length === 0 && !found.error && <p class="quiet">Name the axes of each, in order: the formula follows.</p>}
      {found.readings.map((reading) => (
        <p class="reading" key={reading.formula}>
          <button type="button" class="main" onClick={() => put(reading, found.inputs.map(({ name }) => name))}>put in <code>{reading.formula.replaceAll("\n", " ; ")}</code></button>
          {reading.notes.length > 0 && <span class="quiet"> {reading.notes.join("; ")}</span>}
        </p>
      ))}
    </section>
  );
}
