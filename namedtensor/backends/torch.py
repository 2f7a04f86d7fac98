"""The PyTorch backend, which uses PyTorch's specialized operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any

from ..planning.plan import Plan, PlanValue, Step
from .entry_checks import every_step, size_lines
from .lines import (
    COMMON,
    INDEX_ERROR,
    LOOP,
    OF_NUMBERS,
    UNARY,
    GeneratedSource,
    exact,
    functions,
    numbers,
    write_scatter,
    write_transpose,
    write_tuple,
)
from .range_checks import TORCH
from .source import Backend, is_done_before

NATIVES = frozenset(
    "softmax logsoftmax gelu gelu_tanh silu softplus sigmoid relu erf lgamma layer_norm attention addmm".split()
)


def _dtype(name: str) -> str:
    return f"torch.{name}"


def _kind(step: Any) -> str:
    """Return source text for the dtype of an array of numbers, with the device if the array is created at run time."""
    return f"{_dtype(step.value.dtype)}{', device=device' if step.value.sized else ''}"


def _write_axes(options: dict[str, Any], step: Any) -> str:
    """Return the source text of a reduction's axes. If all axes are reduced but kept, PyTorch needs their positions."""
    at = options["at"]
    if at is None and options["keep"]:
        at = tuple(range(len(step.value.shape)))
    keep = ", keepdim=True" if options["keep"] else ""
    return f"{'' if at is None else at}{keep}"


def _method(name: str):
    return lambda names, options, step: f"{names[0]}.{name}({_write_axes(options, step)})"


def _vecdot(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """Return source text for dot products. It avoids `vecdot` for integers, because PyTorch does not support them."""
    whole = all(argument.dtype.startswith(("int", "uint")) for argument in step.arguments)
    return "({} * {}).sum(-1)".format(*names) if whole else "torch.linalg.vecdot({}, {})".format(*names)


def _write_take(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    array, at = names
    if options["rank"] == 1:
        return f"{array}.index_select({options['at']}, {at})"
    return f"{array}.index_select({options['at']}, {at}.reshape(-1)).reshape({options['sizes']})"


def _product(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    at = options["at"]
    if isinstance(at, int):
        return f"{names[0]}.prod({at}, keepdim={options['keep']})"
    return f"product({names[0]}, {at}, {options['keep']})"


SEEN = '''
def seen(x):
    """Return the values of x in all batches that PyTorch maps over, or None if PyTorch compiles, exports or traces."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return None
    return torch.func.debug_unwrap(x)
'''
CHECK_SIZES = '''
def check_sizes(name, x, sizes):
    """Raise ValueError if an input has other axes or sizes than this module expects."""
    if torch.jit.is_tracing():  # The size of a traced shape is not a number.
        return
    if x.ndim != len(sizes):
        raise ValueError(f"{name} must have axes [{', '.join(sizes)}], got shape {tuple(x.shape)}")
    for (axis, size), actual in zip(sizes.items(), x.shape):
        if size is not None and actual != size:
            raise ValueError(f"axis {axis} of {name} must have size {size}, got {actual}")
'''
REQUIRE = '''
def require(condition, message):
    """Raise ValueError if the sizes do not satisfy a condition."""
    if not torch.jit.is_tracing() and not condition:
        raise ValueError(message)
'''
POSITIONS = '''
def positions(indices, size, base):
    """Convert indices that start at `base` to positions from 0. Raise IndexError if one is out of range."""
    known = seen(indices)
    if known is not None:
        wrong = (known < base) | (known >= base + size)
        if wrong.any():
            raise index_error(int(known[wrong][0]), size, base)
    return indices.to(torch.int64) - base
'''
SCATTER_ADD = '''
def scatter_add(x, places, axis, size):
    """Return an array of zeros with the elements of x added at the given indices along an axis."""
    return x.new_zeros((*x.shape[:axis], size, *x.shape[axis + 1 :])).index_add(axis, places, x)
'''
WHOLE_POSITIONS = '''
def whole_positions(indices):
    """Convert float indices to integers. Raise IndexError if one is not a 64-bit integer."""
    known = seen(indices)
    if known is not None:
        wrong = (known != torch.floor(known)) | ~(torch.abs(known) < 2.0**63)
        if wrong.any():
            raise index_error(float(known[wrong][0]))
    return indices.to(torch.int64)
'''
COVERED = '''
def covered(condition):
    """Raise ValueError if no case applies to some element."""
    known = seen(condition)
    if known is not None and not known.all():
        raise ValueError("no case applies to some elements")
'''
WRONG = '''
def wrong(found):
    """Return whether an integer exceeds 64 bits. Compiled code asserts this at run time instead."""
    if torch.compiler.is_compiling():
        torch._assert_async(~found.any(), "integer overflow: exceeds int64")
        return False
    known = seen(found)
    return known is not None and not known.is_meta and bool(known.any())
'''
EXACT_CAST = '''
def exact_cast(x):
    """Convert unsigned integers to 64-bit signed integers. Raise OverflowError if one is out of range."""
    return of_64_bits(x.to(torch.int64))
'''
PRODUCT = '''
def product(x, axes, keep):
    """Return the product over several axes, one axis at a time, because PyTorch accepts only one axis."""
    axes = range(x.ndim) if axes is None else axes
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=keep)
    return x
'''
COFACTORS = '''
def cofactors(x):
    """Return det(x) times the transposed inverse, computed by SVD if x is singular or nearly singular."""
    inverse, wrong = torch.linalg.inv_ex(x)
    found = torch.linalg.det(x)[..., None, None] * inverse.mT
    exact = x.abs().amax((-2, -1), True) * inverse.abs().amax((-2, -1), True) < torch.finfo(x.dtype).eps ** -0.5
    whole = (wrong == 0)[..., None, None] & exact & found.isfinite().all(-1, True).all(-2, True)
    known = seen(whole)
    if known is None or known.all():
        return found
    finite = x.isfinite().all(-1, True).all(-2, True)
    u, s, v = torch.linalg.svd(torch.where(finite, x, 0))
    others = torch.where(torch.eye(s.shape[-1], dtype=torch.bool, device=x.device), 1, s[..., None, :]).prod(-1)
    sign = (torch.linalg.det(u) * torch.linalg.det(v))[..., None, None]
    singular = sign * (u.conj() * others[..., None, :]) @ v.conj()
    return torch.where(whole | ~finite, found, singular)
'''
EIGENVECTORS = '''
def eigenvectors(x):
    """Return the eigenvectors of symmetric matrices as columns, each with its first largest component positive."""
    found = torch.linalg.eigh(x).eigenvectors
    sizes = found.detach().abs()
    near = sizes >= sizes.amax(-2, True) * (1 - 1e-5)
    first = near & (near.cumsum(-2) == 1)
    return found * (found.detach() * first).sum(-2, True).sign()
'''
DESCENDING = '''
def descending(x):
    """Return the indices that sort the last axis in descending order. Equal elements keep their order."""
    return torch.argsort(x, dim=-1, descending=True, stable=True)
'''
SIGN = '''
def sign(x):
    """Return −1, 0 or 1 for each element, and NaN for NaN."""
    return torch.where(x == x, torch.sign(x), x)
'''
LAYER_NORM = '''
def layer_norm(x, sizes, weight, bias, eps):
    """Return PyTorch's layer norm. If a square overflows, or this is unknown, scale the distances by their maximum."""
    if seen(x) is not None and not (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        found, _, roots = torch.native_layer_norm(x, sizes, weight, bias, eps)  # The roots are about 1 / √(var + eps).
        try:
            if (roots > 0).all() and (eps or (roots < torch.inf).all()):
                return found
        except RuntimeError:  # The values are not available, for example on the device meta.
            pass
    axes = tuple(range(-len(sizes), 0))
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    away = wide - wide.mean(axes, True)
    largest = away.detach().abs().amax(axes, True)
    scale = torch.where(largest.isfinite() & (largest > (1 if eps > 1e-20 else max(eps, 0) ** 0.5)), largest, 1)
    small = away / scale
    found = (small / (small.square().mean(axes, True) + eps / scale / scale).sqrt()).to(x.dtype)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias
'''


def _attention(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    return f"scaled_dot_product_attention({', '.join(names)}, scale={options['scale']})"


def _layer_norm(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    return f"layer_norm({names[0]}, {options['sizes']}, {', '.join(names[1:] or ('None', 'None'))}, {options['eps']})"


LINES: dict[str, Any] = {
    **COMMON,
    **functions("torch.", *UNARY),
    "maximum": "torch.maximum({0}, {1})", "minimum": "torch.minimum({0}, {1})", "logaddexp": "torch.logaddexp({0}, {1})",
    "where": "torch.where({0}, {1}, {2})", "erf": "torch.special.erf({0})",
    "softmax": "torch.softmax({0}, {at})", "logsoftmax": "torch.log_softmax({0}, {at})",
    "gelu": "torch.nn.functional.gelu({0})", "gelu_tanh": 'torch.nn.functional.gelu({0}, approximate="tanh")',
    "silu": "torch.nn.functional.silu({0})", "softplus": "torch.nn.functional.softplus({0})",
    "sigmoid": "torch.sigmoid({0})", "relu": "torch.relu({0})", "layer_norm": _layer_norm, "attention": _attention,
    "multiply_transposed": "multiply_transposed({0}, {1}, {2})", "addmm": "torch.nn.functional.linear({0}, {1}, {2})",
    "dot": "torch.matmul({0}, {1})", "matmul": "torch.matmul({0}, {1})",
    "sum": _method("sum"), "max": _method("amax"), "min": _method("amin"), "any": _method("any"), "all": _method("all"),
    "mean": _method("mean"), "prod": _product,
    "cast": lambda names, options, step: f"{names[0]}.to({_dtype(options['to'])})",
    "cumsum": "{0}.cumsum({at})", "cumprod": "{0}.cumprod({at})", "sort": "torch.sort({0}, {at}).values",
    "vecdot": _vecdot,
    "transpose": partial(write_transpose, method="permute"), "reshape": "{0}.reshape({sizes})", "contiguous": "{0}.contiguous()",
    "broadcast": "torch.broadcast_to({0}, {sizes})", "unfold": "{0}.unfold({at}, {size}, 1)",
    "concat": lambda names, options, step: f"torch.cat({write_tuple(names)}, {options['at']})",
    "stack": lambda names, options, step: f"torch.stack({write_tuple(names)})",
    "take": _write_take, "scatter_add": write_scatter, "take_along": "torch.take_along_dim({0}, {1}, -1)", "ascending": "torch.argsort({0}, dim=-1, stable=True)", "descending": "descending({0})", "sign": "sign({0})", "argmax": "{0}.argmax(-1)",
    "arange": lambda names, options, step: f"torch.arange({options['start']}, {options['stop']}, dtype={_kind(step)})",
    "eye": lambda names, options, step: f"torch.eye({options['size']}, dtype={_kind(step)})",
    "constant": lambda names, options, step: f"torch.tensor({options['number']!r}, dtype={_kind(step)})",
    "numbers": lambda names, options, step: f"torch.tensor({numbers(options['numbers'])}, dtype={_kind(step)}).reshape({options['sizes']})",
    "as_array": lambda names, options, step: f"torch.tensor({names[0]}, dtype={_kind(step)})",
    "logdet": "torch.linalg.slogdet({0})[1]", "det": "torch.linalg.det({0})", "inv": "torch.linalg.inv({0})", "cofactors": "cofactors({0})",
    "trace": "{0}.diagonal(0, -2, -1).sum(-1)", "lgamma": "torch.lgamma({0})",
    "cholesky": "torch.linalg.cholesky({0})", "eigvalsh": "torch.linalg.eigvalsh({0})", "eigh": "eigenvectors({0})",
    "expm": "torch.linalg.matrix_exp({0})",
}  # fmt: skip


def makes_arrays(plan: Plan) -> bool:
    """Return whether a plan creates arrays of numbers at run time because they depend on input sizes."""
    creating = ("arange", "eye", "constant", "numbers", "as_array")
    return any(step.value.sized and step.primitive in creating for step in every_step(plan))


def outside_modes(function: Callable[[], Any]) -> Any:
    """Return the result of a function that is run in a new thread.

    The modes of PyTorch (`torch.export`, `FakeTensorMode`, `torch.inference_mode`, a default device) apply to one
    thread. In a new thread, constants are created outside these modes, so they remain valid after a mode ends.
    """
    results: list[Any] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as problem:
            problems.append(problem)

    thread = Thread(target=copy_context().run, args=(run,), daemon=True)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
    return results[0]


class Torch(Backend):
    """The PyTorch backend, whose functions move constants to the device of the inputs.

    The constants of a function are created once, for ordinary tensors. For other tensors, such as the tensors without
    values of `torch.export`, each call creates its constants again in the current mode.
    """

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self.releases, self.stored = True, frozenset(("uint16", "uint32", "uint64"))

    def default_float(self, xp: Any) -> str:
        import torch

        return str(torch.get_default_dtype()).rpartition(".")[2]

    @property
    def reserved(self) -> set[str]:
        return {*super().reserved, "device", "function_in_mode", "ordinary"}

    def opening(self, plan: Any) -> list[str]:
        if not plan.inputs:
            return []
        device = plan.names[next((input_ for input_ in plan.inputs if isinstance(input_, PlanValue)), plan.inputs[0])]
        lines = [f"    device = {device}.device"] if not plan.is_inner and makes_arrays(plan) else []
        return lines + self.lines_of_constants(plan, device)

    def lines_of_constants(self, plan: Any, device: str) -> list[str]:
        """Return the lines that move a plan's constants to the device of an input."""
        return [
            f"    {plan.names[value]} = {self.fixed_name(plan, value)}.to({device}.device)"
            for value in self.constants_in(plan)
        ]

    def constants_in(self, plan: Any) -> list[PlanValue]:
        """Return the constants that the function of a plan uses, in the order of their names."""
        used = {argument for step in plan.steps if not is_done_before(step.value) for argument in step.arguments}
        constants = {plan.names[item]: item for item in used | {*plan.results} if getattr(item, "fixed", False)}
        return [value for _, value in sorted(constants.items()) if not value.sized]

    def made(self, text: str, xp: Any, extra: Mapping[str, Any] = {}) -> dict[str, Any]:
        self.globals(xp)  # If the new thread imported them, it could wait for an import of this thread.
        return outside_modes(lambda: super(Torch, self).made(text, xp, extra))

    def source_to_run(self, plan: Plan) -> GeneratedSource:
        """Return the source of the function to run. If it has fixed steps, it first checks the types of its inputs."""
        names = [plan.names[value] for value in plan.inputs if isinstance(value, PlanValue)]
        if not names or not any(is_done_before(step.value) for step in every_step(plan)):
            return self.source(plan)
        given = ", ".join(plan.names[value] for value in plan.inputs)
        check = f"    if {' or '.join(f'type({name}) not in ordinary' for name in names)}:"
        entry = [check, f"        return function_in_mode({given})"]
        return self.source(plan, entry=[*entry, *(size_lines(plan) if plan.is_open else ())])

    def function(
        self, plan: Plan, xp: Any, extra: Mapping[str, Any] = {}
    ) -> tuple[Callable[..., Any], dict[int, Step]]:
        import torch

        def function_in_mode(*arrays: Any) -> Any:
            space = super(Torch, self).made(
                self.source_to_run(plan).text, xp, {**extra, "ordinary": tuple(map(type, arrays))}
            )
            return space["function"](*arrays)

        ordinary = (torch.Tensor, torch.nn.Parameter)
        return super().function(plan, xp, {**extra, "ordinary": ordinary, "function_in_mode": function_in_mode})

    def fixed_name(self, plan: Any, value: Any) -> str:
        return f"{plan.names[value]}_fixed" if plan.inputs and not value.sized else plan.names[value]


BACKEND = Torch(
    "torch", "import torch", LINES, {},
    {"check_sizes": CHECK_SIZES, "require": REQUIRE, "index_error": INDEX_ERROR, "seen": SEEN, "positions": POSITIONS, "scatter_add": SCATTER_ADD, "whole_positions": WHOLE_POSITIONS, "covered": COVERED, **exact("wrong({0})"), "wrong": WRONG,
     "exact_cast": EXACT_CAST,
     **TORCH, "product": PRODUCT, "descending": DESCENDING, "sign": SIGN, "cofactors": COFACTORS, "eigenvectors": EIGENVECTORS, "layer_norm": LAYER_NORM,
     "loop": LOOP.replace("stacked", "torch.stack")},
    natives=NATIVES, numbers=OF_NUMBERS, prefix="torch",
)  # fmt: skip
