// An exercise as grids: small inputs, the expected value, and the value of the answer beside it with its wrong cells framed.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sizesOf } from "./arrays.js";
import { exerciseAxes } from "./colors.js";
import { ask } from "./python.js";
import { Table } from "./tables.jsx";
import { Name, Type } from "./types.jsx";

const COLORS = 8;
const DIGITS = 3;
const seen = signal(null); // {of, inputs, expected}

/** Numbers of a reply as the tables take them; what JSON cannot express is undefined. */
const valueOf = ({ axes, data }) => ({ shape: sizesOf(axes), data: Float64Array.from(data, (x) => x ?? NaN) });

function colored(found) {
  const names = new Map([...found.inputs, ...(found.expected ? [found.expected] : [])].flatMap(({ axes }) => axes));
  return [...names].map(([name, size], n) => ({ name, size, color: n % COLORS, underlined: n >= COLORS }));
}

/** Asks for what the exercise is seen on; its axes have colors of their own while it is shown. */
function useDrawing(file, name) {
  useEffect(() => {
    let stale = false;
    ask({ ask: "drawing", file, name }).then((reply) => {
      if (stale || !reply.ok) return;
      seen.value = { ...reply, of: name };
      exerciseAxes.value = colored(reply);
    }, () => {});
    exerciseAxes.value = [];
    return () => {
      stale = true;
      seen.value = exerciseAxes.value = null;
    };
  }, [file, name]);
  return seen.value?.of === name ? seen.value : null;
}

function Grid({ title, name, axes, data, differs }) {
  return (
    <section class="side" aria-label={title}>
      <h3>{name ? <><span class="name"><Name name={name} /></span> ∈ </> : `${title} `}<Type axes={axes} /></h3>
      <Table value={valueOf({ axes, data })} axes={axes} caption={title} digits={DIGITS} differs={differs} />
    </section>
  );
}

function Own({ own }) {
  const wrong = own.differs && new Set(own.differs);
  return (
    <>
      <Grid title="your value" axes={own.axes} data={own.data} differs={wrong && ((at) => wrong.has(at))} />
      <p class="quiet">{wrong === null ? "Your value has other axes." : wrong.size ? `${wrong.size} of ${own.data.length} ${own.data.length === 1 ? "element differs" : "elements differ"}.` : "On these numbers, your value is the expected one."}</p>
    </>
  );
}

export function Drawing({ file, exercise, own }) {
  const found = useDrawing(file, exercise.name);
  if (!found?.expected) return null;
  return (
    <div class="drawing">
      {found.inputs.map((input) => <Grid key={input.name} title={`input ${input.name}`} {...input} />)}
      <Grid title="expected" {...found.expected} />
      {own && <Own own={own} />}
    </div>
  );
}
