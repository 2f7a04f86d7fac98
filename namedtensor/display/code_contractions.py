"""How contractions, reductions, functions along axes and functions of matrices are written as array expressions; see `code`."""

from __future__ import annotations

from typing import Any

from ..terms.terms import Term
from .code_arrays import ArrayWriter
from .code_elements import Rule, infix, operand, order_of, parameter, whole
from .code_libraries import ATOM, PRODUCT, CodeExpression


# ------------------------------------------------------------------------------------------------------------- products
def contraction(w: ArrayWriter, term: Term) -> CodeExpression:
    if not term.axes:
        return infix(w, term)
    first, second = (whole(w, argument, w.code(argument)) for argument in term.arguments)
    if w.library.prefix == "torch" or not (first.integer and second.integer):
        first, second = w.real(first), w.real(second)
    return (
        as_matrices(w, term, first, second)
        or as_matrices(w, term, second, first, True)
        or as_einsum(w, term, first, second)
    )


def as_matrices(
    w: ArrayWriter, term: Term, first: CodeExpression, second: CodeExpression, only_vector: bool = False
) -> CodeExpression | None:
    """A @ B, where each is a vector or a matrix, or the first has further axes in front; None elsewhere."""
    if len(term.axes) != 1 or {*first.axes} & {*second.axes} != {*term.axes} or len(second.axes) > 2:
        return None
    (axis,) = term.axes
    if not only_vector and len(first.axes) == 1 and len(second.axes) == 2 and second.axes[-1] == axis:
        return None  # K @ Q, of a matrix and a vector, rather than Q @ K.T
    if only_vector and len(second.axes) != 1:
        return None
    if first.axes[-1] != axis and len(first.axes) > 2:
        return None
    left = w.arranged(first, (*(name for name in first.axes if name != axis), axis), PRODUCT)
    right = w.arranged(second, (axis, *(name for name in second.axes if name != axis)), ATOM)
    axes = tuple(name for name in (*first.axes, *second.axes) if name != axis)
    return CodeExpression(f"{left} @ {right}", axes, PRODUCT)


def as_einsum(w: ArrayWriter, term: Term, first: CodeExpression, second: CodeExpression) -> CodeExpression:
    letters: dict[str, str] = {}
    for axis in dict.fromkeys((*first.axes, *second.axes)):
        expected = [letter for letter in axis.lower() if letter.isascii() and letter.isalpha()]
        letters[axis] = next(
            letter for letter in (*expected, *"ijklmnopqrstuvwxyzabcdefgh") if letter not in letters.values()
        )
    axes = tuple(axis for axis in letters if axis not in term.axes)
    spelled = ["".join(letters[axis] for axis in names) for names in (first.axes, second.axes, axes)]
    text = f'{w.library.prefix}.einsum("{spelled[0]},{spelled[1]}->{spelled[2]}", {first.text}, {second.text})'
    return CodeExpression(text, axes)


# ------------------------------------------------------------------------------------------------------- along axes
def positions(code: CodeExpression, axes: tuple[str, ...]) -> Any:
    places = tuple(sorted(code.axes.index(axis) for axis in axes))
    return places[0] if len(places) == 1 else places


INTEGRAL = ("sum", "prod", "max", "min", "any", "all")  # of integers they give integers, or no numbers


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
        if name not in INTEGRAL:
            code = w.real(code)
        chosen = "norm p" if name == "norm" and p != 2 else name
        text = w.call(term, chosen, code.text, axis=places, p=p)
        rest = tuple(axis for axis in code.axes if axis not in term.axes)
        return CodeExpression(text, rest, integer=code.integer and name in INTEGRAL)

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
        order = order_of(codes)
        return CodeExpression(w.call(term, f"{name} two", *(w.arranged(code, order) for code in codes)), order)

    return rule


def along(w: ArrayWriter, term: Term) -> CodeExpression:
    """Write a function that gives as many elements as it takes."""
    code = w.real(operand(w, term))
    places = positions(code, term.axes)
    by_helper = term.operator in ("standardize", "argmax", "argmin")
    if isinstance(places, tuple) and w.library.prefix == "torch" and not by_helper:
        raise w.unreadable(term)
    name = term.operator
    if name == "standardize" and parameter(term) != 1e-5:
        name = "standardize eps"
    inner = code.within(ATOM) if name == "argmin" else code.text
    return CodeExpression(w.call(term, name, inner, axis=places, p=parameter(term)), code.axes)


def of_matrix(w: ArrayWriter, term: Term) -> CodeExpression:
    """A function of matrices, which are the last two dimensions."""
    code = operand(w, term)
    rows = tuple(term.axes)
    rest = tuple(axis for axis in code.axes if axis not in rows)
    text = w.call(term, term.operator, w.arranged(code, (*rest, *rows), ATOM if term.operator in ("trace",) else 0))
    axes = (*rest, *(axis for axis in rows if axis in term.shape))
    return CodeExpression(text, axes)


def solved(w: ArrayWriter, term: Term) -> CodeExpression:
    matrix, right = (whole(w, argument, w.code(argument)) for argument in term.arguments)
    row, column = term.axes
    if len(matrix.axes) != 2 or len(right.axes) > 2:
        raise w.unreadable(term)
    rest = tuple(axis for axis in right.axes if axis != row)
    text = w.call(term, "solve", w.arranged(matrix, (row, column)), w.arranged(right, (row, *rest)))
    return CodeExpression(text, (column, *rest))
