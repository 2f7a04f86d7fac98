// Types and names of axes, written: ℝ^{seq[5] × key[4]}, each axis in its color.

import { tint } from "./colors.js";

export const Axis = ({ name }) => <span class={tint(name)}>{name}</span>;

const SETS = { integers: "ℤ", naturals: "ℕ", count: ([most]) => `[${most}]`, interval: ([low, high]) => `[${low}, ${high}]`, elements: (all) => `{${all.join(", ")}}` };

/** The set of the elements, as a declaration says it. */
export function setOf(domain) {
  const found = SETS[domain?.kind] ?? "ℝ";
  return typeof found === "string" ? found : found(domain.bounds);
}

/** A type with its sizes; its text is what one would write. */
export function Type({ axes, set = "ℝ" }) {
  if (!axes?.length) return <span class="type">{set}</span>;
  return (
    <span class="type" aria-label={typeText(axes, set)} role="img">
      {set}<sup aria-hidden="true">{axes.map(([axis, size], n) => [n > 0 && " × ", <Axis key={axis} name={axis} />, size !== null && <span class="size">[{size}]</span>])}</sup>
    </span>
  );
}

/** The plain text of a type. */
export const typeText = (axes, set = "ℝ") => (axes.length ? `${set}^{${axes.map(([axis, size]) => `${axis}[${size ?? "?"}]`).join(" × ")}}` : set);

/** A name as it is written by hand: W^Q with its Q above. */
export const Name = ({ name }) => name.split(/(?=[_^])/).map((part, n) => (part[0] === "^" ? <sup key={n}>{part.slice(1)}</sup> : part[0] === "_" ? <sub key={n}>{part.slice(1)}</sub> : part));
