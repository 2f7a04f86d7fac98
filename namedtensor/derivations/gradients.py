"""Define `nt.gradient`, which computes the gradients of a scalar with respect to many parameters, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, count
from typing import Any

from grammar import nodes
from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.nodes import Call, Derivative, Equation
from grammar.parser import parse
from grammar.plain_text import encodable
from grammar.printer import to_text

from ..calculus.record_formulas import expression
from ..core.kinds import require_names
from ..core.tensor import NamedTensor
from ..operators.user_functions import using
from ..programs.entry_points import EntryPoints
from ..programs.program import Formula, Program
from ..scope.names import Key, key, read_spelling, walk
from ..scope.symbols import Scope
from ..symbolic.naming import words_of
from ..tensors import labeled

MARK = "*"


class Gradient:
    """A function that returns the gradients of a scalar by name. `nt.gradient` creates it.

    `program` contains the formulas of the gradients.
    """

    def __init__(self, program: Program, of: str, wrt: tuple[str, ...], value: bool):
        self.of: str = of
        self.wrt: tuple[str, ...] = wrt
        self.value: bool = value
        self._of = program
        self._programs: Cache[tuple[str, ...], tuple[Program, EntryPoints]] = Cache("programs of a gradient", 64)
        self._by_given: Cache[tuple[str, ...], tuple[str, ...]] = Cache(
            "members that a gradient is taken with respect to", 256
        )
        self._parameters, self._whole = _head(program, of)
        families = {name: family_of(program, name) for name in wrt}
        self._families = {name: family for name, family in families.items() if family is not None}

    @encodable
    def __repr__(self) -> str:
        return f"<gradient of {self.of} by {', '.join(self.wrt)}>"

    @property
    def program(self) -> Program:
        """The program with an equation for the scalar and for each derivative.

        In this program, the members of a family have one name.
        """
        return self._programs.get_or_build(self.wrt, lambda: self._differentiate_by(self.wrt))[0]

    def _differentiate_by(self, names: tuple[str, ...]) -> tuple[Program, EntryPoints]:
        """Return the program with the derivatives with respect to these names, and an entry point for their values."""
        taken = words_of(self._of.tree)
        letter = next(name for name in map("slope{}".format, chain([""], count(1))) if name not in taken)
        asked = [f"{letter}_{index}" for index in range(len(names) + 1)]
        statements = [Equation((expression(asked[0]), self._whole))]
        for name, by in zip(asked[1:], names):
            statements.append(Equation((expression(name), Derivative(self._whole, expression(by), MARK))))
        with using(self._of._goal.program.operators):
            program = Program(to_text(nodes.Program((*self._of.tree.statements, *statements))), "text")
        return program, program[tuple(asked)]

    def _members_among(self, given: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the variables. Replace a family with its members in `given`."""
        names: list[str] = []
        for name in self.wrt:
            family = self._families.get(name)
            members = [text for text in given if family_of(self._of, text, name) == family] if family else [name]
            if not members:
                raise NotationError(
                    206,
                    f"no value for any member of {name}",
                    hint=f"pass them by name: values={{{name!r}: …}} with a number each",
                )
            names += members
        return tuple(dict.fromkeys(names))

    def __call__(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Return the gradients by name. If `return_value` is true, return the value and the gradients.

        If the scalar is a function's value, positional arguments are the arguments of this function. Raise
        NotationError if the differentiated value is not a scalar.
        """
        if len(arguments) > len(self._parameters):
            raise NotationError(
                304, f"{self.of} expects {len(self._parameters)} arguments, got {len(arguments)}",
                hint="pass parameters with values={…} or by keyword",
            )  # fmt: skip
        inputs = {**dict(zip(self._parameters, arguments)), **named}
        given = (*inputs, *(values or ()))
        names = self._by_given.get_or_build(given, lambda: self._members_among(given)) if self._families else self.wrt
        _, compute = self._programs.get_or_build(names, lambda: self._differentiate_by(names))
        total, *slopes = compute(values=values, sizes=sizes, **inputs)
        if total.axes:
            raise NotationError(
                303, f"a gradient needs a scalar, but {self.of} has axes {', '.join(total.axes)}",
                hint=f"sum over them: loss = ∑_{{{', '.join(total.axes)}}} {self.of}, or use nt.derivative",
            )  # fmt: skip
        operands = {**(values or {}), **inputs}
        tensors = {name: order_like(operands.get(name), _own_axes(slope)) for name, slope in zip(names, slopes)}
        return (total, tensors) if self.value else tensors


def gradient(
    program: str | Program,
    of: str,
    wrt: str | Iterable[str] | None = None,
    *,
    return_value: bool = False,
    syntax: str = "auto",
) -> Gradient:
    """Return a function that computes all gradients of a scalar in a single plan (paper §5).

    Parameters
    ----------
    program : str or Program
        The program or its source.
    of : str
        The name of a scalar, or of a function with a scalar value.
    wrt : str or iterable of str, optional
        The names of the parameters (default: all real tensors that are declared but not defined). The name of a family, such as `W^l`, selects each member that is passed in a call.
    return_value : bool
        Whether the function returns a pair of the scalar and the gradients (default: False).
    syntax : {"auto", "text", "latex"}
        The syntax of `program` if it is a string (default: "auto", which detects the syntax).

    Returns
    -------
    Gradient
        A function of the inputs, called like the program. It returns a dict of gradients by name. Each gradient has the
        axes of its parameter, so `W − 0.1 g["W"]` has the shape of W.

    Raises
    ------
    NotationError
        If the program does not use a name. The returned function raises this error if the value is not a scalar.

    Examples
    --------
    >>> import namedtensor as nt
    >>> gradients = nt.gradient("L = ∑_{a} (w ⊙ x)^2", "L", "w", return_value=True)
    >>> loss, g = gradients(w=nt.tensor([1.0, 2.0], "a"), x=nt.tensor([3.0, 1.0], "a"))
    >>> float(loss), g["w"].axes, g["w"].tolist()
    (13.0, ('a',), [18.0, 4.0])
    """
    formula = program if isinstance(program, Program) else Formula(program, syntax)
    names = _list_declared_tensors(formula) if wrt is None else require_names(wrt, "wrt=", 'write wrt=["W", "b"]')
    if not names:
        raise NotationError(201, "a gradient needs at least one name", hint='write wrt=["W", "b"]')
    known = {name.key() for name in map(read_spelling, walk(formula.tree)) if name is not None}
    for name in names:
        if key(name) not in known and not any(other_key.base == key(name).base for other_key in known):
            raise NotationError(201, f"the program does not contain {name}", hint="pass the name of a parameter")
    return Gradient(formula, of, names, return_value)


def family_of(program: Program, name: str, of: str = "") -> Any:
    """Return an identifier of the family of a name or member, or None if the name is a single tensor.

    If `of` is given, return None for a name with a different base than `of`.
    """
    expected = key(name)
    scope = program._goal.program.scope
    declaration = scope.declaration(expected)
    if declaration is None or (of and expected.base != key(of).base):
        return id(whole) if (whole := _find_ranged_set(scope, expected)) is not None and not of else None
    if not declaration[1]:
        return None
    is_open = all(index == str(at) for index, at in declaration[1].items())
    return id(declaration[0]) if is_open or of else None


def _find_ranged_set(scope: Scope, expected: Key) -> nodes.Set | None:
    """Return the declared set of a family, such as W^l ∈ ℝ^{a} for l = 1, …, n, or None for any other name."""
    return next(
        (sets[0] for _, name, sets, over in scope.declarations if over is not None and name.key() == expected), None
    )


def _list_declared_tensors(program: Program) -> tuple[str, ...]:
    """Return the names of the tensors in ℝ that a program declares but does not define."""
    scope = program._goal.program.scope
    sets: dict[str, nodes.Set | None] = {}
    for name in program.declared:
        declared = scope.declaration(key(name))
        sets[name] = _find_ranged_set(scope, key(name)) if declared is None else declared[0]
    return tuple(name for name, of in sets.items() if of is not None and of.domain == "reals")


def _head(program: Program, of: str) -> tuple[tuple[str, ...], Any]:
    """Return the parameters of the function `of`, and a call of the function, such as f(x).

    If `of` is not a function, return () and the node for the name.
    """
    for statement in program.tree.statements:
        head = statement.sides[0] if isinstance(statement, Equation) else None
        if isinstance(head, Call) and (head.operator == of or to_text(head).partition("(")[0] == of):
            return tuple(to_text(argument) for argument in (*head.arguments, *head.parameters)), head
    statement: Any = parse(of, "text").statements[0]
    return (), statement.body


def _own_axes(slope: NamedTensor) -> NamedTensor:
    return slope.rename({axis: axis.removesuffix(MARK) for axis in slope.axes})


def order_like(given: Any, slope: NamedTensor) -> NamedTensor:
    """Return a gradient whose labels are in the same order as the labels of its parameter.

    The computed gradient may have the label order of another input.
    """
    if not getattr(getattr(given, "layout", None), "labels", ()) or not slope.layout.labels:
        return slope
    return labeled.align((given, slope), (), slope.axes)[1]
