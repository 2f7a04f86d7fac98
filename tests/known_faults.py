"""Constructs that the package gets wrong, and why: the drawn programs keep off them. The table only shrinks."""

from __future__ import annotations

KNOWN: dict[str, str] = {
    "start with a parameter": "a start of a family of a function that mentions its parameter is not taken as the function's",
    "whole numbers wrap": "whole numbers that a formula makes are int64 and wrap",
    "narrow whole numbers": "integers narrower than 64 bits are not widened before arithmetic",
    "case not taken": "the derivative of a case is nan where the branch not taken has none",
    "reference's derivatives": "the reference evaluator forgets what a definition between depends on",
    "slope of norm ∞": "the differential of norm is that of finite p",
    "slope of std at nought": "the differential of std divides by std",
    "windows twice": "a second derivative through unroll is refused",
    "size of what is made": "the size of an axis that a split, rename or literal makes is not known",
    "slices": "X_{seq(a:b)} is not read",
    "sizes outside": "a definition outside of a function takes the sizes of the call that it is mentioned in",
    "derivative through an argument": "a derivative by a name outside of a function sees it in the function's arguments",
    "uint16 on PyTorch": "PyTorch has no arithmetic for it, and its error comes bare",
}
