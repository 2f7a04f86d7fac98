"""Conversion of plans to methods `forward(self, X)`. The formula's parameters are attributes of the PyTorch module."""

from __future__ import annotations

import builtins
import copy
import keyword
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ..core.extents import format_size
from ..planning.plan import Plan, PlanValue, Step
from .entry_checks import input_checks, quote_name
from .source import Backend
from .torch import Torch


def attribute(name: str, taken: Callable[[str], bool]) -> str:
    """Return the source text that reads a parameter of a module by its PyTorch name.

    `taken` returns whether a name is already an attribute of a module.
    """
    if taken(name):
        return f"self._parameters[{quote_name(name)}]"
    plain = name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name
    return f"self.{name}" if plain else f"getattr(self, {quote_name(name)})"


class ModuleBackend(Torch):
    """The PyTorch backend for the module of one plan. The plan's constants are buffers of the module."""

    def __init__(self, backend: Backend, plan: Plan):
        self.__dict__.update(backend.__dict__)
        self.fixed = self
        self.names_before = dict(plan.names)
        self.buffers_of_module = {value: f"_{plan.names[value]}" for value in super().constants_in(plan)}

    def constants_in(self, plan: Any) -> list[PlanValue]:
        return [value for value in super().constants_in(plan) if value not in self.buffers_of_module]

    def fixed_name(self, plan: Any, value: Any) -> str:
        """Return the name that code outside of the class uses for the initial value of a constant's attribute."""
        return f"{self.names_before[value]}_fixed" if value in self.names_before else super().fixed_name(plan, value)


def order_results(plan: Plan, orders: Sequence[tuple[str, ...]]) -> Plan:
    """Return the plan with the axes of each result in the given order."""
    steps: list[Step] = []
    results: list[PlanValue] = []
    for result, order in zip(plan.results, orders):
        if result.order != order:
            moves = tuple(result.order.index(axis) for axis in order)
            value = PlanValue(order, tuple(result.shape[move] for move in moves), result.dtype, result.fixed)
            value.sized = result.sized
            steps.append(Step(value, "transpose", (result,), {"moves": moves}))
            result = value
        results.append(result)
    if not steps:
        return plan
    names = [plan.names[value] for value in plan.inputs]
    reordered = Plan(plan.source, names, plan.inputs, (*plan.steps, *steps), results, plan.in_place)
    reordered.conditions = plan.conditions
    reordered.names |= plan.names
    return reordered


def names_in_module(backend: ModuleBackend, plan: Plan, inputs: Sequence[PlanValue]) -> dict[Any, str]:
    """Return names for a plan's values.

    A buffer is named by its attribute, and an input such as `ids` by its own name if this name is free.
    """
    others = {*backend.reserved, *dir(builtins), *keyword.kwlist, "self", "out", "torch", "xp", "device"}
    others |= {*plan.names.values(), *map(str, plan.symbols)}
    names = {**plan.names, **{value: f"self.{name}" for value, name in backend.buffers_of_module.items()}}
    for value in inputs:
        name = re.sub(r"_+", "_", plan.names[value]).strip("_")
        is_generated = name.islower() and any(map(str.isdigit, name))  # as t1, or function_2
        if name.isidentifier() and name not in others and not is_generated:
            names[value] = name
            others.add(name)
    return names


def forward_text(backend: ModuleBackend, plan: Plan, attributes: Mapping[Any, str], comments: bool = False) -> str:
    """Return the source of `forward`, preceded by the constants and the loop functions that it uses."""
    inputs = [value for value in plan.inputs if isinstance(value, PlanValue) and value not in attributes]
    renamed = copy.copy(plan)
    renamed.names = {**names_in_module(backend, plan, inputs), **attributes}
    entry = input_checks(
        renamed, inputs, lambda value, sizes: size_check(renamed.names[value], sizes), requirement
    )  # fmt: skip
    signature = ", ".join(["self", *(renamed.names[value] for value in inputs)])
    return backend.source(renamed, "forward", comments, entry=entry, signature=signature).text


def size_check(name: str, sizes: str) -> str:
    """Return the line that checks the sizes of an input."""
    return f"    check_sizes({quote_name(name)}, {name}, {sizes})"


def requirement(condition: str, negation: str, message: str) -> list[str]:
    """Return the line that rejects sizes that violate a condition."""
    return [f"    require({condition}, {quote_name(message)})"]


def forward(
    backend: Backend, plan: Plan, attributes: Mapping[Any, str], xp: Any
) -> tuple[str, Callable[..., Any], dict[str, Any]]:
    """Return the source of `forward`, the function that it defines, and the constants that it reads from its module."""
    of_module = ModuleBackend(backend, plan)
    text = forward_text(of_module, plan, attributes)
    space = of_module.made(text, xp, of_module.data(plan, xp))
    buffers = {name: space[of_module.fixed_name(plan, value)] for value, name in of_module.buffers_of_module.items()}
    return text, space["forward"], buffers


def module_text(
    backend: Backend,
    plan: Plan,
    name: str,
    parameters: Mapping[PlanValue, str],
    initial: Mapping[PlanValue, str],
    about: Sequence[str],
) -> str:
    """Return the source of a standalone PyTorch class; `about` contains the lines of its docstring.

    `initial` maps each parameter to the source of its initial value, in which `{}` represents the list of its sizes.
    """
    backend = ModuleBackend(backend, plan)
    attributes = {value: attribute(parameter, own_names().__contains__) for value, parameter in parameters.items()}
    text = forward_text(backend, plan, attributes, comments=True)
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("def forward("))
    before, method = lines[:start], lines[start:]
    texts = [
        f"        {write_registration(parameter)} = torch.nn.Parameter({initial[value].format(format_sizes(value))})"
        for value, parameter in parameters.items()
    ]
    texts += [
        f"        self.register_buffer({quote_name(name)}, {backend.fixed_name(plan, value)}, persistent=False)"
        for value, name in backend.buffers_of_module.items()
    ]
    kernels, aliases = backend.used(text)
    head = "\n".join(backend.heads(text, kernels))
    if aliases:
        head += "\n\n" + "\n".join(f"{alias} = {meaning}" for alias, meaning in aliases.items())
    described = ['    """', *(f"    {harmless(line)}".rstrip() for line in about), '    """']
    body = [
        f"class {name}(torch.nn.Module):",
        *described,
        "",
        "    def __init__(self):",
        "        super().__init__()",
        *texts,
        "",
        *(f"    {line}" for line in method),
    ]
    parts = [head, *kernels, *(["\n".join(before)] if before else []), "\n".join(body)]
    return "\n\n\n".join(parts) + "\n"


def harmless(line: str) -> str:
    """Return a line of a docstring with backslashes escaped and double quotes replaced by single quotes."""
    return line.replace("\\", "\\\\").replace('"', "'")


def format_sizes(value: PlanValue) -> str:
    return ", ".join(map(format_size, value.shape)) or "()"


def write_registration(name: str) -> str:
    """Return the target of the assignment that registers a parameter when the module is created."""
    text = attribute(name, own_names().__contains__)
    return text if text.startswith("self.") and "[" not in text else f"self._parameters[{quote_name(name)}]"


@cache
def own_names() -> frozenset[str]:
    """Return the names that every PyTorch module defines."""
    from torch.nn import Module

    return frozenset(dir(Module()))
