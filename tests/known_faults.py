"""Constructs that the package gets wrong, and why: the drawn programs keep off them. The table only shrinks."""

from __future__ import annotations

KNOWN: dict[str, str] = {
    "slices": "X_{seq(a:b)} is not read",
    "own axes of g_{ax}": "an axis that the body of g_{ax} uses meets the axis of the use, where both have one name",
    "marks of ax": "ax* in the body of g_{ax} is no mark on what ax stands for",
    "size alone": "h^0 = |a| and f(X) = |a| are taken as facts of sizes, and define nothing",
    # This one is meant so, and it is the evaluator here that does not know it.
    "sizes outside": "a definition outside of a function takes the sizes of the call that it is mentioned in",
    "families of one base": "h_1^t of one function and h_2^t of another are taken for each other's, by the order of statements",
    "ax in a fact alone": "g_{ax} takes an axis only where its body says so, or a fact just below its head",
}
