"""How contractions, reductions, functions along axes and functions of matrices are written as array expressions; see `code`."""

from __future__ import annotations

from typing import Any

from ..operators import REGISTRY
from ..terms.terms import Term
from .code_elements import Rule, expression, infix, operand, order_of, total, whole
from .code_libraries import ATOM, PRODUCT, CodeExpression, Writes


# ------------------------------------------------------------------------------------------------------------- products
def contraction(w: Writes, term: Term) -> CodeExpression:
    if not term.axes:
        return infix(w, term)
    first, second = (
        whole(w, argument, w.code(argument, 0 if argument.operator == "softmax" else 2)) for argument in term.arguments
    )
    if w.library.prefix == "torch" and (first.integer or second.integer):
        first, second = (as_float(w, term, code) for code in (first, second))
    return (
        as_matrices(w, term, first, second)
        or as_matrices(w, term, second, first, True)
        or as_einsum(w, term, first, second)
    )


def as_float(w: Writes, term: Term, code: CodeExpression) -> CodeExpression:
    return expression(w.call(term, "float", code.within(ATOM)), code.axes, total(code)) if code.integer else code


def as_matrices(
    w: Writes, term: Term, first: CodeExpression, second: CodeExpression, only_vector: bool = False
) -> CodeExpression | None:
    """A @ B, where each is a vector or a matrix, or the first has further axes in front; None elsewhere."""
    if len(term.axes) != 1 or {*first.axes} & {*second.axes} != {*term.axes} or len(second.axes) > 2:
        return None
    (axis,) = term.axes
    if (only_vector or len(first.axes) == 1) and len(second.axes) == 2 and not only_vector and second.axes[-1] == axis:
        return None  # K @ Q, of a matrix and a vector, rather than Q @ K.T
    if only_vector and len(second.axes) != 1:
        return None
    if first.axes[-1] != axis and len(first.axes) > 2:
        return None
    left = w.arranged(first, (*(name for name in first.axes if name != axis), axis), PRODUCT)
    right = w.arranged(second, (axis, *(name for name in second.axes if name != axis)), ATOM)
    axes = tuple(name for name in (*first.axes, *second.axes) if name != axis)
    return expression(f"{left} @ {right}", axes, total(first, second), PRODUCT)


def as_einsum(w: Writes, term: Term, first: CodeExpression, second: CodeExpression) -> CodeExpression:
    letters: dict[str, str] = {}
    for axis in dict.fromkeys((*first.axes, *second.axes)):
        expected = [letter for letter in axis.lower() if letter.isascii() and letter.isalpha()]
        letters[axis] = next(
            letter for letter in (*expected, *"ijklmnopqrstuvwxyzabcdefgh") if letter not in letters.values()
        )
    axes = tuple(axis for axis in letters if axis not in term.axes)
    spelled = ["".join(letters[axis] for axis in names) for names in (first.axes, second.axes, axes)]
    text = f'{w.library.prefix}.einsum("{spelled[0]},{spelled[1]}->{spelled[2]}", {first.text}, {second.text})'
    return expression(text, axes, total(first, second))


# ------------------------------------------------------------------------------------------------------- along axes
def positions(code: CodeExpression, axes: tuple[str, ...]) -> Any:
    places = tuple(sorted(code.axes.index(axis) for axis in axes))
    return places[0] if len(places) == 1 else places


def reduction(name: str) -> Rule:
    def rule(w: Writes, term: Term) -> CodeExpression:
        code = operand(w, term)
        if not term.axes:
            return code
        options = dict(zip([key for key, _ in REGISTRY[term.operator].options], term.options))
        places = positions(code, term.axes)
        torch = w.library.prefix == "torch"
        is_plain_norm = name == "norm" and (torch or (options.get("p", 2) == 2 and len(term.axes) == 2))
        one_axis = name in ("norm", "quantile", "median") or (name == "prod" and torch)
        if isinstance(places, tuple) and one_axis and not is_plain_norm:
            raise w.unreadable(term)
        if name == "mean" and w.library.prefix == "torch" and code.integer:
            code = as_float(w, term, code)
        chosen = f"{name} p" if name == "norm" and options.get("p", 2) != 2 else name
        parameter = next(iter(options.values()), dict(REGISTRY[term.operator].options).get("q"))
        text = w.call(term, chosen, code.text, axis=places, p=parameter)
        rest = tuple(axis for axis in code.axes if axis not in term.axes)
        return expression(text, rest, total(code), integer=code.integer and name in ("sum", "prod", "max", "min"))

    return rule


def extremum(name: str) -> Rule:
    over = reduction(name)

    def rule(w: Writes, term: Term) -> CodeExpression:
        if len(term.arguments) == 1:
            return over(w, term)
        codes = tuple(w.code(argument) for argument in term.arguments)
        if w.library.prefix == "torch" and not all(code.axes for code in codes):
            raise w.unreadable(term, "torch.maximum takes tensors")
        order = order_of(codes)
        return expression(
            w.call(term, f"{name} two", *(w.arranged(code, order) for code in codes)), order, total(*codes)
        )

    return rule


def along(w: Writes, term: Term) -> CodeExpression:
    """What gives as many elements as it takes."""
    if term.operator in ("softmax", "logsoftmax"):
        w.suggested.setdefault(id(term.arguments[0]), "scores")
    code = operand(w, term, 0 if term.operator in ("softmax", "standardize") else 2)
    places = positions(code, term.axes)
    if (
        isinstance(places, tuple)
        and w.library.prefix == "torch"
        and term.operator not in ("standardize", "argmax", "argmin")
    ):
        raise w.unreadable(term)
    name = term.operator
    if name == "standardize" and term.options and term.options[0] != 1e-5:
        name = "standardize eps"
    inner = code.within(ATOM) if name == "argmin" else code.text
    return expression(
        w.call(term, name, inner, axis=places, p=term.options[0] if term.options else None), code.axes, total(code)
    )


def of_matrix(w: Writes, term: Term) -> CodeExpression:
    """A function of matrices, which are the last two dimensions."""
    code = operand(w, term)
    rows = tuple(term.axes)
    rest = tuple(axis for axis in code.axes if axis not in rows)
    text = w.call(term, term.operator, w.arranged(code, (*rest, *rows), ATOM if term.operator in ("trace",) else 0))
    axes = (*rest, *(axis for axis in rows if axis in term.shape))
    return expression(text, axes, total(code))


def solved(w: Writes, term: Term) -> CodeExpression:
    matrix, right = (whole(w, argument, w.code(argument)) for argument in term.arguments)
    row, column = term.axes
    if len(matrix.axes) != 2 or len(right.axes) > 2:
        raise w.unreadable(term)
    rest = tuple(axis for axis in right.axes if axis != row)
    text = w.call(term, "solve", w.arranged(matrix, (row, column)), w.arranged(right, (row, *rest)))
    return expression(text, (column, *rest), total(matrix, right))
