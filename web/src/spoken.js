// What a screen reader says of a formula: names of operators and axes are words, where KaTeX writes a letter after another.

const UPRIGHT = new Set(["normal", "sans-serif"]);

/** Joins the letters of each upright word in the MathML of a formula that is set. */
export function joinWords(root) {
  for (const letter of root.querySelectorAll(".katex-mathml mi[mathvariant]")) {
    const variant = letter.getAttribute("mathvariant");
    if (!letter.parentNode || !UPRIGHT.has(variant)) continue; // joined already
    for (let next; (next = letter.nextElementSibling)?.localName === "mi" && next.getAttribute("mathvariant") === variant; next.remove()) letter.textContent += next.textContent;
  }
}
