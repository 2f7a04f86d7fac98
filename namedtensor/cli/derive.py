"""The command `derive`: prints the closed form of a derivative or its derivation, and checks both on tensors."""

from __future__ import annotations

import re
from typing import Any

from grammar.errors import NotationError
from grammar.printer import to_text

from .arguments import source_of
from .console import FINE, Console
from .formula_commands import add_labels, table, value_record
from .inputs import shapes_of, sizes_of, values_of
from .parsers import ANY, Argument, command, formula_with
from .render import SPELLINGS, spell


@command(
    *formula_with("shapes, X='ℝ^{seq}', for the closed form; or tensors, for the value of the derivative"),
    Argument("--wrt", "NAME", "the name to differentiate with respect to: X, W^Q, b_1", {"required": True}),
    Argument("--to", tuple(SPELLINGS), "the output format of the derivative (default: text)"),
    Argument("--as-written", "", "print ∂…/∂X* instead of the closed form"),
    Argument("--steps", "", "print the derivation, one rule per line"),
    Argument("--check", "NAME=...", "compare with finite differences at these tensors", {**ANY, "default": None}),
)
def derive_command(options: Any, console: Console) -> int | None:
    r"""Print the derivative of a formula, as formula or value.

    namedtensor derive 'softmax_{ax} X' --wrt X
    namedtensor derive 'softmax_{ax} X' --wrt X --steps
    namedtensor derive 'softmax_{ax} X' --wrt X --check X='[1,2,3]:ax'
    namedtensor derive 'x ⊙_{a} W' --wrt W x='ℝ^{a}' W='ℝ^{a × b}'
    namedtensor derive 'softmax_{ax} X' --wrt X X='[1,2,3]:ax'
    namedtensor derive '\nfun{\seq}{softmax} X' --wrt X --to latex-macros
    namedtensor derive loss.nt --wrt W^1 > gradient.nt
    """
    from ..programs.api import derivative

    source = source_of(options)
    result: Any = derivative(source.text, options.wrt, syntax=source.syntax)
    if options.check is not None:
        return check_derivative(result, options, console)
    if all(SHAPE.match(word) for word in options.inputs):
        return print_derivative(result, options, console)
    values = values_of(options.inputs, options.header, console)
    value = result(values=values, sizes=sizes_of(options.sizes))
    if options.json:
        console.json({"value": value_record(value)})
    else:
        console.print(table(add_labels(values, value)))


SHAPE = re.compile(r"[^=]+=\s*(ℝ|R\b|\\mathbb|\\reals)")  # NAME=ℝ^{…}


def print_derivative(derivation: Any, options: Any, console: Console) -> None:
    """Print the closed form of a derivative, or its derivation.

    With --as-written, or if no shapes are given and no closed form is found, print the derivative as written.
    """
    shapes = shapes_of(options.inputs, options.header, console)
    if options.as_written:
        return spell(derivation.tree, options.to or "text", options, console)
    try:
        closed = derivation.closed_form(sizes=sizes_of(options.sizes), **shapes)
        conditions = ", ".join(closed.conditions)
        note = "; ".join(filter(None, (closed.note, conditions and f"it is the derivative if {conditions}")))
    except NotationError as problem:
        if shapes or options.steps or problem.code not in (201, 206, 301, 302, 303, 309, 405):
            raise
        return spell(derivation.tree, options.to or "text", options, console)
    if note:
        console.note(f"note: {note}")
    if options.steps and options.json:
        names = list(map(to_text, closed.definitions))
        console.json({"names": names, "steps": [step_record(step) for step in closed.steps]})
    elif options.steps and options.to in ("latex", "latex-macros"):
        console.print(closed.to_latex(steps=True, macros=options.to == "latex-macros"))
    elif options.steps and closed.steps:
        from ..display.derivations import way_text

        console.print(way_text(closed, options.to == "ascii"))
    else:
        spell(closed.expression.tree, options.to or "text", options, console)


def step_record(step: Any) -> dict[str, str]:
    """Return a derivation step as a JSON record."""
    return {"equation": step.equation, "rule": step.rule, "identity": step.identity}


LARGEST = 1e-5  # the largest accepted difference


def check_derivative(derivation: Any, options: Any, console: Console) -> int:
    """Compare the closed form with finite differences. Return 1 if they differ, or 0 otherwise.

    Also check each step of the derivation. Raise NotationError if a step does not hold.
    """
    from ..core.tensor import tensor
    from ..derivations.differences import differences, distance

    inputs = [word for word in options.inputs if not SHAPE.match(word)]
    values, sizes = values_of([*inputs, *options.check], options.header, console), sizes_of(options.sizes)
    expected = differences(derivation, values, sizes)
    closed = derivation.closed_form(
        sizes=sizes, **{name: getattr(entry, "shape", "ℝ") for name, entry in values.items()}
    )
    values = {**values}  # the closed form may need fewer
    value = closed(values=values, sizes=sizes)
    if value.axes:
        expected = tensor(expected.to_numpy(value.axes), " ".join(value.axes))
    closed.check(values, sizes=sizes)
    largest = distance(value, expected)
    holds = largest <= LARGEST
    if options.json:
        record = {"value": value_record(value), "differences": value_record(expected), "largest": largest}
        console.json({"closed": closed.to_text(), **record, "steps": len(closed.steps), "ok": holds})
    else:
        console.print(f"{closed}\n\nvalue of the closed form\n{table(value)}\nfinite differences\n{table(expected)}")
        verdict = f"the largest difference is {largest:.1e}" if holds else f"these differ by {largest:.1e}"
        count = len(closed.steps)
        console.print(f"{verdict}; {count} step{'s hold' if count != 1 else ' holds'}")
    return FINE if holds else 1
