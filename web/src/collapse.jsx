// The axis that is summed collapses before one's eyes: numbers → products → one column, which is the result.

import { at, shown } from "./arrays.js";
import { record } from "./state.js";
import { wordOf } from "./tables.jsx";
import { Axis } from "./types.jsx";

const MOST = 12; // rows and columns that are shown
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
  const places = gone.reduce((found, axis) => found.flatMap((place) => Array.from({ length: sizes.get(axis) }, (_, n) => ({ ...place, [axis]: n + 1 }))), [{}]);
  return { gone, places, row, operands, stages: step.kind === "⊙" ? 4 : 3 };
}

const Axes = ({ names }) => names.map((name, n) => [n > 0 && ", ", <Axis key={name} name={name} />]);
const wrapped = (x, n) => (n > 0 && x < 0 ? `(${shown(x, 3)})` : shown(x, 3));

/** What one sees of it at a stage: 0 the numbers, 1 their products (of ⊙ alone), then sliding, then the result. */
export function Collapse({ step, steps, values, stage }) {
  const found = collapsing(step, steps, values);
  if (!found) return null;
  const { gone, places, row, operands, stages } = found;
  const columns = places.slice(0, MOST);
  const rows = row ? Array.from({ length: Math.min(row[1], MOST) }, (_, n) => n + 1) : [null];
  const place = (r, c) => ({ ...record.value, ...(row && { [row[0]]: r }), ...c });
  const number = (operand, r, c) => at(values[operand], steps[operand].axes, place(r, c));
  const product = (r, c) => operands.reduce((found, each) => found * number(each, r, c), 1);
  const due = stages - stage; // 2 sliding, 1 done
  const cell = (r, c) => (stage === 0 && operands.length > 1 ? operands.map((each, n) => wrapped(number(each, r, c), n)).join(" · ") : shown(product(r, c), 3));
  const result = (r) => shown(at(values[steps.indexOf(step)], step.axes, place(r)), 4);
  const state = due === 1 ? "done" : due === 2 ? "sliding" : "apart";
  return (
    <figure class={`collapse ${state} ${stage === 0 && operands.length > 1 ? "pairs" : ""}`} aria-label={`${gone.join(", ")}: ${DONE[step.kind]}`}>
      <div class="collapse-scroll" tabIndex={0} role="group" aria-label="how the axis collapses">
        <div class="collapse-row head" aria-hidden="true"><span class="collapse-name">{row && <Axis name={row[0]} />}</span>{columns.map((c, n) => <span key={n} class="collapse-cell" style={{ "--column": n }}>{gone.map((axis) => <span key={axis}>{n === 0 && <Axis name={axis} />} {wordOf(axis, c[axis])} </span>)}</span>)}</div>
        {rows.map((r) => (
          <div class="collapse-row" key={r}>
            <span class="collapse-name">{r && wordOf(row[0], r)}</span>
            {columns.map((c, n) => <span key={n} class="collapse-cell" style={{ "--column": n }}>{cell(r, c)}</span>)}
            {places.length > MOST && <span class="collapse-cell gap" style={{ "--column": MOST }}>…</span>}
            <output class="collapse-result">{result(r)}</output>
          </div>
        ))}
      </div>
      <figcaption class="quiet">
        {state === "done" ? <>{DONE[step.kind]} along <Axes names={gone} />, which {gone.length > 1 ? "are" : "is"} gone</> : stage === 0 && operands.length > 1 ? <>at each place of <Axes names={gone} />, multiply</> : <>along <Axes names={gone} />: {DONE[step.kind]}</>}
      </figcaption>
    </figure>
  );
}
