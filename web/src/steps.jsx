// Each step as one writes it on a blackboard: symbols, shapes, numbers at the record that the reader picks, a table.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { at, shown } from "./arrays.js";
import { Collapse, collapsing } from "./collapse.jsx";
import { repaint } from "./colors.js";
import { Inline } from "./formula.jsx";
import { sameSpan } from "./places.js";
import { ask } from "./python.js";
import { formula, lit, plan, record, results, step as chosen } from "./state.js";
import { Table, wordOf } from "./tables.jsx";
import { Axis, Name, Type } from "./types.jsx";

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The numbers of a template, filled in from the values of the steps. */
function filled(numbers, steps, values) {
  return numbers.map((each, n) => {
    if (typeof each === "string") return each;
    const value = values[each.step];
    const x = value ? at(value, steps[each.step].axes, each.at) : undefined;
    const [before, after] = [numbers[n - 1], numbers[n + 1]];
    const wrapped = x < 0 && ((typeof before === "string" && /[·/^√∏a-z] ?$/.test(before)) || (typeof after === "string" && /^ ?\^/.test(after)));
    return <b key={n}>{wrapped ? `(${shown(x, 3)})` : value ? shown(x, 3) : "?"}</b>;
  });
}

/** What Python writes of each step at the record. */
function useWritten() {
  const written = useSignal(null);
  const current = plan.value;
  const key = JSON.stringify(record.value);
  useEffect(() => {
    let stale = false;
    if (current) ask({ ask: "steps", ...formula(current.of), record: record.value }).then((reply) => !stale && (written.value = reply.ok ? { steps: reply.steps.map((each) => ({ ...each, latex_symbols: repaint(each.latex_symbols), latex_shapes: repaint(each.latex_shapes) })), of: current } : null)).catch(() => {});
    return () => (stale = true);
  }, [current, key]);
  return written.value?.of === current ? written.value.steps : null;
}

function Place({ axes }) {
  if (!axes.length) return "number";
  return <>at {axes.map(([axis, size], n) => <span key={axis}>{n > 0 && ", "}<Axis name={axis} />({wordOf(axis, Math.min(size, record.value[axis] ?? 1))})</span>)}</>;
}

function Detail({ number, current, steps, values, written, stage }) {
  const own = written?.find((each) => each.step === number);
  return (
    <div class="detail">
      {own && (own.shapes || own.numbers || own.latex_symbols !== current.latex) && (
        <dl>
          {own.latex_symbols !== current.latex && <><dt>symbols</dt><dd><Inline latex={own.latex_symbols} /></dd></>}
          {own.shapes && <><dt>shapes</dt><dd>{own.latex_shapes ? <Inline latex={own.latex_shapes} /> : own.shapes}</dd></>}
          {own.numbers && <><dt><Place axes={current.axes} /></dt><dd class="written">{filled(own.numbers, steps, values)} {values[number] && <span class="equals">= <b>{shown(at(values[number], current.axes, record.value), 4)}</b></span>}</dd></>}
        </dl>
      )}
      {stage !== null && <Collapse step={current} steps={steps} values={values} stage={stage} />}
      {values[number] ? <Table value={values[number]} axes={current.axes} caption={`the value of ${current.text ?? `step ${number + 1}`}`} copies /> : <p class="quiet">its numbers are too many to show</p>}
    </div>
  );
}

/** Scrolls the panel, where it scrolls by itself, and never the page. */
function bring(item) {
  const panel = item?.closest("[role=tabpanel]");
  if (!panel || panel.scrollHeight <= panel.clientHeight) return;
  const [above, below] = [item.offsetTop - panel.offsetTop - 70, item.offsetTop - panel.offsetTop + item.offsetHeight];
  if (panel.scrollTop > above) panel.scrollTop = above;
  else if (panel.scrollTop + panel.clientHeight < below) panel.scrollTop = Math.min(above, below - panel.clientHeight);
}

export function Steps() {
  const stage = useSignal(0);
  const playing = useSignal(false);
  const list = useRef(null);
  const written = useWritten();
  const found = results.value;
  const steps = found?.plan.steps ?? [];
  const number = Math.max(0, Math.min(chosen.value ?? 0, steps.length - 1));
  const current = steps[number];
  const shrinking = found && collapsing(current, steps, found.values);
  const last = shrinking ? shrinking.stages - 1 : 0;
  const go = (to) => {
    stage.value = 0;
    chosen.value = Math.max(0, Math.min(steps.length - 1, to));
    lit.value = steps[chosen.value]?.span ?? null;
  };
  const next = () => (shrinking && stage.value < last ? (stage.value += 1) : number < steps.length - 1 ? go(number + 1) : (playing.value = false));
  const back = () => (stage.value > 0 ? (stage.value -= 1) : go(number - 1));
  useEffect(() => {
    if (!playing.value || !found) return;
    const timer = setTimeout(next, calm() ? 2500 : shrinking ? 1300 : 1800);
    return () => clearTimeout(timer);
  });
  useEffect(() => bring(list.current?.querySelector(".open")), [number, stage.value]);
  if (!found) return <p class="quiet">The steps are shown here once the formula is valid.</p>;
  return (
    <div class="steps">
      <div class="row player" role="toolbar" aria-label="steps">
        <button type="button" onClick={back} disabled={number === 0 && stage.value === 0}>back</button>
        <button type="button" class="main" aria-pressed={playing.value} onClick={() => {
          playing.value = !playing.value;
          if (playing.value && number === steps.length - 1 && stage.value >= last) go(0);
        }}>{playing.value ? "pause" : "play"}</button>
        <button type="button" onClick={next} disabled={number === steps.length - 1 && stage.value >= last}>next</button>
        <span class="quiet">step {number + 1} of {steps.length}</span>
      </div>
      <ol ref={list}>
        {steps.map((each, n) => (
          <li key={n} class={`step ${sameSpan(lit.value, each.span) ? "lit" : ""} ${n === number ? "open" : ""}`}>
            <button
              type="button" class="step-head" aria-current={n === number ? "step" : undefined} aria-expanded={n === number}
              onClick={() => go(n)} onMouseEnter={() => (lit.value = each.span)} onMouseLeave={() => (lit.value = null)} onFocus={() => (lit.value = each.span)}
            >
              <span class="number">{n + 1}</span>
              {each.place.length > 0 && <span class="quiet place">{each.place.map((name, at) => <span key={at}>{at > 0 && " › "}<Name name={name} /></span>)}</span>}
              <Inline latex={each.latex} /> <Type axes={each.axes} />
            </button>
            {n === number && <Detail number={n} current={each} steps={steps} values={found.values} written={written} stage={shrinking ? Math.min(stage.value, last) : null} />}
          </li>
        ))}
      </ol>
    </div>
  );
}
