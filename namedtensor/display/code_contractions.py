"""Array expressions of contractions, reductions, functions along axes and matrix functions. See `code`.

The table `RULES` maps each operator to the rule that writes its terms as array expressions.
"""

from __future__ import annotations

from typing import Any

from ..operators import REGISTRY
from ..terms.terms import Term
from . import code_elements as elements
from .code_arrays import ArrayWriter
from .code_elements import Rule, call_of, infix, operand, parameter, whole
from .code_libraries import INFIX, PRODUCT, CodeExpression


# ------------------------------------------------------------------------------------------------------------- products
def contraction(w: ArrayWriter, term: Term) -> CodeExpression:
    if not term.axes:
        return infix(w, term)
    first, second = (whole(w, argument) for argument in term.arguments)
    if w.library.prefix == "torch" or not (first.integer and second.integer):
        first, second = w.real(first), w.real(second)
    return (
        write_matrix_product(w, term, first, second)
        or write_matrix_product(w, term, second, first, True)
        or write_einsum(w, term, first, second)
    )


def write_matrix_product(
    w: ArrayWriter, term: Term, first: CodeExpression, second: CodeExpression, only_vector: bool = False
) -> CodeExpression | None:
    """Return a product as A @ B, or None if it does not have this form.

    A or B can be a vector, and A can have more leading axes.
    """
    if len(term.axes) != 1 or {*first.axes} & {*second.axes} != {*term.axes} or len(second.axes) > 2:
        return None
    (axis,) = term.axes
    if not only_vector and len(first.axes) == 1 and len(second.axes) == 2 and second.axes[-1] == axis:
        return None  # The caller writes K @ Q rather than Q @ K.T.
    if only_vector and len(second.axes) != 1:
        return None
    if first.axes[-1] != axis and len(first.axes) > 2:
        return None
    left = w.arranged(first, (*rest_of(first, term.axes), axis))
    right = w.arranged(second, (axis, *rest_of(second, term.axes)))
    axes = (*rest_of(first, term.axes), *rest_of(second, term.axes))
    return CodeExpression(f"{left:product} @ {right:atom}", axes, PRODUCT)


def write_einsum(w: ArrayWriter, term: Term, first: CodeExpression, second: CodeExpression) -> CodeExpression:
    letters: dict[str, str] = {}
    for axis in dict.fromkeys((*first.axes, *second.axes)):
        expected = [letter for letter in axis.lower() if letter.isascii() and letter.isalpha()]
        letters[axis] = next(
            letter for letter in (*expected, *"ijklmnopqrstuvwxyzabcdefgh") if letter not in letters.values()
        )
    axes = tuple(axis for axis in letters if axis not in term.axes)
    spelled = ["".join(letters[axis] for axis in names) for names in (first.axes, second.axes, axes)]
    text = f'{w.library.prefix}.einsum("{spelled[0]},{spelled[1]}->{spelled[2]}", {first}, {second})'
    return CodeExpression(text, axes)


# ------------------------------------------------------------------------------------------------------- along axes
def rest_of(code: CodeExpression, axes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(axis for axis in code.axes if axis not in axes)


def positions(code: CodeExpression, axes: tuple[str, ...]) -> Any:
    places = tuple(sorted(code.axes.index(axis) for axis in axes))
    return places[0] if len(places) == 1 else places


INTEGRAL = ("sum", "prod", "max", "min", "any", "all")  # for integers, their results are integers or truth values


def reduction(name: str) -> Rule:
    def rule(w: ArrayWriter, term: Term) -> CodeExpression:
        code = operand(w, term)
        if not term.axes:
            return code
        places, p = positions(code, term.axes), parameter(term)
        torch = w.library.prefix == "torch"
        is_plain_norm = name == "norm" and (torch or (p == 2 and len(term.axes) == 2))
        one_axis = name in ("norm", "quantile", "median") or (name == "prod" and torch)
        if isinstance(places, tuple) and one_axis and not is_plain_norm:
            raise w.unreadable(term)
        code = code if name in INTEGRAL else w.real(code)
        chosen = "norm p" if name == "norm" and p != 2 else name
        return w.call(term, chosen, rest_of(code, term.axes), code, axis=places, p=p, integer=code.integer)

    return rule


def extremum(name: str) -> Rule:
    over = reduction(name)

    def rule(w: ArrayWriter, term: Term) -> CodeExpression:
        if len(term.arguments) == 1:
            return over(w, term)
        codes = tuple(w.code(argument) for argument in term.arguments)
        if w.library.prefix == "torch" and not all(code.axes for code in codes):
            raise w.unreadable(term, "torch.maximum takes tensors")
        codes = codes if all(code.integer for code in codes) else tuple(map(w.real, codes))
        return call_of(w, term, f"{name} two", codes)

    return rule


def write_along(w: ArrayWriter, term: Term) -> CodeExpression:
    """Return the code of a function along axes whose result has the same axes as its operand."""
    code = w.real(operand(w, term))
    places, name, p = positions(code, term.axes), term.operator, parameter(term)
    by_helper = name in ("standardize", "argmax", "argmin")
    if isinstance(places, tuple) and w.library.prefix == "torch" and not by_helper:
        raise w.unreadable(term)
    if name == "standardize" and p != 1e-5:
        name = "standardize eps"
    return w.call(term, name, code.axes, code, axis=places, p=p)


def write_matrix_function(w: ArrayWriter, term: Term) -> CodeExpression:
    """Return the code of a matrix function. The matrices are moved to the last two dimensions."""
    code, rows = operand(w, term), tuple(term.axes)
    rest = rest_of(code, rows)
    axes = (*rest, *(axis for axis in rows if axis in term.shape))
    return w.call(term, term.operator, axes, w.arranged(code, (*rest, *rows)))


def write_solve(w: ArrayWriter, term: Term) -> CodeExpression:
    matrix, right = (whole(w, argument) for argument in term.arguments)
    row, column = term.axes
    if len(matrix.axes) != 2 or len(right.axes) > 2:
        raise w.unreadable(term)
    rest = rest_of(right, (row,))
    return w.call(term, "solve", (column, *rest), w.arranged(matrix, (row, column)), w.arranged(right, (row, *rest)))


REDUCTIONS = {"∑": "sum", "∏": "prod"} | {
    name: name for name in ("mean", "var", "std", "norm", "logsumexp", "any", "all", "quantile", "median")
}
RULES: dict[str, Rule] = {
    **{record.name: elements.elementwise for record in REGISTRY.values() if record.kind == "elementwise"},
    **dict.fromkeys(INFIX, infix), **dict.fromkeys(("identity", "I"), elements.size_rule("eye")),
    **dict.fromkeys(("variable", "spread"), elements.through), **dict.fromkeys(("where", "cases"), elements.cases),
    **dict.fromkeys(("⊕", "concat"), elements.write_concatenation), **dict.fromkeys(("⊙", "dot", "juxtaposed"), contraction),
    "number": elements.number, "iota": elements.iota, "ones": elements.size_rule("ones"), "constant": elements.constant,
    "negative": elements.negative, "¬": elements.negation, "indicator": elements.indicator, "rename": elements.write_rename,
    "pick": elements.write_pick, "merge": elements.write_merge, "split": elements.split, "index": elements.write_index,
    "onehot": elements.onehot, "unroll": elements.windows, "pool": elements.blocks,
    **{name: reduction(plain) for name, plain in REDUCTIONS.items()}, "max": extremum("max"), "min": extremum("min"),
    **dict.fromkeys(("softmax", "logsoftmax", "argmax", "argmin", "standardize", "cumsum", "cumprod", "sort"), write_along),
    **dict.fromkeys(("det", "inv", "trace", "logdet", "cholesky", "eigvalsh"), write_matrix_function), "solve": write_solve,
}  # fmt: skip
