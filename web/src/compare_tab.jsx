// Two formulas side by side: how they differ, in words and number by number.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { unlike } from "./arrays.js";
import { axes, repaintAxes } from "./colors.js";
import { Editor } from "./editor.jsx";
import { Inline } from "./formula.jsx";
import { compute } from "./machine.js";
import { Told } from "./paragraph.jsx";
import { edited } from "./places.js";
import { Repairs } from "./problems.jsx";
import { ask } from "./python.js";
import { formula, other, plan, results, text, valueOf } from "./state.js";
import { Table } from "./tables.jsx";
import { Type } from "./types.jsx";

const PAUSE = 150; // milliseconds after the last key
const NONE = [];

/** The comparison of the second text with the first: {errors} or {latex, message, same, step, value}. */
async function beside(first, second) {
  const known = formula(first.of);
  const said = await ask({ ask: "check", ...known, text: second });
  const reply = said.ok ? { ...said, latex: repaintAxes(said.latex, said.axes) } : said;
  if (!reply.ok || reply.errors.length || !reply.type) return { errors: reply.ok ? reply.errors : [reply.error], latex: reply.latex };
  const fresh = reply.inputs.filter(({ name }) => !(name in known.inputs)).map(({ name }) => name);
  if (fresh.length) return { same: false, message: `the second needs ${fresh.join(", ")}, of which the first says nothing`, latex: reply.latex, errors: NONE };
  const [compared, found] = await Promise.all([
    ask({ ask: "same", first: text.value, second, inputs: known.inputs }), ask({ ask: "plan", ...known, text: second }),
  ]);
  const told = compared.ok ? compared : { same: false, message: compared.error.message };
  if (!found.ok) return { ...told, latex: reply.latex, errors: [found.error] };
  const held = Object.fromEntries(first.of.inputs.map((input) => [input.name, valueOf(input)]));
  const arrays = await compute(found, found.inputs.map((name) => held[name]));
  const step = found.steps[found.value];
  return { ...told, errors: NONE, latex: reply.latex, step, value: arrays[step.result] };
}

/** The comparison of the texts as they are; null while there is none. */
function useComparison() {
  const found = useSignal(null);
  const current = results.value; // requested again when the values of the first change
  const second = other.value;
  useEffect(() => {
    let stale = false;
    const put = (reply) => !stale && (found.value = { ...reply, of: current, second });
    const timer = current && second.trim() ? setTimeout(() => beside(current.plan, second).then(put, (problem) => put({ errors: NONE, same: false, message: problem.message })), PAUSE) : null;
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [current, second]);
  return second.trim() ? found.value : null;
}

function Side({ title, axes: own, value, differs }) {
  return (
    <section class="side" aria-label={title}>
      <h3>{title} <Type axes={own} /></h3>
      <Table value={value} axes={own} caption={title} differs={differs} />
    </section>
  );
}

/** The elements of the second value that differ on the numbers that are given; null where the axes do. */
function differing(found) {
  const first = found.of.plan.steps[found.of.plan.value];
  const called = found.step.axes.map(([axis, size]) => [Object.entries(found.axes ?? {}).find(([, theirs]) => theirs === axis)?.[0] ?? axis, size]);
  return unlike(found.of.values[found.of.plan.value], first.axes, found.value, called);
}

/** Whether the tables show a difference, so that the numbers of a random test need not be told beside them. */
const differsHere = (found) => Boolean(found.summary && found.value && found.of.values && differing(found)?.size);

function Sides({ found }) {
  const first = found.of.plan.steps[found.of.plan.value];
  const value = found.of.values[found.of.plan.value];
  const places = differing(found);
  return (
    <>
      <div class="sides">
        <Side title="the first" axes={first.axes} value={value} />
        <Side title="the second" axes={found.step.axes} value={found.value} differs={places && ((at) => places.has(at))} />
      </div>
      {places && <p class="quiet">{places.size ? `on the numbers that are given, ${places.size} of ${found.value.data.length} differ` : "on the numbers that are given, none differs"}</p>}
    </>
  );
}

export function Compare() {
  const found = useComparison();
  if (!plan.value) return <p class="quiet">Two formulas are compared here once the first is valid.</p>;
  const exchange = () => ([text.value, other.value] = [other.value, text.value]);
  return (
    <div class="compare">
      <Editor text={other} label="the second formula" errors={found?.second === other.value ? found.errors : NONE} axes={axes.value} hint="a second formula of the same inputs" />
      <div class="row">
        <button type="button" onClick={() => (other.value = text.value)} data-after-editor>copy the first</button>
        <button type="button" onClick={exchange} disabled={!other.value.trim()}>exchange</button>
      </div>
      {found?.latex && <div class="answer-formula scroll" tabIndex={0} role="group" aria-label="the second formula, typeset"><Inline latex={`\\displaystyle ${found.latex}`} /></div>}
      {found?.second === other.value && found.errors.map((error, n) => (
        <div key={n} class="problem">
          <Told error={error}>
            {error.hint && <p class="hint">{error.hint}</p>}
            <Repairs repairs={error.repairs} source={other.value} onPut={(repair) => (other.value = edited(other.value, repair))} />
          </Told>
        </div>
      ))}
      {found?.message && <p role="status" class={`verdict ${found.same ? "right" : "wrong"}`}>{differsHere(found) ? found.summary : found.message}</p>}
      {found?.value && found.of.values && <Sides found={found} />}
    </div>
  );
}
