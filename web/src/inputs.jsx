// What the formula is given: each with its type, its numbers, and ways to have others.

import { batch, useSignal } from "@preact/signals";
import { undoable, undoLast } from "./data_history.js";
import { Grid } from "./grid.jsx";
import { limits } from "./random.js";
import { read, readFile } from "./reading.js";
import { give, given, inputs, numbers, resize, types, valueOf } from "./state.js";
import { Name, setOf, Type, typeText } from "./types.jsx";

/** A number, by a slider and as it is. */
function Slider({ name, value, domain, whole, onChange }) {
  const [low, high] = limits(domain);
  const least = Number.isFinite(low) ? low : Math.min(-5, Math.floor(value));
  const most = Number.isFinite(high) ? high : Math.max(whole ? 10 : 5, Math.ceil(value));
  const step = whole || ["count", "elements"].includes(domain?.kind) ? 1 : (most - least) / 200;
  const set = (event) => Number.isFinite(event.currentTarget.valueAsNumber) && onChange(event.currentTarget.valueAsNumber);
  return (
    <div class="slider">
      <input type="range" aria-label={`${name}, by a slider`} min={least} max={most} step={step} value={value} onInput={set} />
      <input type="number" aria-label={name} step="any" value={value} onInput={set} />
    </div>
  );
}

/** Takes an array as the value of an input: its axes in their order, whose sizes become those of the array. */
function take(input, array) {
  const due = input.axes.map(([axis]) => axis);
  if (array.shape.length !== due.length) throw new Error(`these numbers have ${array.shape.length} axes, and ${input.name} has ${due.length}: ${due.join(", ") || "none"}`);
  batch(() => {
    give(input.name, array);
    input.axes.forEach(([axis, size], n) => size !== array.shape[n] && resize(axis, array.shape[n]));
  });
}

function Paste({ input, onDone }) {
  const typed = useSignal("");
  const problem = useSignal(null);
  const put = () => {
    try {
      take(input, read(typed.value));
      onDone();
    } catch (error) {
      problem.value = error.message;
    }
  };
  return (
    <div class="paste">
      <label>
        <span>Numbers of {input.name}, as JSON, lists of Python, or a table</span>
        <textarea rows="4" value={typed.value} onInput={(event) => (typed.value = event.currentTarget.value)} ref={(box) => box?.focus()} />
      </label>
      {problem.value && <p class="wrong" role="alert">{problem.value}</p>}
      <button type="button" class="main" onClick={put}>put in</button> <button type="button" onClick={onDone}>leave</button>
    </div>
  );
}

/** The type of what nothing declares, to be changed. */
function TypeField({ input }) {
  const typed = useSignal(null);
  const done = () => {
    if (typed.value !== null && !typed.value.trim()) {
      const { [input.name]: _, ...others } = types.value;
      types.value = others; // it is guessed again
    } else if (typed.value !== null && typed.value.trim() && typed.value !== typeText(input.axes)) {
      const number = Number(typed.value);
      if (Number.isFinite(number)) numbers.value = { ...numbers.value, [input.name]: number };
      else types.value = { ...types.value, [input.name]: typed.value.trim() };
    }
    typed.value = null;
  };
  return (
    <input
      class="type-field" aria-label={`type of ${input.name}`} spellcheck={false} value={typed.value ?? input.type} size={Math.max(6, (typed.value ?? input.type).length)}
      onFocus={() => (typed.value = types.value[input.name] ?? input.type)} onInput={(event) => (typed.value = event.currentTarget.value)} onBlur={done} onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}

function Input({ input }) {
  const pasting = useSignal(false);
  const editing = useSignal(false);
  const problem = useSignal(null);
  const value = valueOf(input);
  const number = input.needed === "number";
  const scalar = input.axes.length === 0;
  const seed = given.value[input.name]?.seed ?? 1;
  const open = async (event) => {
    const [file] = event.currentTarget.files;
    event.currentTarget.value = "";
    problem.value = null;
    try {
      if (file) take(input, await readFile(file));
    } catch (error) {
      problem.value = error.message;
    }
  };
  const slide = (to) => (number ? (numbers.value = { ...numbers.value, [input.name]: to }) : give(input.name, { shape: [], data: Float64Array.of(to) }));
  return (
    <li class="input">
      <div class="input-head">
        <b class="name" data-name={input.name}><Name name={input.name} /></b> <span aria-hidden="true">∈</span>{" "}
        {editing.value ? <TypeField input={input} /> : <Type axes={input.axes} set={setOf(input.domain)} />}
        {input.from === "guessed" && <span class="quiet" title="no declared type: this is the smallest type for which the formula is valid">guessed</span>}
        <span class="tools">
          {(input.from === "guessed" || input.from === "given") && <button type="button" aria-pressed={editing.value} aria-label={`change the type of ${input.name}`} onClick={() => (editing.value = !editing.value)}>type</button>}
          {!number && <button type="button" aria-label={`other random numbers for ${input.name}, seed ${seed + 1}`} title={`seed ${seed}`} onClick={() => give(input.name, null, seed + 1)}>random</button>}
          {!number && <button type="button" aria-expanded={pasting.value} aria-label={`paste numbers for ${input.name}`} onClick={() => (pasting.value = !pasting.value)}>paste</button>}
          {!number && (
            <label class="file" >
              <input type="file" accept=".json,.csv,.tsv,.txt,.npy" aria-label={`a file of numbers for ${input.name}`} onChange={open} />
              <span aria-hidden="true">file</span>
            </label>
          )}
        </span>
      </div>
      {problem.value && <p class="wrong" role="alert">{problem.value}</p>}
      {pasting.value && <Paste input={input} onDone={() => (pasting.value = false)} />}
      {scalar ? (
        <Slider name={input.name} whole={number} domain={input.domain} value={number ? (numbers.value[input.name] ?? input.number ?? 1) : value.data[0]} onChange={slide} />
      ) : value.data.length === 0 ? <p class="quiet">no numbers: an axis has no elements</p> : (
        <Grid name={input.name} axes={input.axes} value={value} onChange={(array) => give(input.name, array)} />
      )}
    </li>
  );
}

export function Inputs() {
  if (inputs.value.length === 0) return null;
  const again = () => {
    const seed = 1 + Math.max(1, ...inputs.value.map(({ name }) => given.value[name]?.seed ?? 1));
    given.value = Object.fromEntries(inputs.value.map(({ name }) => [name, { seed }]));
  };
  return (
    <section class="inputs" aria-labelledby="inputs-title">
      <div class="row"><h2 id="inputs-title">Given</h2><button type="button" onClick={again}>all random</button><button type="button" onClick={undoLast} disabled={!undoable.value} title="Ctrl-Z; Ctrl-Y takes it back">undo</button></div>
      <ul>{inputs.value.map((input) => <Input key={input.name} input={input} />)}</ul>
    </section>
  );
}
