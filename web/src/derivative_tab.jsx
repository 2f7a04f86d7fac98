// The derivative with respect to a name: in closed form, with its rules, and its value beside differences of the formula's own values.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sizesOf, shown } from "./arrays.js";
import { axes, others, repaintAxes } from "./colors.js";
import { Inline } from "./formula.jsx";
import { Copy } from "./code_tab.jsx";
import { compute, computeMany } from "./machine.js";
import { ask } from "./python.js";
import { Problem, useReply } from "./reply.jsx";
import { by, formula, inputs, plan, results, valueOf } from "./state.js";
import { Table } from "./tables.jsx";

const MOST = 400; // elements by which differences are taken
const WIDTH = 1e-5;

/** The sizes of all axes: those that only the derivative has, key*, are as large as the axes that they are named after. */
function sizesOfBoth(known, axes) {
  const base = (name) => known[name] ?? known[name.replace(/['′*]+$/, "")];
  return { ...known, ...Object.fromEntries(axes.filter(({ name }) => base(name) !== undefined).map(({ name }) => [name, base(name)])) };
}

/** The value of the derivative, by the plan of its program: {value, axes}. */
async function valueOfProgram({ program, axes }, reply) {
  const { inputs: known, sizes } = formula(reply);
  const found = await ask({ ask: "plan", text: program, inputs: known, sizes: sizesOfBoth(sizes, axes ?? []) });
  if (!found.ok) throw new Error(found.error.message);
  const held = Object.fromEntries(reply.inputs.map((input) => [input.name, valueOf(input)]));
  const arrays = await compute(found, found.inputs.map((name) => held[name]));
  const step = found.steps[found.value];
  return { value: arrays[step.result], axes: step.axes };
}

/** Central differences of the value by each element of an input: axes of the value, then those of the input. */
async function differences(current, name) {
  const { plan: found, inputs: held } = current;
  const step = found.steps[found.value];
  const base = held[name];
  if (!base || base.data.length > MOST) return null;
  const moved = (n, by) => ({ ...base, data: base.data.map((x, at) => (at === n ? x + by : x)) });
  const many = Array.from(base.data, (_, n) => n).flatMap((n) => [WIDTH, -WIDTH].map((width) => found.inputs.map((each) => (each === name ? moved(n, width) : held[each]))));
  const values = (await computeMany(found, many)).map((arrays) => arrays[step.result].data);
  return (place, element) => (values[2 * element][place] - values[2 * element + 1][place]) / (2 * WIDTH);
}

/** The largest difference between a derivative and the differences; its axes are matched by name, a new name in the order of the input's. */
function compared(derivative, slope, current, name) {
  const step = current.plan.steps[current.plan.value];
  const input = current.plan.of.inputs.find((each) => each.name === name);
  const own = new Set(step.axes.map(([axis]) => axis));
  const fresh = derivative.axes.filter(([axis]) => !own.has(axis));
  const shared = input.axes.filter(([axis]) => fresh.some(([other]) => other === axis));
  const rest = fresh.filter(([axis]) => !shared.some(([other]) => other === axis));
  const free = input.axes.filter(([axis]) => !shared.some(([other]) => other === axis));
  if (rest.length !== free.length || derivative.axes.length !== step.axes.length + input.axes.length) return null;
  const axisOf = (axis) => (shared.some(([other]) => other === axis) ? axis : (rest.find(([other]) => other.replace(/['′*]+$/, "") === axis) ?? rest[free.findIndex(([other]) => other === axis)])[0]);
  const sizes = sizesOf(derivative.axes);
  let worst = 0;
  let largest = 0;
  for (let n = 0; n < derivative.value.data.length; n++) {
    const places = {};
    for (let axis = sizes.length - 1, left = n; axis >= 0; axis--) [places[derivative.axes[axis][0]], left] = [left % sizes[axis], Math.floor(left / sizes[axis])];
    const place = step.axes.reduce((sum, [axis, size]) => sum * size + places[axis], 0);
    const element = input.axes.reduce((sum, [axis, size]) => sum * size + places[axisOf(axis)], 0);
    worst = Math.max(worst, Math.abs(slope(place, element) - derivative.value.data[n]));
    largest = Math.max(largest, Math.abs(derivative.value.data[n]));
  }
  return { worst, largest };
}

function Checked({ reply, name }) {
  const found = useSignal(null);
  const current = results.value;
  useEffect(() => {
    let stale = false;
    const work = async () => {
      const derivative = await valueOfProgram(reply, current.plan.of);
      const slope = await differences(current, name).catch(() => null);
      if (!stale) found.value = { derivative, close: slope && compared(derivative, slope, current, name) };
    };
    if (current) work().catch((problem) => !stale && (found.value = { problem: problem.message }));
    return () => (stale = true);
  }, [reply, current, name]);
  if (!found.value) return null;
  if (found.value.problem) return <p class="quiet">{found.value.problem}</p>;
  const { derivative, close } = found.value;
  return (
    <div>
      <h3>Its value</h3>
      {close && <p class="quiet" data-worst={close.worst}>It agrees with differences of the formula's own values to {shown(close.worst, 2)}, where the largest number is {shown(close.largest, 3)}.</p>}
      <Table value={derivative.value} axes={derivative.axes} caption="the value of the derivative" copies />
    </div>
  );
}

export function Derivative() {
  const names = inputs.value.filter(({ needed }) => needed !== "number").map(({ name }) => name);
  const name = names.includes(by.value) ? by.value : names[0];
  const reply = useReply({ ask: "derive", by: name ?? "" }, name !== undefined);
  useEffect(() => {
    const known = new Set(axes.value.map((axis) => axis.name));
    others.value = (reply?.axes ?? []).filter((axis) => !known.has(axis.name));
  }, [reply]);
  if (!plan.value) return <p class="quiet">The derivative is shown here once the formula is valid.</p>;
  if (name === undefined) return <p class="quiet">There is nothing to derive by: the formula is given nothing.</p>;
  return (
    <div>
      <div class="row choices" role="radiogroup" aria-label="derived by">
        <span class="quiet">by</span>
        {names.map((each) => <label key={each} class="choice"><input type="radio" name="by" checked={each === name} onChange={() => (by.value = each)} /><span>{each}</span></label>)}
      </div>
      {reply && !reply.ok && <Problem error={reply.error} />}
      {reply?.ok && (
        <>
          <div class="result-formula" tabIndex={0} role="group" aria-label={`the derivative: ${reply.text}`}><Inline latex={`\\displaystyle ${repaintAxes(reply.latex, reply.axes ?? [])}`} /></div>
          {reply.why && <p class="quiet">{reply.why}</p>}
          <p><Copy text={reply.text} label="copy the text" /></p>
          <Checked reply={reply} name={name} />
          <h3>By rule</h3>
          <ol class="rules">
            {reply.steps.map((step, n) => <li key={n}><span class="rule">{step.latex_identity ? <Inline latex={repaintAxes(step.latex_identity, reply.axes ?? [])} /> : (step.identity ?? step.rule)}</span><div class="scroll" tabIndex={0} role="group" aria-label={step.text}><Inline latex={repaintAxes(step.latex, reply.axes ?? [])} /></div></li>)}
          </ol>
        </>
      )}
    </div>
  );
}
