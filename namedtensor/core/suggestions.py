"""Suggest repairs in errors: the closest known names, and the equivalents of names from other libraries.

For example, `near("sofmax", ["softmax", "max"])` returns `["softmax", "max"]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from grammar.errors import Hint

LONGEST = 60  # Longer names are not compared.

FUNCTION = "a function is defined by an equation: f(t) = t + 1"
RESULT = "the last line is the result: write it alone"

CREATED_OPERATORS: WeakValueDictionary[str, Any] = (
    WeakValueDictionary()
)  # Maps names to the operators that `nt.operator` has created.

ELSEWHERE = {
    "axis": "axes are named in the subscript: softmax_{seq} X",
    "dim": "axes are named in the subscript: softmax_{seq} X",
    "grad": "a gradient is a derivative with respect to a name: ∂L/∂W*",
    "gradient": "a gradient is a derivative with respect to a name: ∂L/∂W*",
    "jacobian": "a derivative with respect to a name has the axes of both: ∂Y/∂X*",
    "einsum": "a contraction is written A ⊙_{axis} B",
    "matmul": "a contraction is written A ⊙_{axis} B",
    "dot": "a contraction is written A ⊙_{axis} B",
    "tensordot": "a contraction is written A ⊙_{axis} B",
    "transpose": "axes have names and no order: rename them, X_{a→b, b→a}",
    "T": "axes have names and no order: rename them, X_{a→b, b→a}",
    "top": "axes have names and no order: rename them, X_{a→b, b→a}",
    "reshape": "axes are merged and split by name: X_{(a,b)→c}, X_{c→(a,b)}",
    "flatten": "axes are merged by name: X_{(a,b)→c}",
    "average": "the average over an axis is mean_{axis} X",
    "len": "the size of an axis is |axis|",
    "import": "nothing needs importing: the built-in functions are there",
    "lambda": FUNCTION,
    "def": FUNCTION,
    "let": "an equation defines a name as it is: Y = X + 1",
    "return": RESULT,
    "print": RESULT,
    "choose": "n choose k is ∏_{i=1}^{k} (n − k + i) / i",
    "True": "a condition is written 1 = 1",
    "None": "there is no empty value in the notation",
    "exp2": "a power is written 2^x",
    "log2": "write log_2 x",
    "pinv": "if the columns c of A with rows r are independent, write inv_{c,c'}(A ⊙_{r} A_{c→c'}) ⊙_{c'} A_{c→c'}",
    "tr": "a trace is trace_{rows,columns} X",
    "E": "an average over an axis is mean_{axis} X, and one with weights p ⊙_{axis} X",
    "Var": "a variance over an axis is var_{axis} X",
    "Pr": "a probability is a tensor: p ∈ [0, 1]^{a}, p(B | A) ∈ [0, 1]^{A × B}",
    "factorial": "a factorial is ∏_{i=1}^{n} i",
    "arange": "the numbers 1 to |axis| are iota_{axis}",
    "eye": "an identity is I_{ax,ax'}",
    "hstack": "tensors are joined by X ⊕_{axis} Y",
    "concatenate": "tensors are joined by X ⊕_{axis} Y",
    "eps": "the small number of standardize is ε, or epsilon",
    "softmax2d": "write softmax_{height, width} X",
    "Σ": "the sign of a sum is ∑, or sum: ∑_{axis} X; a tensor Σ is given a value",
    "Π": "the sign of a product is ∏, or prod: ∏_{axis} X; a tensor Π is given a value",
    "⊗": "of tensors whose axes are distinct, X ⊙ Y is the outer product; or define it: X ⊗ Y = …",
}


def near(name: str, known: Iterable[str], most: int = 2, cutoff: float = 0.65) -> list[str]:
    """Return at most `most` similar names. Names that differ only in case or in final primes and stars come first."""
    if len(name) > LONGEST:
        return []
    candidates = [other for other in dict.fromkeys(known) if other != name and len(other) <= LONGEST]
    alike = [other for other in candidates if bare(other) == bare(name)]
    import difflib

    close = difflib.get_close_matches(name, candidates, n=most, cutoff=cutoff)
    return list(dict.fromkeys((*alike, *close)))[:most]


def bare(name: str) -> str:
    return name.casefold().rstrip("'*†")


class Suggestion(Hint):
    """A hint that suggests similar names."""


def did_you_mean(names: list[str]) -> Suggestion | None:
    return Suggestion(f"did you mean {' or '.join(names)}?", *names) if names else None


def no_attribute(whose: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for an unknown attribute. It stores the name so that Python does not add its own suggestion.

    >>> no_attribute("a formula", "chekc", ["check", "explain"])
    AttributeError("a formula has no attribute 'chekc'; did you mean check?")
    """
    hint = did_you_mean(near(name, known))
    return AttributeError(f"{whose} has no attribute {name!r}" + (f"; {hint}" if hint else ""), name=name)


class Suggests:
    """A mix-in for errors about unknown attributes, which suggest the closest public names."""

    if not TYPE_CHECKING:  # A type checker still reports unknown attributes.

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # Python looks up these names, for example when it copies an object.
                raise AttributeError(name)
            raise no_attribute(f"this {type(self).__name__}", name, [name for name in dir(self) if name[:1] != "_"])
