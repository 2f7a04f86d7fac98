"""The JavaScript backend, which generates a function over dense arrays of doubles, for Node.js and browsers.

A plan for this backend has three dtypes: "bool" (0 and 1), "int54" (the integers that a double represents exactly) and
"float64". All three are stored as Float64Array, so most casts do nothing. Generated code calls the functions of
`javascript_runtime.js`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from textwrap import indent
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import kind_of
from ..core.extents import Atom, Extent, Quotient, SizeSymbol, format_polynomial, symbols_of
from ..planning.plan import Plan, PlanValue, Step
from ..planning.target import Target
from ..terms.environment import source_name
from .entry_checks import Read, every_step, reads_of, unread_axes
from .lines import FLOATING, INDICES, INFIX, OF_NUMBERS, SUMMED, UNARY, parts_of_loop
from .source import Backend, comment, is_done_before

RUNTIME = "javascript_runtime.js"
RELATIONS = {"==": "===", "!=": "!==", "<=": "<=", ">": ">"}
WHOLE, FLOAT, TRUTH = "int54", "float64", "bool"
DTYPES = {"b": TRUTH, "i": WHOLE, "u": WHOLE, "f": FLOAT}  # by the kind of the requested dtype
KINDS = {WHOLE: "integer", TRUTH: "boolean"}  # the contents of an input with this dtype
Line = Callable[[tuple[str, ...], dict[str, Any], Step], str]


KEYWORDS = frozenset(
    "await break case catch class const continue debugger default delete do else enum export extends false finally for function if "
    "implements import in instanceof interface let new null package private protected public return static super switch this "
    "throw true try typeof var void while with yield arguments eval Math NaN Infinity undefined nt formula".split()
)


# ------------------------------------------------------------------------------------------------------------- values
class ScriptText(str):
    """JavaScript source text whose `repr` is the text itself, for use in the options of a step."""

    __slots__ = ()

    __repr__ = str.__str__


def code_of_sizes(value: Any) -> Any:
    """Return an option or the options of a step with each symbolic size replaced by its source text."""
    if type(value) is Extent:
        return ScriptText(format_polynomial(value.terms, code_of_atom, " * "))
    if isinstance(value, tuple):
        return tuple(map(code_of_sizes, value))
    return {name: code_of_sizes(entry) for name, entry in value.items()} if isinstance(value, dict) else value


def code_of_atom(atom: Atom) -> str:
    if isinstance(atom, SizeSymbol):
        return atom.name
    left, right = map(code_of_sizes, (atom.left, atom.right))
    return f"Math.floor(({left}) / ({right}))" if isinstance(atom, Quotient) else f"Math.max({left}, {right})"


def literal(value: Any) -> str:
    """Return a Python value as a JavaScript literal.

    >>> literal((1, None, 2.5)), literal(-math.inf), literal("<"), literal(True)
    ('[1, null, 2.5]', '-Infinity', '"\\\\u003c"', 'true')
    """
    if isinstance(value, (ScriptText, Extent)):
        return str(code_of_sizes(value))
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return json.dumps(value).replace("<", "\\u003c")  # "</script>" would end a script in a page.


def number(value: Any) -> str:
    """Return a number as a JavaScript literal. Booleans become 0 and 1."""
    return literal(int(value) if isinstance(value, bool) else value)


def numbers(values: Sequence[Any]) -> str:
    return f"[{', '.join(map(number, values))}]"


def span(step: Step) -> str:
    """Return the formula span of a step as JavaScript source text, for errors at run time."""
    node = None if step.origin is None else step.origin.node
    return literal(node.span) if node is not None and hasattr(node, "span") else "undefined"


# -------------------------------------------------------------------------------------------------------------- lines
def reduction(name: str) -> Line:
    def line(names: tuple[str, ...], options: dict[str, Any], step: Step) -> str:
        at, rank = options["at"], len(step.arguments[0].shape)
        axes = list(range(rank)) if at is None else [at] if isinstance(at, int) else list(at)
        return f"nt.{name}({names[0]}, {literal(axes)}{', true' * bool(options['keep'])})"

    return line


def cast(names: tuple[str, ...], options: dict[str, Any], step: Step) -> str:
    kind = kind_of(options["to"])
    if kind == "b":
        return f"nt.truth({names[0]})"
    return f"nt.trunc({names[0]})" if kind == "i" and kind_of(step.arguments[0].dtype) == "f" else names[0]


def positions(names: tuple[str, ...], options: dict[str, Any], step: Step) -> str:
    axes = () if step.origin is None else step.origin.axes
    axis = literal(source_name(axes[0]) if axes else "the axis")
    return f"nt.positions({names[0]}, {options['size']}, {options['base']}, {axis}, {span(step)})"


def loop(names: tuple[str, ...], options: dict[str, Any], step: Step) -> str:
    text = ", ".join(f"[{', '.join(part)}]" for part in parts_of_loop(names, options))
    return f"nt.loop({options['function']}, {text}, {options['steps']}, {literal((*options['kept'], *options['listed']))}, {len(options['kept'])})"


def exact(primitive: str, text: str) -> dict[str, Line]:
    """Return a table with the line for one primitive. The line checks that doubles represent all results exactly."""
    return {primitive: lambda names, options, step: f"nt.exact({text.format(*names)}, {span(step)})"}


def write_scatter(names: tuple[str, ...], options: dict[str, Any], step: Step) -> str:
    return f"nt.scatter_add({names[0]}, {names[1]}, {options['at']}, {literal(options['sizes'])})"


def write_check(name: str) -> Line:
    return lambda names, options, step: f"nt.{name}({names[0]}, {span(step)})"


LINES: dict[str, Line | str] = {
    **{name: f"nt.{name}({{0}})" for name in (*UNARY, "negative", "logical_not", "erf", "ascending", "descending", "argmax", "det", "logdet", "trace", "cofactors", "eigvalsh", "eigh", "expm")},
    **{name: f"nt.{name}({{0}}, {{1}})" for name in (*INFIX, "maximum", "minimum", "logaddexp", "matmul", "dot", "vecdot", "take_along")},
    **{name: f"nt.{name}({{0}}, {{at}})" for name in ("cumsum", "cumprod", "sort")},
    **{name: reduction(name) for name in ("sum", "prod", "max", "min", "any", "all")},
    **{name: write_check(name) for name in ("inv", "cholesky", "covered", "whole_positions")},
    **exact("exact_add", "nt.add({0}, {1})"), **exact("exact_subtract", "nt.subtract({0}, {1})"),
    **exact("exact_abs", "nt.abs({0})"),
    "where": "nt.where({0}, {1}, {2})", "positions": positions, "cast": cast, "item": "{0}[{at}]", "loop": loop,
    "transpose": lambda names, options, step: f"nt.transpose({names[0]}, {literal(options['moves'])})",
    "reshape": lambda names, options, step: f"nt.reshape({names[0]}, {literal(options['sizes'])})",
    "expand": lambda names, options, step: f"nt.reshape({names[0]}, {literal(step.value.shape)})",
    "broadcast": lambda names, options, step: f"nt.broadcast({names[0]}, {literal(options['sizes'])})",
    "pick": lambda names, options, step: f"nt.pick({names[0]}, {literal(options['places'])})",
    "head": "nt.head({0}, {size})", "part": "nt.part({0}, {start}, {stop})", "unfold": "nt.unfold({0}, {at}, {size})",
    "concat": lambda names, options, step: f"nt.concat([{', '.join(names)}], {options['at']})",
    "stack": lambda names, options, step: f"nt.stack([{', '.join(names)}])",
    "take": "nt.take({0}, {1}, {at})", "scatter_add": write_scatter, "arange": "nt.arange({start}, {stop})", "eye": "nt.eye({size})",
    "constant": lambda names, options, step: number(options["number"]),
    "numbers": lambda names, options, step: f"nt.numbers({numbers(options['numbers'])}, {literal(options['sizes'])})",
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- the target
class JavaScript(Backend):
    """The table of JavaScript lines, and the writer of JavaScript source."""

    def function_text(self, plan: Plan, name: str = "formula", *, tupled: bool = False) -> str:
        """Return the source of a plan's function, preceded by its constants and loop functions, without the runtime.

        The function returns several results as a list. If `tupled` is true, it also returns a single result as a list,
        and it does not check its inputs.
        """
        loops = [self.loop_text(step) for step in plan.steps if step.primitive == "loop"]
        known = [step for step in plan.steps if step.primitive != "same"]
        lines = [] if plan.is_open else [line for text in loops for line in (text, "")]
        lines += [self.line(plan, step) for step in known if is_done_before(step.value)]
        lines += [""] * any(is_done_before(step.value) for step in known)
        lines.append(f"function {name}({', '.join(plan.names[value] for value in plan.inputs)}) {{")
        if not plan.is_inner:
            lines += [f"  {line}" for line in (size_lines(plan) if tupled else self.inputs(plan))]
        if plan.is_open:  # The functions of the loops use the sizes that this function reads.
            lines += [indent(text, "  ") for text in loops]
        lines += [f"  {self.line(plan, step)}" for step in known if not is_done_before(step.value)]
        results = [f"nt.array({self.argument(plan, value)})" for value in plan.results]
        result = results[0] if len(results) == 1 and not tupled else f"[{', '.join(results)}]"
        return "\n".join([*lines, f"  return {result};", "}"])

    def loop_text(self, step: Step) -> str:
        """Return the source of the function that runs the body of a loop."""
        return self.function_text(step.options["plan"], step.options["function"], tupled=True)

    @property
    def reserved(self) -> set[str]:
        return super().reserved | KEYWORDS

    def expression(self, step: Step, names: tuple[str, ...]) -> str:
        return super().expression(step._replace(options=code_of_sizes(step.options)), names)

    def inputs(self, plan: Plan) -> list[str]:
        """Return the lines that check the inputs, and read from them the sizes that the source text uses."""
        lines: list[str] = []
        known: set[SizeSymbol] = set()
        reads = reads_of(plan, shapes=True)
        for value in plan.inputs:
            if isinstance(value, PlanValue):
                shape = tuple(size if known >= symbols_of(size).keys() else None for size in value.shape)
                lines.append(self.given(plan, value, shape))
                readings = [reading for reading in reads if reading.value is value]
                known |= {reading.symbol for reading in readings}
                lines += map(size_line, readings)
                if unread_axes(value, shape, readings, known):
                    lines.append(self.given(plan, value, value.shape))
        for condition in plan.conditions:
            holds = f"{literal(condition.left)} {RELATIONS[condition.relation]} {literal(condition.right)}"
            message = literal(f"sizes must satisfy {condition.shown}")
            lines.append(f"if (!({holds})) throw new nt.NotationError(308, {message});")
        return lines

    def line(self, plan: Plan, step: Step) -> str:
        text = f"{self.expression(step, self.names_of(plan, step))};"
        if step.primitive != "covered":
            text = f"const {plan.names[step.value]} = {text}"
        return text if step.primitive in ("covered", "loop") else f"{text}  // {comment(step.value)}"

    def given(self, plan: Plan, value: PlanValue, shape: tuple[Any, ...]) -> str:
        """Return the line that converts an input to the form that the function uses and checks the input's shape."""
        name = plan.names[value]
        kind = KINDS.get(value.dtype)
        of_kind = "" if kind is None else f", {literal(kind)}"
        return f"{name} = nt.given({name}, {literal(name)}, {literal(shape)}{of_kind});  // {comment(value)}"

    def names_of(self, plan: Plan, step: Step) -> tuple[str, ...]:
        return tuple(self.argument(plan, argument) for argument in step.arguments)

    def argument(self, plan: Plan, argument: Any) -> str:
        return plan.names[argument] if isinstance(argument, PlanValue) else number(argument)

    def text(self, plan: Plan, standalone: bool = False) -> str:
        """Return the source of a module that exports `formula`.

        If `standalone` is true, the module contains its runtime functions; otherwise, it imports them. Raises
        NotationError if JavaScript has no line for a step.
        """
        refused = [step.primitive for step in every_step(plan) if step.primitive not in (*self.lines, "same")]
        if refused:
            raise NotationError(408, f"{refused[0]} has no JavaScript translation")
        body = re.sub(r"^(?=function formula\()", "export ", self.function_text(plan), flags=re.MULTILINE)
        head = runtime_for(body) if standalone else f'import * as nt from "./{RUNTIME}";'
        return f"{head}\n\n{body}\n"


def size_line(read: Read) -> str:
    return f"const {read.symbol} = {code_of_sizes(read.solved)};"


def size_lines(plan: Plan) -> list[str]:
    """Return the lines that read the sizes that the source text uses."""
    return [size_line(reading) for reading in reads_of(plan, shapes=True)]


BACKEND = JavaScript("javascript", "", LINES, {}, {}, numbers=OF_NUMBERS | {"maximum", "minimum", "where"})


class JavaScriptTarget(Target):
    """The JavaScript target. Result dtypes come from a table, because there is no library to query."""

    def __init__(self):
        super().__init__(BACKEND, None)

    @property
    def default_float(self) -> str:
        return FLOAT

    def canonical(self, dtype: str) -> str:
        kind = kind_of(dtype)
        if kind not in DTYPES:
            raise NotationError(408, f"JavaScript has no complex numbers, got {dtype}")
        return DTYPES[kind]

    def result_type(self, dtypes: Sequence[str]) -> str:
        return max(dtypes, key=(TRUTH, WHOLE, FLOAT).index)

    def ask(self, primitive: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
        if primitive in FLOATING:
            return FLOAT
        if primitive in INDICES:
            return WHOLE
        values = arguments[1:] if primitive == "where" else arguments
        kinds = {
            value.dtype if hasattr(value, "dtype") else OF_PLAIN[getattr(value, "kind", type(value))]
            for value in values
        }
        met = self.result_type([*kinds])
        return WHOLE if met == TRUTH and primitive in SUMMED else met


OF_PLAIN: Mapping[type, str] = {bool: TRUTH, int: WHOLE, float: FLOAT}
TARGET = JavaScriptTarget()


# --------------------------------------------------------------------------------------------------------- the runtime
@cache
def runtime() -> str:
    """Return the source of the runtime, a JavaScript module."""
    return (files(__name__.rpartition(".")[0]) / RUNTIME).read_text(encoding="utf-8")


@cache
def pieces() -> dict[str, str]:
    """Return the source of each function in the runtime by name, including the comment before it."""
    text = re.sub(r"^// -.*\n", "", runtime(), flags=re.MULTILINE)
    result: dict[str, str] = {}
    for part in re.split(r"^(?=/\*\*|export )(?<!\*/\n)", text, flags=re.MULTILINE)[1:]:
        opening = re.search(r"^export \w+ (\w+)", part, flags=re.MULTILINE)
        assert opening is not None, part
        result[opening[1]] = part.replace("export ", "", 1).strip()
    return result


def runtime_for(text: str) -> str:
    """Return the source of the runtime functions that a text needs, and of an object `nt` with the called functions."""
    every = pieces()
    called = {*re.findall(r"\bnt\.(\w+)", text)}
    needed, waiting = set[str](), [*called]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            code = re.sub(r"^/\*\*.*", "", every[name], flags=re.MULTILINE)
            waiting += [other for other in re.findall(r"(?<![.\w])\w+", code) if other in every]
    functions = "\n\n".join(part for name, part in every.items() if name in needed)
    return f"{functions}\n\nconst nt = {{ {', '.join(name for name in every if name in called)} }};"
