// The value of the whole, the assertions, and the values of names.

import { unlike } from "./arrays.js";
import { results } from "./state.js";
import { heat, Table } from "./tables.jsx";
import { Type } from "./types.jsx";

const WIDE = 5; // columns; of more, fewer digits are shown
const digitsOf = (axes) => ((axes.at(-1)?.[1] ?? 0) > WIDE ? 3 : 5);

export function Value() {
  const found = results.value;
  if (!found) return <p class="quiet">The value is shown here once the formula is valid.</p>;
  const { steps, value, assertions = [] } = found.plan;
  const step = steps[value];
  return (
    <div>
      <div class="row"><p class="big">{step && <Type axes={step.axes} />}</p><label class="switch"><input type="checkbox" checked={heat.value} onChange={(event) => (heat.value = event.currentTarget.checked)} /> heat map</label></div>
      {step && <Table value={found.values[value]} axes={step.axes} caption="the value" digits={digitsOf(step.axes)} copies />}
      {assertions.map((assertion) => {
        const [{ left, right }, { arrays }] = [assertion, found];
        const [wrong, all] = [unlike(arrays[left.result], left.axes, arrays[right.result], right.axes)?.size, arrays[right.result].data.length];
        return <p key={assertion.span.join()} class={wrong ? "wrong" : "right"}>{wrong ? `the assertion fails at ${wrong} of ${all} positions` : `the assertion holds at all ${all} positions of these numbers`}</p>;
      })}
    </div>
  );
}
