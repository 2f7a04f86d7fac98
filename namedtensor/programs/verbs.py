"""The verbs of programs, formulas and entry points: what each has as methods, and `namedtensor` as functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.locks import LOADING, all_or_none
from grammar.plain_text import encodable

from ..core.axes import show
from ..core.hooks import answered
from ..core.kinds import as_mapping, as_names, as_number
from ..core.seeds import as_seed
from ..core.suggestions import Suggests
from .arguments import Arguments, Values, all_values, keyword_names, whole_sizes
from .entries import Entry, WholeProgram, argument_names, by_position
from .evaluate import Asked, explain_value
from .parameters import inferred, need_shapes, shapes_of

if TYPE_CHECKING:
    from ..checking.report import CheckResult
    from ..core.tensor import NamedTensor
    from ..display.colors import Tint
    from ..display.diagram_svg import Diagram
    from ..display.highlighted import Highlighted
    from ..display.steps import Explanation
    from ..planning.cost import Cost
    from .compiled import CompiledFormula
    from .initializers import Initializers


class Verbs(Suggests, Asked):
    """Something of a program that has a value: it is called, checked, explained, compiled, drawn and printed."""

    _goal: WholeProgram | Entry

    # what it says
    @property
    def arguments(self) -> list[str]:
        """The names of the arguments that it takes by position, where it is a function.

        >>> import namedtensor as nt
        >>> nt.formula("f(x, y) = x^2 + y").arguments
        ['x', 'y']
        """
        return argument_names(self._goal)

    def to_text(self, ascii: bool = False, colors: bool = False) -> str:
        """What it says in text, or in ASCII; with `colors`, a terminal shows each axis in its own.

        >>> import namedtensor as nt
        >>> print(nt.program("f(x) = 2 x\\nY = f(X)")["f"].to_text())
        f(x) = 2 x
        """
        with LOADING, all_or_none():
            from grammar.printer import to_text

        escapes = {axis: tint.escape for axis, tint in self._tints.items()} if colors else None
        return to_text(self._tree, ascii=ascii, colors=escapes)

    def to_latex(self, macros: bool = False, colors: bool = False, width: float | None = None) -> str:
        """What it says in LaTeX; with `macros`, in the paper's own; with `colors`, each axis in its own.

        With a `width` in ems it is a display of its own, broken where it is broader; the text of `article` is 34.5 ems.
        What stands in a document for the macros is `latex_preamble()`.

        >>> import namedtensor as nt
        >>> print(nt.formula("∑_{seq} x").to_latex(colors=True))
        \\sum\\limits_{\\textcolor{#0b80a6}{\\mathsf{seq}}} x
        """
        with LOADING, all_or_none():
            from grammar.printer import to_latex

        if width is not None:
            as_number(width, "width=", 1, "write width=34.5, the ems of a line of the class article")
        found = {axis: tint.color.light for axis, tint in self._tints.items()} if colors else None
        return to_latex(self._tree, macros=macros, colors=found, width=width)

    def to_html(self, sizes: Mapping[str, Any] | None = None) -> str:
        """What it says for a page, each axis in its color throughout, with a legend that tells the `sizes` that are given."""
        with LOADING, all_or_none():
            from ..display.html import html_program

        return html_program(self._tree, self._tints, as_mapping(sizes, "sizes=", 'write sizes={"a": 3}'))

    def highlight(self, sizes: Mapping[str, Any] | None = None) -> Highlighted:
        """What it says with each axis in its color, in a notebook as in a terminal."""
        with LOADING, all_or_none():
            from ..display.highlighted import Highlighted

        return Highlighted(self._tree, self._tints, as_mapping(sizes, "sizes=", 'write sizes={"a": 3}'))

    @cached_property
    def _tree(self) -> Any:
        return self._goal.tree()

    @cached_property
    def _tints(self) -> dict[str, Tint]:
        """The color of each axis, in the order in which they are named."""
        with LOADING, all_or_none():
            from grammar.printer.runs import axes_in

            from ..display.colors import tints

        return tints(axes_in(self._tree))

    @encodable
    def __str__(self) -> str:
        return self.to_text()

    @encodable
    def __repr__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

    # what it gives
    def evaluate(
        self, values: Values | None = None, /, *, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> NamedTensor:
        """Its value: called with everything by name; see `evaluate`.

        >>> import namedtensor as nt
        >>> float(nt.program("f(x) = 2 x\\nY = f(X)")["Y"].evaluate(X=3))
        6.0
        """
        return self(values=values, sizes=sizes, **named)

    def check(self, *, sizes: Mapping[str, int] | None = None, **shapes: Any) -> CheckResult:
        """Types without data, errors and warnings; `type` is that of its value for the shapes that are given.

        >>> import namedtensor as nt
        >>> nt.formula("∑_{width} A").check(A="ℝ^{height[3] × width[2]}").type
        'ℝ^{height[3]}'
        """
        with LOADING, all_or_none():
            from .checks import check_goal

        return check_goal(self._goal, shapes, sizes, tuple(shapes))

    def explain(
        self, *arguments: Any, values: Values | None = None, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> Explanation:
        """Every step to its value, in order: the sub-formula, its type, its value, and whose definition it stands in.

        Raises NotationError where a call would.

        >>> import namedtensor as nt
        >>> program = nt.program("f(x) = 2 x\\ng(x) = f(x) + 1")
        >>> for step in program["g"].explain(3):
        ...     print(" > ".join(step.inside), ":", step.text)
        g : x
        g > f : x
        g > f : 2 x
        g : f(x)
        g : f(x) + 1
        """
        with LOADING, all_or_none():
            from .explained import explained

        entry = self._goal.entry_for(all_values(values, named))
        if entry is None:
            if arguments:
                raise no_function(arguments, self._goal.program.names.free)
            return explain_value(self._goal.program, values, sizes, named)
        program = entry.program
        given = bound(entry, arguments, all_values(values, named)).with_numbers(program)
        inputs, own = given.inputs, given.arguments
        types, by_keyword = [each for _, each in own], keyword_names(values, named)
        checker = program.checker(inputs, whole_sizes(sizes), arguments=types, by_keyword=by_keyword)
        return explained(checker, lambda: entry.term(checker, own), entry.name, given)

    def diagram(
        self,
        *arguments: Any,
        sizes: Mapping[str, int] | None = None,
        expand: str | Collection[str] = (),
        values: Values | None = None,
        **shapes: Any,
    ) -> Diagram:
        """A drawing of where the values go on the way to this one, each with its type: nothing is computed.

        Arguments and inputs are given as types (or tensors), by position or by name; what is not given is a parameter,
        written where it is used. A family is drawn once, a function as one box: `expand` names functions to open, and
        families, or their index, to draw member by member. `values` are parameters, whose sizes it then tells.

        Raises NotationError where the types do not fit, or a name to open is not there.

        >>> import namedtensor as nt
        >>> block = nt.program("Block(X) = X + FFN(X)\\nFFN(X) = relu(X ⊙_{a} W)_{b→a}\\nW ∈ ℝ^{a × b}")
        >>> drawing = block["Block"].diagram(X="ℝ^{seq × a}", expand="FFN")
        >>> drawing.save("block.svg")  # doctest: +SKIP
        """
        with LOADING, all_or_none():
            from .diagrams import diagram

        return diagram(self._goal, arguments, shapes, sizes, expand, values)

    def derivative(self, wrt: str) -> Verbs:
        """The derivative by a name, itself a formula, or of a function f the function f'."""
        raise NotImplementedError

    def gradient(self, wrt: str | Iterable[str] | None = None, *, return_value: bool = False) -> Any:
        """The gradient of its number by parameters, all in one plan, with their own axes (paper §5): see `nt.gradient`.

        >>> import namedtensor as nt
        >>> program = nt.program("w ∈ ℝ^{a}\\nb ∈ ℝ\\nL = ∑_{a} (w ⊙ x)^2 + b")
        >>> slopes = program["L"].gradient(["w", "b"])(w=nt.tensor([1.0, 2.0], "a"), b=3.0, x=2.0)
        >>> slopes["w"].tolist(), float(slopes["b"])
        ([8.0, 16.0], 1.0)
        """
        return answered("gradient", *self._differentiated(), wrt, return_value=return_value)

    def _differentiated(self) -> tuple[Any, str]:
        """The program, and what in it a gradient is of."""
        raise NotImplementedError

    def compile(self, backend: str | None = None, disable: str | Collection[str] = ()) -> CompiledFormula:
        """Return a function of named tensors for repeated calls, planned once per input signature.

        `backend` is "numpy", "torch" or "jax", or None for that of the tensors; `disable` turns optimizations off by name.
        Raises NotationError where a backend is not installed.

        >>> import namedtensor as nt
        >>> f = nt.formula("∑_{a} X^2").compile()
        >>> float(f(X=nt.tensor([3.0, 4.0], "a")))
        25.0
        """
        with LOADING, all_or_none():
            from .compiled import CompiledFormula

        return CompiledFormula(self._goal, backend, as_names(disable, "disable=", 'write disable=["tiling"]'))

    def cost(
        self,
        values: Values | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        disable: str | Collection[str] = (),
        **named: Any,
    ) -> Cost:
        """What it costs before it is run, for tensors or shapes: operations, bytes, the largest array, step by step.

        `sizes` gives sizes that the shapes leave out; what is declared need not be given. Sizes that stay open are symbols, and
        the figures polynomials of them. Raises NotationError where the formula does not fit the shapes, or a result passes
        the limit of memory.

        >>> import namedtensor as nt
        >>> nt.formula("X ⊙_{a} W").cost(X="ℝ^{seq[100] × a[8]}", W="ℝ^{a[8] × b[4]}").multiply_adds
        3200
        >>> print(nt.formula("X ⊙_{a} W").cost(X="ℝ^{seq × a}", W="ℝ^{a × b[4]}").multiply_adds)
        4 * a * seq
        """
        with LOADING, all_or_none():
            from ..planning.cost import cost_of
            from .compiled import with_declared
            from .executable import Options
            from .named_plans import open_plan_of, target_named

        given = with_declared(self._goal, all_values(values, named), sizes, with_open=True)
        disable = as_names(disable, "disable=", 'write disable=["tiling"]')
        options = Options(sizes, keyword_names(values, named), disable=disable)
        return cost_of(open_plan_of(self._goal, target_named("numpy"), given, options)[0])

    def to_python(
        self,
        library: str = "numpy",
        values: Values | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        style: str = "function",
        **named: Any,
    ) -> str:
        """The source text of a plain function for "numpy", "torch" or "jax", which runs without this project.

        Its parameters are what is given, in this order: tensors, or shapes such as "ℝ^{seq[3]}". It refuses arrays of other
        axes, sizes or dtypes with a ValueError or TypeError of one sentence; a text that names no floating dtype serves
        single and double precision. With `style="module"` it is a class of PyTorch: what the formula declares are its
        parameters, and its `forward` takes the arguments of the function, or what has a size that is left open.

        >>> import namedtensor as nt
        >>> source = nt.formula("∑_{a} X").to_python("torch", X="ℝ^{a[3] × b[2]}")
        >>> print(source[source.index("def function"):])
        def function(X):
            check("X", X, {"a": 3, "b": 2}, torch.float32, torch.float64)
            t1 = X.sum(0)  # ℝ^{b[2]}
            return t1
        <BLANKLINE>
        """
        with LOADING, all_or_none():
            from .compiled import to_module, to_python
            from .executable import Options

        styles = {"function": to_python, "module": to_module}
        if style not in styles:
            raise NotationError(408, f"unknown style {style!r}", hint=f"available: {', '.join(styles)}")
        options = Options(sizes, keyword_names(values, named))
        return styles[style](self._goal, library, all_values(values, named), options)

    def to_javascript(
        self,
        values: Values | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        standalone: bool = False,
        **named: Any,
    ) -> str:
        """The source text of a module of JavaScript, which exports the function `formula` of arrays.

        Its parameters are what is given, in this order: tensors, or shapes such as "ℝ^{seq[3]}". Each is called with nested
        lists, with numbers in a row such as a Float64Array, row-major, or with what another such function gave, which is
        {shape, data}. The text imports the file `javascript_runtime.js` of `namedtensor/backends`; a `standalone` one has
        the functions of it that it needs in front. It computes in doubles, and fails with the numbers and the messages of
        the errors of a formula. Raises NotationError for complex tensors, and where the formula calls a function of Python.

        >>> import namedtensor as nt
        >>> print(nt.formula("√(∑_{a} X)").to_javascript(X="ℝ^{a[3] × b[2]}"))
        import * as nt from "./javascript_runtime.js";
        <BLANKLINE>
        export function formula(X) {
          X = nt.given(X, "X", [3, 2]);  // ℝ^{a[3] × b[2]}
          const t1 = nt.sum(X, [0]);  // ℝ^{b[2]}
          const t2 = nt.sqrt(t1);  // ℝ^{b[2]}
          return nt.array(t2);
        }
        <BLANKLINE>
        """
        with LOADING, all_or_none():
            from .compiled import to_javascript
            from .executable import Options

        options = Options(sizes, keyword_names(values, named))
        return to_javascript(self._goal, all_values(values, named), standalone, options)

    def to_einsum(self, values: Values | None = None, *, sizes: Mapping[str, int] | None = None, **named: Any) -> str:
        """Return the equivalent einsum call of NumPy, PyTorch or JAX, on arrays with axes in the order of their types.

        Types are tensors or shapes, which need no sizes; declared inputs may be omitted. The letters after -> are the
        axes of the result in the order of its type. Raises NotationError (405) with the offending part unless the
        formula is a number times a sum of products of inputs.

        >>> import namedtensor as nt
        >>> print(nt.formula("Q ⊙_{key} K").to_einsum(Q="ℝ^{query × key}", K="ℝ^{seq × key}"))
        einsum("qk,sk->qs", Q, K)
        """
        with LOADING, all_or_none():
            from .einsum import to_einsum
            from .executable import Options

        return to_einsum(self._goal, all_values(values, named), Options(sizes, keyword_names(values, named)))

    def parameters(self, sizes: Mapping[str, int] | None = None, **shapes: Any) -> dict[str, str]:
        """The shape of everything that is declared and not defined, by name; of a name of a program, of what it needs.

        `sizes` gives hyper-parameters, keywords the shapes of inputs (as text, or as tensors). Raises NotationError where a
        function has parameters, and nothing says what shape its arguments have.

        >>> import namedtensor as nt
        >>> program = nt.program("f : ℝ^{a} → ℝ\\nf(x) = x ⊙_{a} w\\nw ∈ ℝ^{a}\\nY = V\\nV ∈ ℝ^{b}")
        >>> program.parameters(sizes={"a": 3, "b": 2}), program["Y"].parameters(sizes={"b": 2})
        ({'V': 'ℝ^{b[2]}', 'w': 'ℝ^{a[3]}'}, {'V': 'ℝ^{b[2]}'})
        """
        found = shapes_of(inferred(self._goal, sizes, shapes, tuple(shapes)), shapes)
        if not found:
            need_shapes(self._goal, shapes)
        return {name: show(shape) for name, shape in found.items()}

    def init(
        self,
        seed: Any = 0,
        sizes: Mapping[str, int] | None = None,
        dtype: str = "float64",
        initializers: Initializers | None = None,
        names: Collection[str] | None = None,
        **shapes: Any,
    ) -> dict[str, Any]:
        """Initialize the parameters.

        Parameters
        ----------
        seed : int or key of jax.random
            The seed of the random numbers. A key gives arrays of JAX (default: 0).
        sizes : mapping of str to int, optional
            Sizes that the shapes leave open.
        dtype : str
            The dtype of the tensors (default: "float64").
        initializers : mapping of str to initializer, optional
            An initializer from `nt.initializers` for each name or base of a name. Default: γ is 1; what is contracted is normal with
            variance 1/fan_in; what is only added is 0.
        names : collection of str, optional
            The parameters to initialize (default: all).
        **shapes : str, mapping or tensor
            The shapes of the inputs, such as X="ℝ^{seq × chans}".

        Returns
        -------
        dict of str to NamedTensor

        Raises
        ------
        NotationError
            If a size, or the shape of an argument of a function, cannot be inferred.

        Examples
        --------
        >>> import namedtensor as nt
        >>> found = nt.program("Y = X ⊙_{a} W + b\\nW ∈ ℝ^{a × b}\\nb ∈ ℝ^{b}").init(sizes={"a": 3, "b": 2}, X="ℝ^{a}")
        >>> {name: each.shape for name, each in found.items()}
        {'W': ℝ^{a[3] × b[2]}, 'b': ℝ^{b[2]}}
        """
        with LOADING, all_or_none():
            from .initialization import fans, initial

        seed = as_seed(seed)
        initializers = as_mapping(initializers, "initializers=", 'write initializers={"W": Normal("0.02")}')
        names = None if names is None else as_names(names, "names=", 'write names=["W"]')
        checker = inferred(self._goal, sizes, shapes, tuple(shapes))
        summed = fans(checker.parameters, checker.graph.all())
        wanted = shapes_of(checker, shapes)
        if names is not None:
            wanted = {name: shape for name, shape in wanted.items() if name in names}
        elif not wanted:
            need_shapes(self._goal, shapes)
        return initial(wanted, summed, seed, dtype, initializers, sizes)


def bound(entry: Entry, arguments: tuple[Any, ...], named: dict[str, Any]) -> Arguments:
    """Return arguments under unused names; one that is not a tensor is reported under the function's name for it."""
    with LOADING, all_or_none():
        from ..tensors.values import NamedTensor, as_value

    own = {
        f"argument_{place}": each if type(each) is NamedTensor else as_value(each, by_position(entry, place - 1))
        for place, each in enumerate(arguments, 1)
    }
    return Arguments({**own, **named}, tuple(own))


def no_function(arguments: tuple[Any, ...], free: Sequence[str] = ()) -> NotationError:
    """The error for arguments by position of a formula whose tensors, `free`, come by name."""
    written = ", ".join(f"{name}={name}" for name in free) if all(map(str.isidentifier, free)) else ""
    count = f"{len(arguments)} argument{'s' * (len(arguments) != 1)}"
    return NotationError(
        304, f"this formula is not a function; got {count} by position",
        hint=f"pass inputs by name: formula({written or 'X=X'})" + ("" if written or not free else f"; it has {', '.join(free)}"),
    )  # fmt: skip
