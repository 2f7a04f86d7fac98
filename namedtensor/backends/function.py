"""Plan functions: plans compiled to Python and run without NumPy's warnings. Errors show the failing formula part.

If a function fails, the failing source line identifies the step. Successful calls therefore have no tracking overhead.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError

from ..core.arrays import evaluate_eagerly
from ..core.dimensions import is_inconclusive
from ..planning.failures import (
    OF_MATRICES,
    index_error_at,
    is_index_problem,
    make_matrix_error,
    make_rejection_error,
    overflow_error,
    span_of,
)
from ..planning.plan import Plan, Step
from ..planning.target import Target
from ..planning.whole_numbers import CHECKS
from .lines import FILE
from .source import Backend

FAILURES = (
    ArithmeticError,
    ValueError,
    IndexError,
    MemoryError,
    RuntimeError,
    TypeError,
)  # exceptions of array libraries


class PlanFunction:
    """A plan, compiled to a function of positional arrays that returns one array or a tuple of arrays."""

    __slots__ = ("plan", "target", "run", "steps")
    run: Callable[..., Any]
    steps: dict[int, Step]

    def __init__(self, plan: Plan, target: Target, python: list[Callable[..., Any]]):
        self.plan, self.target = plan, target
        extra: dict[str, Any] = {f"python_{number}": function for number, function in enumerate(python, 1)}
        if target.placement is not None:
            extra |= target.placement.kernels
        self.steps = {}
        is_quiet = target.name in ("numpy", "standard")
        try:
            with warnings_ignored() if is_quiet else evaluate_eagerly(target.xp):
                self.run, self.steps = target.backend.function(plan, target.xp, extra)
        except Exception as problem:
            raise self.explain_exception(problem) from None
        if is_quiet:  # The user's Python functions must run in the caller's context.
            self.run = warnings_ignored()(self.run) if python else ignore_warnings(self.run)

    def __call__(self, *arrays: Any) -> Any:
        try:
            return self.run(*arrays)
        except Exception as problem:
            raise self.explain_exception(problem) from None

    @property
    def nbytes(self) -> int:
        """The approximate memory that the plan and its preparation occupy, in bytes."""
        return bytes_of(self.plan) + self.held

    @property
    def held(self) -> int:
        """The total bytes of the arrays that this function and the functions that it calls keep between calls."""
        base = self.target.backend.globals(self.target.xp)
        functions, arrays, seen = [self.run], {}, set()
        while functions:
            function = functions.pop()
            function = getattr(function, "__wrapped__", function)
            code = getattr(function, "__code__", None)
            if code is None or code.co_filename != FILE or id(function.__globals__) in seen:
                continue
            seen.add(id(function.__globals__))
            for name, value in function.__globals__.items():
                if name not in base and callable(value):
                    functions.append(value)
                elif name not in base:
                    arrays[id(value)] = getattr(value, "nbytes", 0)
        return sum(size for size in arrays.values() if isinstance(size, int))

    def explain_exception(self, problem: Exception) -> Exception:
        """Return a NotationError that explains an exception of the plan's function, or else the exception itself."""
        step = self.failed(problem)
        if step is None:
            return problem
        source, term = self.plan.source, step.origin
        if is_inconclusive(problem):
            hint = 'state its constraints: jax.export.symbolic_shape("…", constraints=["seq >= 2"]), or give a number'
            return NotationError(
                309, "this depends on a symbolic dimension about which JAX does not know enough", source, span_of(term, source),
                hint=hint,
            )  # fmt: skip
        if isinstance(problem, NotationError):
            return problem.located(source, span_of(term, source))
        if step.primitive == "python" or not isinstance(problem, FAILURES):
            return problem
        if isinstance(problem, IndexError) and is_index_problem(problem):
            return index_error_at(problem, source, term)
        if step.primitive == "covered":
            hint = "add an otherwise case at the end"
            return NotationError(405, str(problem), source, term.node.span, hint=hint)
        if step.primitive in OF_MATRICES and (wrong := make_matrix_error(problem)) is not None:
            return wrong.located(source, span_of(term, source))
        if step.primitive in CHECKS:
            return overflow_error(step.value.dtype).located(source, span_of(term, source))
        return make_rejection_error(problem, source, term)

    def lines(self) -> dict[int, Step]:
        """Return the step that each line of the source text computes, by line number."""
        return self.target.backend.source(self.plan).steps

    def failed(self, problem: Exception) -> Step | None:
        """Return the step whose line raised the exception.

        If no generated line is in the traceback, return the plan's only step, or None if there are several steps.
        """
        steps = self.steps or self.lines()
        trace, step = problem.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE:
                step = steps.get(trace.tb_lineno, step)
            trace = trace.tb_next
        return next(iter(steps.values())) if step is None and len(steps) == 1 else step


STEP, INPUT = 1200, 400  # the approximate bytes of a step and an input, including terms, source and code


def bytes_of(plan: Plan) -> int:
    """Return the approximate memory of a plan, including its function, in bytes."""
    inner = (step.options["plan"] for step in plan.steps if "plan" in step.options)
    return STEP * len(plan.steps) + INPUT * len(plan.inputs) + sum(map(bytes_of, inner))


# The value of log(-1) is nan, without a warning. NumPy keeps its warning settings in a context variable, so running a
# call in a context without warnings costs almost nothing.
_FREE: list[contextvars.Context] = []


def context_without_warnings() -> contextvars.Context:
    import numpy as np

    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")
    return context


def ignore_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs the given function without NumPy's warnings."""

    def run(*arrays):
        try:
            context = _FREE.pop()
        except IndexError:
            context = context_without_warnings()
        try:
            return context.run(function, *arrays)
        finally:
            _FREE.append(context)

    run.__wrapped__ = function
    return run


def warnings_ignored():
    """Return an object that silences NumPy's warnings, as a context manager or as a decorator."""
    import numpy as np

    return np.errstate(all="ignore")


NAMES = ("numpy", "torch", "jax", "standard")


@lru_cache(maxsize=len(NAMES))
def backend(name: str) -> Backend:
    """Return the backend for the library with this name."""
    return import_module(f"..{name}", __name__).BACKEND


def backend_of(namespace: str) -> Backend:
    """Return the backend for the arrays of a namespace."""
    if namespace in ("numpy", "array_api_compat.numpy"):
        return backend("numpy")
    if namespace.endswith("torch"):
        return backend("torch")
    return backend("jax" if namespace.startswith("jax") else "standard")


_TARGETS: Cache[Any, Target] = Cache("libraries of arrays", 64)


def target_of(xp: Any) -> Target:
    """Return the target for arrays whose namespace is `xp`."""
    return _TARGETS.get_or_build(xp, lambda: Target(backend_of(xp.__name__), xp))
