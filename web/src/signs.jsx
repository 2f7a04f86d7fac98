// A palette of signs, for who has no keyboard at hand or does not know the macros yet: one stop of Tab, arrows within.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

/** What is shown, what is put in, the caret's offset from its end, and what it is called. */
const SIGNS = [
  ["⊙", "⊙", 0, "⊙, a product; \\odot"], ["⊙ₐ", "⊙_{}", 1, "⊙ with an axis, a contraction"], ["∑ₐ", "∑_{} ", 2, "a sum over an axis; \\sum"], ["xₐ", "_{}", 1, "a subscript, which names axes"],
  ["a→b", "_{→}", 2, "a renaming; \\to"], ["√", "√", 0, "a root; \\sqrt"], ["xⁿ", "^{}", 1, "a superscript"], ["|a|", "||", 1, "the size of an axis"],
  ["∈", " ∈ ", 0, "is in; \\in"], ["ℝ", "ℝ^{}", 1, "tensors of real numbers; \\reals"], ["×", " × ", 0, "between axes; \\times"], ["∂", "∂", 0, "a derivative; \\partial"],
  ["𝕀", "𝕀[]", 1, "1 where a condition holds, else 0"], ["≤", " ≤ ", 0, "at most; \\le"], ["σ", "σ", 0, "the sigmoid; \\sigma"],
];

export function Signs({ onPut }) {
  const bar = useRef(null);
  const at = useSignal(0);
  const move = (event) => {
    const to = { ArrowRight: at.value + 1, ArrowLeft: at.value - 1, Home: 0, End: SIGNS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    at.value = (to + SIGNS.length) % SIGNS.length;
    bar.current.children[at.value].focus();
  };
  return (
    <div class="signs" role="toolbar" aria-label="signs" ref={bar} onKeyDown={move}>
      {SIGNS.map(([shown, put, back, title], n) => (
        <button type="button" key={put} title={title} aria-label={`${shown}: ${title}`} tabIndex={n === at.value ? 0 : -1} onFocus={() => (at.value = n)} onClick={() => onPut(put, back)}>{shown}</button>
      ))}
    </div>
  );
}
