// The axis that is summed collapses before one's eyes: numbers → products → one column, which is the result.

import { at, shown } from "./arrays.js";
import { record } from "./state.js";
import { wordOf } from "./tables.jsx";
import { Axis } from "./types.jsx";

const MOST = 8; // rows and columns that are shown
const SUMS = { "⊙": "·", "∑": "", mean: "", "∏": "", max: "", min: "" };
const DONE = { "⊙": "summed", "∑": "summed", mean: "averaged", "∏": "multiplied", max: "the largest", min: "the smallest" };

/** What collapses in a step, or null: the axes that its operands have and its result lacks. */
export function collapsing(step, steps, values) {
  const operands = (step?.operands ?? []).filter((each) => each !== null);
  if (!step || !(step.kind in SUMS) || operands.length !== (step.kind === "⊙" ? 2 : 1) || operands.some((each) => !values[each]) || !values[steps.indexOf(step)]) return null;
  const gone = (step.over ?? []).filter((axis) => !step.axes.some(([name]) => name === axis));
  const sizes = new Map(operands.flatMap((each) => steps[each].axes));
  if (gone.length === 0 || gone.some((axis) => !sizes.has(axis))) return null;
  const row = step.axes.find(([axis]) => sizes.has(axis)) ?? null;
  return { axis: [gone[0], sizes.get(gone[0])], others: gone.slice(1), row, operands, stages: step.kind === "⊙" ? 4 : 3 };
}

/** What one sees of it at a stage: 0 the numbers, 1 their products (of ⊙ alone), then sliding, then the result. */
export function Collapse({ step, steps, values, stage }) {
  const found = collapsing(step, steps, values);
  if (!found) return null;
  const { axis: [axis, size], row, operands, stages, others } = found;
  const columns = Array.from({ length: Math.min(size, MOST) }, (_, n) => n + 1);
  const rows = row ? Array.from({ length: Math.min(row[1], MOST) }, (_, n) => n + 1) : [null];
  const place = (r, c) => ({ ...record.value, ...(row && { [row[0]]: r }), ...(c && { [axis]: c }) });
  const number = (operand, r, c) => at(values[operand], steps[operand].axes, place(r, c));
  const product = (r, c) => operands.reduce((found, each) => found * number(each, r, c), 1);
  const due = stages - stage; // 2 sliding, 1 done
  const cell = (r, c) => (stage === 0 && operands.length > 1 ? operands.map((each) => shown(number(each, r, c), 3)).join(" · ") : shown(product(r, c), 3));
  const result = (r) => shown(at(values[steps.indexOf(step)], step.axes, place(r)), 4);
  const state = due === 1 ? "done" : due === 2 ? "sliding" : "apart";
  return (
    <figure class={`collapse ${state} ${stage === 0 && operands.length > 1 ? "pairs" : ""}`} aria-label={`${axis} is ${DONE[step.kind]} away`}>
      <div class="collapse-scroll" tabIndex={0} role="group" aria-label="how the axis collapses">
        <div class="collapse-row head" aria-hidden="true"><span class="collapse-name">{row && <Axis name={row[0]} />}</span>{columns.map((c) => <span key={c} class="collapse-cell" style={{ "--column": c - 1 }}>{c === 1 && <Axis name={axis} />} {wordOf(axis, c)}</span>)}</div>
        {rows.map((r) => (
          <div class="collapse-row" key={r}>
            <span class="collapse-name">{r && wordOf(row[0], r)}</span>
            {columns.map((c) => <span key={c} class="collapse-cell" style={{ "--column": c - 1 }}>{cell(r, c)}</span>)}
            {size > MOST && <span class="collapse-cell gap" style={{ "--column": MOST }}>…</span>}
            <output class="collapse-result">{result(r)}</output>
          </div>
        ))}
      </div>
      <figcaption class="quiet">
        {state === "done" ? <>{DONE[step.kind]} along <Axis name={axis} />: it is gone</> : stage === 0 && operands.length > 1 ? <>at each place of <Axis name={axis} />, multiply</> : <>along <Axis name={axis} />, {DONE[step.kind]}</>}
        {others.length > 0 && <> (and {others.join(", ")} at the first place)</>}
      </figcaption>
    </figure>
  );
}
