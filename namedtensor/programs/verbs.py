"""The methods of programs, formulas and entry points. From them, `api` creates the functions of `namedtensor`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from grammar.errors import NotationError

from ..core.axes import show
from ..core.kinds import require_mapping, require_names
from ..core.seeds import to_seed
from ..core.suggestions import Suggests
from .arguments import Values, all_values, keyword_names, suggest_call
from .call_cache import CachedCall
from .entries import Entry, WholeProgram, argument_names
from .exported import Exported
from .injected import gradient
from .parameters import infer_types, need_shapes, shapes_of
from .printed import Printed

if TYPE_CHECKING:
    from ..checking.report import CheckResult
    from ..core.behavior import Operand
    from ..core.tensor import NamedTensor
    from ..display.diagram import Diagram
    from ..display.steps import Explanation
    from .initializers import Initializers


class Verbs(Printed, Exported, Suggests, CachedCall):
    """The base class of programs, formulas and entry points. Each of them has a value or is a function."""

    _goal: WholeProgram | Entry

    if TYPE_CHECKING:

        @overload
        def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, *arguments: Any, values: Values | None = None, sizes: Mapping[str, int] | None = None, **named: Any
        ) -> NamedTensor: ...
        @overload
        def __call__(self, *arguments: Any, **named: Operand) -> NamedTensor: ...  # as by **tensors
        def __call__(self, *arguments: Any, **named: Any) -> NamedTensor: ...  # noqa: D102

    @property
    def arguments(self) -> list[str]:
        """The names of the function's arguments in call order, or an empty list if there is no function.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.formula("f(x, y) = x^2 + y").arguments
        ['x', 'y']
        """
        return argument_names(self._goal)

    def evaluate(
        self, values: Values | None = None, /, *, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> NamedTensor:
        """Compute the value from inputs by name.

        Parameters
        ----------
        values : mapping of str to tensor or number, optional
            Inputs by name, if not passed as keywords.
        sizes : mapping of str to int, optional
            Sizes of axes that the inputs do not determine.
        **named : tensor or number
            Inputs by name.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If the formula or an input is wrong.

        Examples
        --------
        >>> import namedtensor as nt
        >>> float(nt.program("f(x) = 2 x\\nY = f(X)")["Y"].evaluate(X=3))
        6.0
        """
        return self(values=values, sizes=sizes, **named)

    def check(
        self, shapes: Values | None = None, /, *, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> CheckResult:
        """Check the formula without data: infer the type of every name and sub-expression, and report all errors.

        Parameters
        ----------
        shapes : mapping of str to tensor or shape, optional
            Shapes by name, if not passed as keywords. Unlike keywords, the mapping may contain unused names.
        sizes : mapping of str to int, optional
            Sizes that the shapes leave open; none is required.
        **named : tensor or shape
            Shapes such as A="ℝ^{height[3] × width}".

        Returns
        -------
        CheckResult
            Types, errors and warnings. For a function, `type` is the type of its value for arguments of these shapes.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.check("∑_{width} A", A="ℝ^{height[3] × width[2]}").type
        'ℝ^{height[3]}'
        """
        from .checks import check_goal

        return check_goal(self._goal, all_values(shapes, named), sizes, keyword_names(shapes, named))

    def explain(
        self, *arguments: Any, values: Values | None = None, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> Explanation:
        """Compute the value and record every step of the computation.

        Parameters
        ----------
        *arguments : tensor or number
            The arguments of a function.
        values : mapping of str to tensor or number, optional
            Inputs by name, if not passed as keywords.
        sizes : mapping of str to int, optional
            Sizes of axes that the inputs do not determine.
        **named : tensor or number
            Inputs by name.

        Returns
        -------
        Explanation
            The steps in order. Each step has a sub-formula, its type, its value, and the definitions that contain it.

        Raises
        ------
        NotationError
            If an evaluation would raise it.

        Examples
        --------
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
        from .explained import explain_goal

        by_name = all_values(values, named)
        goal: Any = self._goal_of(arguments, by_name)
        return explain_goal(goal, self._bound(goal, arguments, by_name), sizes, keyword_names(values, named))

    def diagram(
        self,
        *arguments: Any,
        sizes: Mapping[str, int] | None = None,
        expand: str | Collection[str] = (),
        values: Values | None = None,
        inputs: Values | None = None,
        **shapes: Any,
    ) -> Diagram:
        """Draw the flow of data to the value, with the type of each node. No value is computed.

        Parameters
        ----------
        *arguments : tensor or shape
            The arguments of a function.
        sizes : mapping of str to int, optional
            Sizes that the shapes leave open.
        expand : str or collection of str
            Names of functions to expand, and names or indices of families to draw member by member (default: none).
            Other functions are one box each, and other families are drawn once.
        values : mapping of str to tensor, optional
            Parameters whose sizes the diagram shows.
        inputs : mapping of str to tensor or shape, optional
            Inputs by name, if not passed as keywords.
        **shapes : tensor or shape
            Inputs by name. Other names are parameters, shown beside their uses. If none is passed, the inputs of a
            formula are the names that it declares.

        Returns
        -------
        Diagram

        Raises
        ------
        NotationError
            If the types do not fit, or a name in `expand` is undefined.

        Examples
        --------
        >>> import namedtensor as nt
        >>> block = nt.program("Block(X) = X + FFN(X)\\nFFN(X) = relu(X ⊙_{a} W)_{b→a}\\nW ∈ ℝ^{a × b}")
        >>> block["Block"].diagram(X="ℝ^{seq × a}", expand="FFN").save("block.svg")  # doctest: +SKIP
        """
        from .diagrams import diagram

        shapes = {**require_mapping(inputs, "inputs=", 'write inputs={"X": "ℝ^{a}"}'), **shapes}
        return diagram(self._goal, arguments, shapes, sizes, expand, values)

    @abstractmethod
    def derivative(self, wrt: str) -> Verbs:
        """Return the derivative with respect to a name, as a formula (paper §5).

        Parameters
        ----------
        wrt : str
            The name of an input, a parameter or a definition.

        Returns
        -------
        Formula or EntryPoint
            The derivative ∂value/∂X* of a value, or the function f'(X) = ∂f(X)/∂X* for a function f. The axes of X are
            starred. For example, the derivative of f : ℝ^{a} → ℝ^{b} is f' : ℝ^{a} → ℝ^{b × a*}. If the name a* is in
            use, the axis is a† or a**. The result prints as its closed form, if there is one. `to_text()` returns it
            as ∂….

        Raises
        ------
        NotationError
            If `wrt` is not a name, or the formula does not use it.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.derivative("x ⊙_{a} x", "x")
        D = 2 x^*
        >>> derivative = nt.derivative("f(x) = x^3", "x")
        >>> float(derivative(2.0))
        12.0
        >>> print(derivative.to_text())
        f(x) = x^3
        f'(x) = ∂f(x)/∂x*
        >>> program = nt.program("f(x) = x^3\\nY = f(x) + 1")
        >>> float(program["f"].derivative("x")(2.0)), float(program["Y"].derivative("x")(x=2.0))
        (12.0, 12.0)
        """

    def gradient(self, wrt: str | Iterable[str] | None = None, *, return_value: bool = False) -> Any:
        """Return a function that computes the gradients of a scalar in a single plan (paper §5).

        Parameters
        ----------
        wrt : str or iterable of str, optional
            Names of parameters (default: all declared parameters).
        return_value : bool
            Whether the function returns the pair of the scalar and the gradients (default: False).

        Returns
        -------
        Gradient
            A function of the inputs. It returns a dict of gradients by name; each has the axes of its parameter.

        Raises
        ------
        NotationError
            If a name is unknown. The function raises it if the value is not a scalar.

        Examples
        --------
        >>> import namedtensor as nt
        >>> program = nt.program("w ∈ ℝ^{a}\\nb ∈ ℝ\\nL = ∑_{a} (w ⊙ x)^2 + b")
        >>> gradients = program["L"].gradient(["w", "b"])(w=nt.tensor([1.0, 2.0], "a"), b=3.0, x=2.0)
        >>> gradients["w"].tolist(), float(gradients["b"])
        ([8.0, 16.0], 1.0)
        """
        return gradient(*self._differentiated(), wrt, return_value=return_value)

    @abstractmethod
    def _differentiated(self) -> tuple[Any, str]:
        """Return the program that contains the value to differentiate, and the name of this value."""

    def parameters(self, sizes: Mapping[str, int] | None = None, **shapes: Any) -> dict[str, str]:
        """Infer the shape of every parameter. A parameter is a name that is declared but not defined.

        Parameters
        ----------
        sizes : mapping of str to int, optional
            Sizes of axes (hyperparameters).
        **shapes : tensor or shape
            Shapes of inputs, such as X="ℝ^{seq × chans}".

        Returns
        -------
        dict of str to str
            The shape of each parameter. An entry point returns only the parameters that its value uses.

        Raises
        ------
        NotationError
            If the shapes of a function's parameters depend on its arguments, and `shapes` does not specify them.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.parameters("W ∈ ℝ^{a × b}\\nY = X ⊙_{a} W", sizes={"b": 2}, X="ℝ^{a[3]}")
        {'W': 'ℝ^{a[3] × b[2]}'}
        >>> program = nt.program("f : ℝ^{a} → ℝ\\nf(x) = x ⊙_{a} w\\nw ∈ ℝ^{a}\\nY = V\\nV ∈ ℝ^{b}")
        >>> program.parameters(sizes={"a": 3, "b": 2}), program["Y"].parameters(sizes={"b": 2})
        ({'V': 'ℝ^{b[2]}', 'w': 'ℝ^{a[3]}'}, {'V': 'ℝ^{b[2]}'})
        """
        parameters = shapes_of(infer_types(self._goal, sizes, shapes, tuple(shapes)), shapes)
        if not parameters:
            need_shapes(self._goal, shapes)
        return {name: show(shape) for name, shape in parameters.items()}

    def init(
        self,
        seed: Any = 0,
        sizes: Mapping[str, int] | None = None,
        dtype: str = "float64",
        initializers: Initializers | None = None,
        names: Collection[str] | None = None,
        **shapes: Any,
    ) -> dict[str, Any]:
        """Return an initialized tensor for each parameter.

        Parameters
        ----------
        seed : int or key of jax.random
            The seed of the random numbers. If it is a key, the tensors contain JAX arrays (default: 0).
        sizes : mapping of str to int, optional
            Sizes that the shapes leave open.
        dtype : str
            The dtype of the tensors (default: "float64").
        initializers : mapping of str to initializer, optional
            An initializer from `nt.initializers` for each name or base of a name. Default: γ is 1; a contracted tensor
            is normal with variance 1/fan_in; an added tensor is 0.
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
        >>> tensors = nt.init("Y = X ⊙_{a} W + b\\nW ∈ ℝ^{a × b}\\nb ∈ ℝ^{b}", sizes={"a": 3, "b": 2}, X="ℝ^{a}")
        >>> {name: tensor.shape for name, tensor in tensors.items()}
        {'W': ℝ^{a[3] × b[2]}, 'b': ℝ^{b[2]}}
        """
        from .initialization import fans, initial

        seed = to_seed(seed)
        initializers = require_mapping(initializers, "initializers=", 'write initializers={"W": Normal("0.02")}')
        names = None if names is None else require_names(names, "names=", 'write names=["W"]')
        checker = infer_types(self._goal, sizes, shapes, tuple(shapes))
        fan_in = fans(checker.parameters, checker.graph.all())
        parameters = shapes_of(checker, shapes)
        if names is not None:
            parameters = {name: shape for name, shape in parameters.items() if name in names}
        elif not parameters:
            need_shapes(self._goal, shapes)
        return initial(parameters, fan_in, seed, dtype, initializers, sizes)


def no_function(arguments: tuple[Any, ...], free: Sequence[str] = ()) -> NotationError:
    """Return the error for positional arguments to a formula that is not a function. The hint suggests `free` names."""
    count = f"{len(arguments)} argument{'s' * (len(arguments) != 1)}"
    return NotationError(
        304, f"this formula is not a function; got {count} by position",
        hint=suggest_call("formula", free),
    )  # fmt: skip
