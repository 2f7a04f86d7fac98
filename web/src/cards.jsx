// Four examples with pictures, for first-time visitors. The pictures are drawn from the examples' numbers.

import { signal } from "@preact/signals";
import { examples } from "./header.jsx";
import { keep, recall } from "./storage.js";
import { open, step, tab } from "./state.js";

export const closed = signal(recall("cards closed", false));
const WIDTH = 96;
const HEIGHT = 60;

/** A matrix as a picture: the stronger a number, the fuller its cell. */
function Cells({ rows }) {
  const most = Math.max(...rows.flat().map(Math.abs)) || 1;
  const side = Math.min(HEIGHT / rows.length, WIDTH / rows[0].length);
  const [left, top] = [(WIDTH - side * rows[0].length) / 2, (HEIGHT - side * rows.length) / 2];
  return rows.map((row, r) => row.map((x, c) => (
    <rect key={`${r} ${c}`} class={x < 0 ? "cold" : "warm"} x={left + c * side} y={top + r * side} width={side - 0.8} height={side - 0.8} opacity={0.08 + (0.92 * Math.abs(x)) / most} />
  )));
}

const softmax = (row) => {
  const exponentials = row.map((x) => Math.exp(x - Math.max(...row)));
  const total = exponentials.reduce((a, b) => a + b, 0);
  return exponentials.map((x) => x / total);
};
const dot = (a, b) => a.reduce((sum, x, n) => sum + x * b[n], 0);

function Flowers({ X, C }) {
  const all = [...X, ...C];
  const [low, high] = [0, 1].map((at) => [Math.min(...all.map((row) => row[at])), Math.max(...all.map((row) => row[at]))]);
  const place = (row) => [10 + ((row[0] - low[0]) / (low[1] - low[0])) * (WIDTH - 20), HEIGHT - 8 - ((row[1] - high[0]) / (high[1] - high[0])) * (HEIGHT - 16)];
  const nearest = (row) => C.map((center, n) => [Math.hypot(row[0] - center[0], row[1] - center[1]), n]).sort((a, b) => a[0] - b[0])[0][1];
  return (
    <>
      {X.map((row, n) => <circle key={n} class={`fill-${nearest(row)}`} cx={place(row)[0]} cy={place(row)[1]} r="3.4" />)}
      {C.map((row, n) => <path key={n} class={`line-${n}`} d={`M${place(row)} m-4 -4 l8 8 m0 -8 l-8 8`} stroke-width="2" fill="none" />)}
    </>
  );
}

const CARDS = { // by the name of the example: what it says, and its picture
  sentence: ["Attention", "Click a word: what does it look at?", ({ Q, K }) => <Cells rows={Q.map((q) => softmax(K.map((k) => dot(q, k) / Math.sqrt(q.length))))} />],
  kmeans: ["Clusters", "Which center is each flower closest to?", (values) => <Flowers {...values} />],
  edges: ["Image filter", "A kernel slides over a picture and finds its edges.", ({ I }) => <Cells rows={I} />],
  jacobian: ["Derivative", "How each output of softmax depends on each input.", ({ X }) => {
    const p = softmax(X);
    return <Cells rows={p.map((x, i) => p.map((y, j) => (i === j ? x - x * y : -x * y)))} />;
  }],
};

export function Cards() {
  const found = Object.keys(CARDS).map((name) => examples.value.find((each) => each.name === name)).filter(Boolean);
  if (closed.value || tab.value === "exercise" || found.length === 0) return null;
  const choose = (example) => {
    open(example);
    tab.value = example.name === "edges" || example.name === "kmeans" ? "value" : "steps";
    step.value = null;
  };
  const close = () => {
    closed.value = true;
    keep("cards closed", true);
  };
  return (
    <section class="cards" aria-label="examples to begin with">
      {found.map((example) => {
        const [title, said, Picture] = CARDS[example.name];
        return (
          <button key={example.name} type="button" class="card" onClick={() => choose(example)}>
            <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true"><Picture {...example.values} /></svg>
            <span><b>{title}</b><span class="quiet">{said}</span></span>
          </button>
        );
      })}
      <button type="button" class="close" aria-label="hide these examples" onClick={close}>×</button>
    </section>
  );
}
