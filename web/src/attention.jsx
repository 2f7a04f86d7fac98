// Attention as words and lines: a word is clicked, and the lines show how much it looks at each other word.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { at } from "./arrays.js";
import { labels, record, results } from "./state.js";
import { Axis } from "./types.jsx";

const LINE_WIDTH = 14; // pixels of a weight of 1
const MAX_WORDS = 24;

/** The last step that is weights between the words of two axes: {step, value, from, to}, or null. */
function weights(found) {
  const words = (axis, size) => labels.value[axis]?.length === size;
  for (let n = (found?.plan.steps.length ?? 0) - 1; n >= 0; n--) {
    const step = found.plan.steps[n];
    if (step.kind !== "softmax" || step.axes.length !== 2 || step.over.length !== 1 || !found.values[n]) continue;
    if (!step.axes.every(([axis, size]) => size <= MAX_WORDS && words(axis, size))) continue;
    const to = step.over[0];
    return { step, value: found.values[n], to, from: step.axes.find(([axis]) => axis !== to)[0] };
  }
  return null;
}

/** Where the words are, in pixels of the box, measured once they are laid out. */
function usePlaces(box, count) {
  const places = useSignal(null);
  useLayoutEffect(() => {
    const measure = () => {
      const frame = box.current.getBoundingClientRect();
      const side = (selector, edge) => [...box.current.querySelectorAll(selector)].map((each) => {
        const { [edge]: x, top, height } = each.getBoundingClientRect();
        return [x - frame.left, top - frame.top + height / 2];
      });
      places.value = { from: side(".from button", "right"), to: side(".to li", "left"), width: frame.width, height: frame.height };
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [count]);
  return places.value;
}

function Lines({ places, chosen, row }) {
  const [x, y] = places.from[chosen - 1];
  return (
    <svg class="lines" width={places.width} height={places.height} aria-hidden="true">
      {places.to.map(([right, height], n) => {
        const middle = (x + right) / 2;
        return <path key={n} d={`M${x} ${y} C${middle} ${y} ${middle} ${height} ${right} ${height}`} style={{ strokeWidth: `${Math.max(0.5, row[n] * LINE_WIDTH)}px`, opacity: 0.15 + 0.75 * row[n] }} />;
      })}
    </svg>
  );
}

function Map({ step, value, from, to }) {
  const box = useRef(null);
  const words = labels.value[from];
  const places = usePlaces(box, words.length);
  const chosen = Math.min(words.length, record.value[from] ?? 1);
  const row = labels.value[to].map((_, n) => at(value, step.axes, { ...record.value, [from]: chosen, [to]: n + 1 }));
  const most = row.indexOf(Math.max(...row));
  return (
    <section class="attention" aria-label="attention between words">
      <p class="quiet">Click a word on the left. The lines show how it divides its attention.</p>
      <div class="words" ref={box}>
        <ol class="from" aria-label={`words of ${from}`}>
          {words.map((word, n) => <li key={n}><button type="button" aria-pressed={chosen === n + 1} onClick={() => (record.value = { ...record.value, [from]: n + 1 })}>{word}</button></li>)}
        </ol>
        {places?.from.length === words.length && places.to.length === row.length && <Lines places={places} chosen={chosen} row={row} />}
        <ol class="to" aria-label={`weights over ${to}`}>
          {labels.value[to].map((word, n) => <li key={n} style={{ "--weight": `${Math.round(row[n] * 100)}%` }}>{word} <span class="percent">{Math.round(row[n] * 100)}%</span></li>)}
        </ol>
      </div>
      <p class="quiet under-words"><Axis name={from} /><Axis name={to} /></p>
      <p class="hidden" aria-live="polite">{`${words[chosen - 1]} looks most at ${labels.value[to][most]}, ${Math.round(row[most] * 100)} percent`}</p>
    </section>
  );
}

export function Attention() {
  const found = weights(results.value);
  return found && <Map {...found} />;
}
