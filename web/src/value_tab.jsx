// The value of the whole, what is claimed to be equal, and the values of names.

import { sizesOf } from "./arrays.js";
import { results } from "./state.js";
import { heat, Table } from "./tables.jsx";
import { Type } from "./types.jsx";

const near = (x, y) => x === y || (Number.isNaN(x) && Number.isNaN(y)) || Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(x), Math.abs(y));

/** Two results in one order of axes, compared number by number. */
function agree(left, right, arrays) {
  const [a, b] = [arrays[left.result], arrays[right.result]];
  const order = right.axes.map(([axis]) => left.axes.findIndex(([name]) => name === axis));
  const [from, to] = [sizesOf(left.axes), sizesOf(right.axes)];
  let wrong = 0;
  for (let n = 0; n < b.data.length; n++) {
    const places = [];
    for (let axis = to.length - 1, rest = n; axis >= 0; axis--) [places[axis], rest] = [rest % to[axis], Math.floor(rest / to[axis])];
    const own = from.map((_, axis) => places[order.indexOf(axis)] ?? 0);
    if (!near(a.data[own.reduce((sum, place, axis) => sum * from[axis] + place, 0)], b.data[n])) wrong++;
  }
  return { wrong, all: b.data.length };
}

export function Value() {
  const found = results.value;
  if (!found) return <p class="quiet">The value stands here when the formula is right.</p>;
  const { steps, value, claims = [] } = found.plan;
  const step = steps[value];
  return (
    <div>
      <div class="row"><p class="big">{step && <Type axes={step.axes} />}</p><label class="switch"><input type="checkbox" checked={heat.value} onChange={(event) => (heat.value = event.currentTarget.checked)} /> heat map</label></div>
      {step && <Table value={found.values[value]} axes={step.axes} caption="the value" digits={5} />}
      {claims.map((claim) => {
        const { wrong, all } = agree(claim.left, claim.right, found.arrays);
        return <p key={claim.span.join()} class={wrong ? "wrong" : "right"}>{wrong ? `the claim fails at ${wrong} of ${all} places` : `the claim holds at all ${all} places of these numbers`}</p>;
      })}
    </div>
  );
}
