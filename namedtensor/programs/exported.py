"""Conversion of formulas to compiled functions and source text, their cost, and their placement on devices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..core.kinds import require_names
from ..core.suggestions import did_you_mean, near
from .arguments import Values, all_values, keyword_names
from .entries import Entry, WholeProgram

if TYPE_CHECKING:
    from ..planning.cost import Cost
    from ..sharding.device_report import DeviceReport
    from ..sharding.sharded import Sharded
    from ..sharding.sharding import Rules
    from .compiled import CompiledFormula

DISABLE_HINT = 'write disable=["tiling"]'


def read_disabled(disable: str | Collection[str]) -> tuple[str, ...]:
    """Return the optimizations to turn off. Raise NotationError if an optimization is unknown."""
    from ..planning.optimizations import OPTIMIZATIONS

    names = require_names(disable, "disable=", DISABLE_HINT)
    for name in names:
        if name not in OPTIMIZATIONS:
            available = f"available: {', '.join(OPTIMIZATIONS)}"
            meant = did_you_mean(near(name, OPTIMIZATIONS, most=1))
            raise NotationError(208, f"unknown optimization {name!r}", notes=[available], hint=meant)
    return names


class Exported:
    """A program, formula or entry point that can be compiled, converted to source text, or examined for its cost."""

    _goal: WholeProgram | Entry

    def compile(self, backend: str | None = None, disable: str | Collection[str] = ()) -> CompiledFormula:
        """Compile a function of named tensors for repeated calls. It is planned once per input signature.

        Parameters
        ----------
        backend : {"numpy", "torch", "jax"}, optional
            The library to run on (default: the library of the inputs).
        disable : str or collection of str
            Names of optimizations to turn off, such as "tiling" (default: none).

        Returns
        -------
        CompiledFormula

        Raises
        ------
        NotationError
            If the backend is not installed, or an optimization is unknown.

        Examples
        --------
        >>> import namedtensor as nt
        >>> f = nt.compile("∑_{a} X^2")
        >>> float(f(X=nt.tensor([3.0, 4.0], "a")))
        25.0
        """
        from .compiled import CompiledFormula

        return CompiledFormula(self, backend, read_disabled(disable))

    def cost(
        self,
        values: Values | None = None,
        /,
        *,
        sizes: Mapping[str, int] | None = None,
        disable: str | Collection[str] = (),
        **named: Any,
    ) -> Cost:
        """Compute the cost of an evaluation without running it: operations, bytes and the largest array of each step.

        Parameters
        ----------
        values : mapping of str to tensor or shape, optional
            Inputs by name, if not passed as keywords. Declared parameters may be omitted.
        sizes : mapping of str to int, optional
            Sizes that the shapes leave open. A size that stays open is a symbol, and the figures are polynomials.
        disable : str or collection of str
            Names of optimizations to turn off (default: none).
        **named : tensor or shape
            Inputs, such as X="ℝ^{seq × a[8]}".

        Returns
        -------
        Cost

        Raises
        ------
        NotationError
            If the formula does not fit the shapes, or a result exceeds the memory limit.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.cost("X ⊙_{a} W", X="ℝ^{seq[100] × a[8]}", W="ℝ^{a[8] × b[4]}").multiply_adds
        3200
        >>> print(nt.cost("X ⊙_{a} W", X="ℝ^{seq × a}", W="ℝ^{a × b[4]}").multiply_adds)
        4 * a * seq
        """
        from ..planning.cost import cost_of
        from .compiled import with_declared
        from .executable import Options
        from .named_plans import plan_of, target_named

        inputs = with_declared(self._goal, all_values(values, named), sizes, with_open=True)
        options = Options(sizes, keyword_names(values, named), disable=read_disabled(disable))
        return cost_of(plan_of(self._goal, target_named("numpy"), inputs, options)[0])

    def to_python(
        self,
        library: str = "numpy",
        values: Values | None = None,
        /,
        *,
        sizes: Mapping[str, int] | None = None,
        style: str = "function",
        **named: Any,
    ) -> str:
        """Return the source text of a plain function that runs without this package.

        The function raises ValueError or TypeError for arrays with another number of axes, other sizes or other dtypes.
        It accepts single and double precision, unless its text depends on the floating dtype.

        Parameters
        ----------
        library : {"numpy", "torch", "jax", "loops"}
            The library that the function uses (default: "numpy"). With "loops", it has the style "readable" and consists of
            nested loops of plain Python over nested lists.
        values : mapping of str to tensor or shape, optional
            The inputs, in the order of the function's parameters, if not passed as keywords.
        sizes : mapping of str to int, optional
            Sizes to fix. Other sizes that the shapes leave open are read from the arrays.
        style : {"function", "module", "readable"}
            "module" returns a PyTorch class with the parameters that the formula declares. "readable" returns code as
            you would write it, for known sizes, with the formula's names and without checks (default: "function").
        **named : tensor or shape
            Inputs, such as X="ℝ^{seq × a[8]}".

        Returns
        -------
        str

        Raises
        ------
        NotationError
            If the formula does not fit the shapes, or its form depends on a size that is left open.

        Examples
        --------
        >>> import namedtensor as nt
        >>> source = nt.to_python("∑_{a} X", "torch", X="ℝ^{a[3] × b[2]}")
        >>> print(source[source.index("def function"):])
        def function(X):
            check("X", X, {"a": 3, "b": 2}, torch.float32, torch.float64)
            t1 = X.sum(0)  # ℝ^{b[2]}
            return t1
        <BLANKLINE>
        >>> print(nt.to_python("W ⊙_{a} X + c", style="readable", W="ℝ^{b[2] × a[3]}", X="ℝ^{n[4] × a[3]}", c="ℝ^{b[2]}"))
        import numpy as np
        <BLANKLINE>
        <BLANKLINE>
        def function(W, X, c):
            return W @ X.T + c[:, None]  # b × n
        <BLANKLINE>
        >>> print(nt.to_python("W ⊙_{a} X", "loops", W="ℝ^{b[2] × a[3]}", X="ℝ^{n[4] × a[3]}"))
        def function(W, X):
            result = [[0.0] * 4 for _ in range(2)]  # b × n
            for b in range(2):
                for n in range(4):
                    total = 0
                    for a in range(3):
                        total += W[b][a] * X[n][a]
                    result[b][n] = total
            return result
        <BLANKLINE>
        """
        from .compiled import to_module, to_python
        from .executable import Options
        from .parameters import ask_for_type
        from .readable import to_readable

        styles = {"function": to_python, "module": to_module, "readable": to_readable}
        if style not in styles:
            raise NotationError(408, f"unknown style {style!r}", hint=f"available: {', '.join(styles)}")
        write = to_readable if (library, style) == ("loops", "function") else styles[style]
        try:
            return write(self._goal, library, all_values(values, named), Options(sizes, keyword_names(values, named)))
        except NotationError as problem:
            raise ask_for_type(problem) from None

    def to_javascript(
        self,
        values: Values | None = None,
        /,
        *,
        sizes: Mapping[str, int] | None = None,
        standalone: bool = False,
        **named: Any,
    ) -> str:
        """Return the source text of a JavaScript module that exports the function `formula` of arrays.

        An array is a nested list, a flat row-major list such as a Float64Array, or the result `{shape, data}` of another
        such function. The function computes in double precision, and its errors have the codes and messages of this package.

        Parameters
        ----------
        values : mapping of str to tensor or shape, optional
            The inputs, in the order of the function's parameters, if not passed as keywords.
        sizes : mapping of str to int, optional
            Sizes to fix. Other sizes that the shapes leave open are read from the arrays.
        standalone : bool
            Whether to include the run-time functions instead of importing the file `javascript_runtime.js` of
            `namedtensor/backends` (default: False).
        **named : tensor or shape
            Inputs, such as X="ℝ^{seq × a[8]}".

        Returns
        -------
        str

        Raises
        ------
        NotationError
            If an input is complex, or the formula calls a Python function.

        Examples
        --------
        >>> import namedtensor as nt
        >>> print(nt.to_javascript("√(∑_{a} X)", X="ℝ^{a[3] × b[2]}"))
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
        from .compiled import to_javascript
        from .executable import Options

        options = Options(sizes, keyword_names(values, named))
        return to_javascript(self._goal, all_values(values, named), standalone, options)

    def to_einsum(
        self, values: Values | None = None, /, *, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> str:
        """Return the formula as an `einsum` call for NumPy, PyTorch or JAX.

        Parameters
        ----------
        values : mapping of str to tensor or shape, optional
            The inputs, if not passed as keywords. Declared parameters may be omitted.
        sizes : mapping of str to int, optional
            Sizes that the shapes leave open; none is required.
        **named : tensor or shape
            Inputs, such as X="ℝ^{seq × a}". The arrays have their axes in this order.

        Returns
        -------
        str
            The letters after `->` are the axes of the result in the order of its type.

        Raises
        ------
        NotationError
            If the formula is not a number times a sum of products (405). The message names the first part that does not
            fit this form, and the hint names the largest part that fits.

        Examples
        --------
        >>> import namedtensor as nt
        >>> print(nt.to_einsum("2 ∑_{a} X Y", X="ℝ^{a × b}", Y="ℝ^{a}"))
        2 * einsum("ab,a->b", X, Y)
        """
        from .einsum import to_einsum
        from .executable import Options

        return to_einsum(self._goal, all_values(values, named), Options(sizes, keyword_names(values, named)))


class OnDevices:
    """A program that can be placed on the devices of a mesh."""

    def shard(
        self, rules: Rules, mesh: Any, compute_rules: Rules | None = None, topology: str | None = None, *,
        value_rules: Mapping[str, Rules] | None = None, save: Iterable[str] | None = None,
    ) -> Sharded:  # fmt: skip
        """Place the program on the devices of a JAX mesh, as specified by rules for its axis names.

        Parameters
        ----------
        rules : mapping of str to (str or tuple of str)
            The mesh axes that shard each axis.
        mesh : jax.sharding.Mesh or mapping of str to int
            The mesh, or its sizes by name.
        compute_rules : mapping, optional
            The rules for computation, if they differ from the rules for stored parameters.
        topology : str, optional
            The devices to compile for, such as "v5e:16x16" (default: the devices of this machine).
        value_rules : mapping of str to rules, optional
            Additional rules for named values, such as {"X^l": {"seq": "model"}}.
        save : iterable of str, optional
            The values that loop steps save for their gradients. If `save` or `compute_rules` is given, loop steps
            recompute all other values.

        Returns
        -------
        Sharded

        Raises
        ------
        NotationError
            If JAX is not installed (408), the mesh has no such axis (201), or there are too few devices (310).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.program("Y = 2 X").shard({"batch": "data"}, {"data": 2})  # doctest: +SKIP
        """
        from ..sharding.sharded import shard_program
        from ..sharding.sharding import Sharding

        program: Any = self
        return shard_program(
            program, Sharding(rules, mesh, compute_rules, topology, value_rules=value_rules, save=save)
        )

    def for_devices(
        self, topology: str | None, rules: Rules, mesh: Mapping[str, int], *, compute_rules: Rules | None = None,
        value_rules: Mapping[str, Rules] | None = None, save: Iterable[str] | None = None,
        sizes: Mapping[str, int] | None = None, dtype: str = "float32", output: str | None = None,
        loss: str | None = None, update: Any = None, accumulate: str | None = None, **inputs: Any,
    ) -> DeviceReport:  # fmt: skip
        r"""Report the work of each device of a mesh without computing any value. The devices can be absent.

        Parameters
        ----------
        topology : str or None
            The devices, such as "cpu:256" or "v5e:16x16", or None for the devices of this machine. TPUs need libtpu.
        rules, mesh, compute_rules, value_rules, save
            As for `shard`.
        sizes : mapping of str to int, optional
            Sizes of axes and counts of layers.
        dtype : str, optional
            The dtype of the parameters (default: "float32").
        output : str, optional
            The name whose value is computed (default: the loss, or the value of the program).
        loss : str, optional
            The name of the loss, a formula for it, or formulas that define `loss`. If given, the report covers a
            training step.
        update : Program, optional
            The optimizer, a program for one parameter (default: Adam).
        accumulate : str, optional
            An axis of the inputs along which the step accumulates gradients.
        **inputs : shape or number
            The types of the inputs, such as ids="ℤ^{batch[32] × seq[4096]}"; the other names are parameters.

        Returns
        -------
        DeviceReport
            Memory by kind, FLOPs of products, and collectives by mesh axis.

        Raises
        ------
        NotationError
            If a rule does not fit (201, 303, 310), the topology is unknown (208), or there are too few devices (310) or
            too little memory (404).

        Examples
        --------
        >>> import namedtensor as nt
        >>> program = nt.program("Y = X ⊙_{a} W\nX ∈ ℝ^{a}\nW ∈ ℝ^{a × b}")
        >>> mesh = {"model": 2}
        >>> program.for_devices("cpu:2", {"b": "model"}, mesh, sizes={"b": 4}, X="ℝ^{a[3]}")  # doctest: +SKIP
        """
        from .devices import device_report_of

        options = {"value_rules": value_rules, "save": save}
        step = {"loss": loss, "update": update, "accumulate": accumulate}
        return device_report_of(
            self, (rules, mesh, compute_rules, topology), options, sizes, dtype, output, step, inputs
        )
