"""Code generation: converts a plan to the source of a plain function of positional arrays, with one line per step.

The code consists only of lines for primitives, numbers, and identifiers that `plan.safe` created. Text that a user
wrote, such as an axis name, appears only in string literals and comments.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from grammar.cache import Cache

from ..core.arrays import dtype_name
from ..core.extents import Extent, symbols_of
from ..planning.memory import Workspace, find_reused_arrays, last_uses, workspaces
from ..planning.plan import Plan, PlanValue, Scalar, Step
from ..planning.whole_numbers import CHECKS
from .entry_checks import CHECK, entry_checks, size_lines
from .lines import FILE, INFIX, PREFIX_LINES, GeneratedSource, Written, code_of, function_in, write_tuple

Line = Callable[[tuple[str, ...], dict[str, Any], Step], str] | str
SYMBOLS = {symbol: name for name, symbol in INFIX.items()}
SIGNS = {line[0]: name for name, line in PREFIX_LINES.items()}
MATH = {"inf": math.inf, "nan": math.nan}
WORDS = re.compile(r"(?<![.\w])[a-z_]\w*")
DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)
MAX_NAMESPACES = 16  # of one library, such as numpy and array_api_compat.numpy


DIRECT = re.compile(
    r"def function\((?P<parameters>[\w, ]*)\):\n    return "
    r"(?:(?P<name>[a-z_]+)\((?P<arguments>[\w, ]*)\)|(?P<left>\w+) (?P<symbol>\S+) (?P<right>\w+)|(?P<sign>[-~])(?P<only>\w+))\n"
)


def words_of(text: str) -> set[str]:
    """Return the words of a source text outside its docstrings, which include all names that it uses."""
    return set(WORDS.findall(DOCSTRING.sub("", text)))


class Backend:
    """A backend: the lines for its primitives, the kernels that they call, and its dtype rules."""

    def __init__(
        self, name: str, imports: str, lines: Mapping[str, Line], aliases: Mapping[str, str], kernels: Mapping[str, str],
        natives: frozenset[str] = frozenset(), numbers: frozenset[str] = frozenset(), prefix: str = "np",
        fixed: Backend | None = None, writes: frozenset[str] = frozenset(), products: frozenset[str] = frozenset(),
    ):  # fmt: skip
        self.name, self.imports, self.lines, self.aliases, self.kernels = name, imports, lines, aliases, kernels
        self.natives, self.numbers, self.prefix = natives, numbers, prefix
        self.fixed = fixed or self  # the backend that computes the fixed steps
        self.modules: tuple[str, ...] = ()  # modules of Python's standard library that the kernels need
        self.writes = writes  # the primitives that can write their result over an argument
        self.known: Mapping[str, Callable[[Step, Any], Any]] = {}  # primitives whose fixed steps run without source
        self.products = products  # the primitives that can write their result to a separate array
        self.stored: frozenset[str] = frozenset()  # dtypes for which the library lacks arithmetic
        self.keeps_sized = False  # whether values that depend only on sizes are kept for the next call
        self.releases = False  # whether arrays are released at their last use, if none is reused in place
        self._globals: Cache[str, dict[str, Any]] = Cache(f"globals of generated text, {name}", MAX_NAMESPACES)

    @property
    def reserved(self) -> set[str]:
        """The names of the functions and modules that generated source uses, which no other name may equal."""
        named = {word for line in self.lines.values() if isinstance(line, str) for word in WORDS.findall(line)}
        return {*named, *self.aliases, *self.kernels, *self.lines, *self.modules}

    # ------------------------------------------------------------------------------------------------------- dtypes
    def default_float(self, xp: Any) -> str:
        return "float64"

    def canonical(self, xp: Any, dtype: str) -> str:
        return dtype

    def ask(self, target: Any, primitive: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
        xp, inputs, names = target.xp, [], []
        for number, argument in enumerate(arguments):
            if isinstance(argument, PlanValue):
                inputs.append(xp.ones((1,) * len(argument.shape), dtype=target.object_of(argument.dtype)))
                names.append(f"x{number}")
            else:
                names.append(
                    repr(argument.kind(1)) if isinstance(argument, Scalar) else f"({replace_sizes(argument)!r})"
                )
        step = Step(PlanValue((), (), "float64"), primitive, arguments, replace_sizes(options))
        parameters = ", ".join(name for name, operand in zip(names, arguments) if isinstance(operand, PlanValue))
        text = f"def function({parameters}):\n    return {self.expression(step, tuple(names))}\n"
        return dtype_name(self.made(text, xp)["function"](*inputs).dtype)

    # --------------------------------------------------------------------------------------------------------- text
    def expression(self, step: Step, names: tuple[str, ...]) -> str:
        """Return the source text of the expression that computes a step."""
        line = self.lines[step.primitive]
        if isinstance(line, str):
            return line.format(*names, **step.options)
        return line(names, step.options, step)

    def writing(self, step: Step, names: tuple[str, ...], out: str) -> str:
        """Return the source text of the expression that computes a step and writes its result to the array `out`."""
        raise NotImplementedError

    def dtype(self, name: str) -> str:
        return f"{self.prefix}.{name}"

    def names_of(self, plan: Plan, step: Step) -> tuple[str, ...]:
        names = plan.names
        return tuple([names[argument] if argument in names else plan.text_of(argument) for argument in step.arguments])

    def fixed_name(self, plan: Plan, value: PlanValue) -> str:
        """Return the name that code outside of the function uses for a fixed value."""
        return plan.names[value]

    def buffers_of_step(self, step: Step) -> Workspace:
        """Return the buffers of the function that computes a block or a slice."""
        return self.buffers(step.options["plan"], step.primitive == "tiling")

    def buffers(self, plan: Plan, out: bool, **fits: Any) -> Workspace:
        """Return the buffers that a plan's function writes to, including an array for its result if `out` is true."""
        over = find_reused_arrays(plan, self.writes) if plan.in_place else {}
        return workspaces(plan, self.writes, self.products, over, out, **fits)

    def source(
        self,
        plan: Plan,
        name: str = "function",
        comments: bool = False,
        given: Workspace | None = None,
        tupled: bool = False,
        entry: Sequence[str] = (),
        signature: str | None = None,
    ) -> GeneratedSource:
        """Return the source of a plan's function, without imports and kernels.

        If buffers are `given`, they are further parameters, and with `given.out`, the function writes the result to the
        parameter `out`. If `tupled` is true, it returns a single result in a tuple. `entry` contains the first lines,
        and `signature` replaces the parameters. The source defines the constants of `data` only if `comments` is true.
        """
        text, nested = Written(), []
        for step in plan.steps:
            if "plan" in step.options:
                inner_name, inner_plan = step.options["function"], step.options["plan"]
                buffers = self.buffers_of_step(step) if step.primitive in ("tiling", "slices") else None
                inner = self.source(inner_plan, inner_name, comments, buffers, step.primitive == "loop")
                if inner_plan.symbols:  # The inner function reads these sizes from the function around it.
                    nested.append(text.include_before_function(inner, inner_name))
                else:
                    text.include(inner)
        self.write_fixed(text, plan, comments)
        self.write_sized(text, plan, comments)
        parameters = [plan.names[value] for value in plan.inputs]
        if given is not None:
            parameters += [*["out"] * given.out, *(f"buffer_{number}" for number in range(1, len(given.made) + 1))]
        text.add(f"def {name}({', '.join(parameters) if signature is None else signature}):")
        text.lines += entry or ([] if given is not None or plan.is_inner or not plan.is_open else size_lines(plan))
        text.lines += self.opening(plan)
        if given is None and not plan.is_inner:
            text.lines += self.call_size_function(plan, comments)
        for inner in nested:
            text.include(inner, "    ")
        self.write_steps(text, plan, comments, given)
        if given is not None and given.out:
            (result,) = plan.results
            if given.first is None:
                text.add(f"    out[...] = {plan.text_of(result)}")
        else:
            self.write_return(text, plan, comments, tupled)
        return text.source()

    def write_fixed(self, text: Written, plan: Plan, every: bool) -> None:
        """Write the fixed steps, which run before the function.

        Unless `every` is true, leave out the steps that can run without source text.
        """
        for step in plan.steps:
            if (
                is_done_before(step.value)
                and step.primitive != "same"
                and (every or step.primitive not in self.fixed.known)
            ):
                names = tuple(
                    [
                        self.fixed_name(plan, argument) if isinstance(argument, PlanValue) else plan.text_of(argument)
                        for argument in step.arguments
                    ]
                )
                text.add(f"{self.fixed_name(plan, step.value)} = {self.fixed.expression(step, names)}", step)

    def done_once(self, plan: Plan, comments: bool) -> tuple[Step, ...]:
        """Return the steps whose results are cached for each combination of input sizes."""
        return plan.steps_of_sizes if self.keeps_sized and not comments and not plan.is_inner else ()

    def write_sized(self, text: Written, plan: Plan, comments: bool) -> None:
        """Write the function for the steps that depend only on input sizes, if their results are cached."""
        steps = self.done_once(plan, comments)
        if not steps:
            return
        symbols, results = self.interface_of_sizes(plan)
        text.lines.append(f"def of_sizes({symbols}):")
        for step in steps:
            text.add(f"    {plan.names[step.value]} = {self.expression(step, self.names_of(plan, step))}", step)
        text.add(f"    return {results}")

    def call_size_function(self, plan: Plan, comments: bool) -> list[str]:
        """Return the line that calls the function for input sizes, or no line if this function is not needed."""
        if not self.done_once(plan, comments):
            return []
        symbols, results = self.interface_of_sizes(plan)
        return [f"    {results} = of_sizes({symbols})"]

    def interface_of_sizes(self, plan: Plan) -> tuple[str, str]:
        """Return the parameters and results, as source text, of the function that depends only on input sizes."""
        steps = plan.steps_of_sizes
        symbols = symbols_of([(step.options, step.arguments) for step in steps])
        others = [argument for step in plan.steps if not step.value.sized for argument in step.arguments]
        used = {item for item in (*others, *plan.results) if isinstance(item, PlanValue) and item.sized}
        same = {step.value: step.arguments[0] for step in plan.steps if step.primitive == "same"}
        used |= {same[item] for item in used if item in same}
        results = tuple(plan.names[step.value] for step in steps if step.value in used)
        return ", ".join(map(str, symbols)), write_tuple(results)

    def write_steps(self, text: Written, plan: Plan, comments: bool, given: Workspace | None) -> None:
        """Write the lines for each step of the function, and lines that release large arrays after their last use."""
        over = find_reused_arrays(plan, self.writes) if self.writes and plan.in_place else {}
        keeps = given is not None and (given.out or plan.is_inner)  # Blocks and slices release no arrays.
        dead = last_uses(plan) if not keeps and (plan.in_place if self.writes else self.releases) else {}
        once = {step.value for step in self.done_once(plan, comments)}
        variables = {value: plan.names[other] for value, other in over.items()} | (given.places if given else {})
        for step in plan.steps:
            value = step.value
            if is_done_before(value) or value in once or step.primitive == "same":
                continue
            names, out = self.names_of(plan, step), variables.get(value)
            line = self.expression(step, names) if out is None else self.writing(step, names, out)
            known = f"    {plan.names[value]} = {line}"
            text.add(f"{known}  # {comment(value)}" if comments else known, step)
            if value in dead:
                text.add(f"    del {', '.join(dead[value])}")

    def write_return(self, text: Written, plan: Plan, comments: bool, tupled: bool) -> None:
        """Write the return statement.

        In source without comments, it is merged with the preceding line if that line computes the only result.
        """
        results = [self.result(plan, value) for value in plan.results]
        one = len(results) == 1 and not tupled
        text.add(f"    return {results[0] if one else write_tuple(tuple(results))}")
        if one and not comments and len(text.lines) > 2:
            last = plan.names.get(plan.results[0]) if isinstance(plan.results[0], PlanValue) else None
            if last is not None and text.lines[-2].startswith(f"    {last} = "):
                text.lines[-2:] = [f"    return {text.lines[-2].partition(' = ')[2]}"]

    def opening(self, plan: Plan) -> list[str]:
        """Return the first lines of the function's body, before the lines for its steps."""
        return []

    def result(self, plan: Plan, result: Any) -> str:
        return plan.text_of(result)

    def whole(self, plan: Plan, name: str = "function") -> str:
        """Return the standalone source text of a plan."""
        text = self.source(plan, name, comments=True, entry=entry_checks(plan, self.name, self.dtype)).text
        kernels, aliases = self.used(text)
        heads = self.heads(text, kernels)
        names = [f"{alias} = {meaning}" for alias, meaning in aliases.items()]
        parts = ["\n".join(heads) + ("\n\n" + "\n".join(names) if names else ""), *kernels, *_split_functions(text)]
        return "\n\n\n".join(parts) + "\n"

    def heads(self, text: str, kernels: Sequence[str]) -> list[str]:
        """Return the import lines that a source text and its kernels need."""
        words = words_of("\n".join([text, *kernels]))
        heads = [f"import {module}" for module in self.modules if module.partition(".")[0] in words]
        heads += self.imports.splitlines()
        if words & set(MATH):
            heads.append("from math import " + ", ".join(sorted(words & set(MATH))))
        return heads

    def whole_function(self, plan: Plan, extra: Mapping[str, Any]) -> Callable[..., Any]:
        """Return the function that the standalone source text defines."""
        space = dict(extra)
        exec(code_of(self.whole(plan), FILE), space)
        return space["function"]

    def used(self, text: str) -> tuple[list[str], dict[str, str]]:
        """Return the kernels and aliases that a source text uses, directly or through other kernels."""
        words = words_of(text)
        every = {"check": CHECK.get(self.name, ""), **self.fixed.kernels, **self.kernels}
        kernels: dict[str, str] = {}
        pending = [word for word in every if word in words]
        while pending:
            word = pending.pop(0)
            if word not in kernels:
                kernels[word] = every[word].strip()
                inside = words_of(kernels[word])
                words |= inside
                pending += [other for other in every if other in inside]
        aliases = {**self.fixed.aliases, **self.aliases}
        return [kernels[word] for word in every if word in kernels], {a: m for a, m in aliases.items() if a in words}

    # ------------------------------------------------------------------------------------------------------ running
    def globals(self, xp: Any) -> dict[str, Any]:
        """Return the globals of generated source: the functions and modules that it may call."""
        return self._globals.get_or_build(xp.__name__, lambda: self._built_globals(xp))

    def _built_globals(self, xp: Any) -> dict[str, Any]:
        space = dict(MATH) if self.fixed is self else dict(self.fixed.globals(xp))
        space["xp"] = xp
        exec(code_of("\n".join([f"import {module}" for module in self.modules] + [self.imports]), FILE), space)
        aliases = "\n".join(f"{alias} = {meaning}" for alias, meaning in self.aliases.items())
        exec(code_of(aliases, FILE), space)
        for name, kernel in self.kernels.items():
            exec(code_of(kernel.strip(), f"<{self.name} {name}>"), space)
        return space

    def function(
        self, plan: Plan, xp: Any, extra: Mapping[str, Any] = {}
    ) -> tuple[Callable[..., Any], dict[int, Step]]:
        """Return the Python function of a plan, and the step that each line of its source computes."""
        source = self.source_to_run(plan)
        direct = self.direct(source.text, xp)
        return direct or function_in(self.made(source.text, xp, {**self.data(plan, xp), **extra})), source.steps

    def source_to_run(self, plan: Plan) -> GeneratedSource:
        """Return the source of the function to run, which lacks the parts that are meant for readers."""
        return self.source(plan)

    def kept_buffers(self, plan: Plan) -> Workspace | None:
        """Return the intermediate arrays whose memory is kept for the next call, or None if no memory is kept."""
        return None

    def data(self, plan: Plan, xp: Any) -> dict[str, Any]:
        """Return the constants of a plan, including arrays of ones, by their names in the source text."""
        return {name: self.fixed.known[step.primitive](step, xp) for name, step in self.steps_of_data(plan)}

    def steps_of_data(self, plan: Plan) -> Iterator[tuple[str, Step]]:
        """Yield the name of each value that is computed without source text, and its step, including inner plans."""
        for step in plan.steps:
            if step.primitive in self.fixed.known and is_done_before(step.value):
                yield self.fixed_name(plan, step.value), step
            elif "plan" in step.options:
                yield from self.steps_of_data(step.options["plan"])

    def direct(self, text: str, xp: Any) -> Callable[..., Any] | None:
        """Return the library's function if the generated function would only call this function, and otherwise None."""
        match = DIRECT.fullmatch(text) if self.name == "numpy" else None
        if match is None:
            return None
        if match["parameters"] != (match["arguments"] or match["only"] or f"{match['left']}, {match['right']}"):
            return None
        if match["name"] in CHECKS:  # Only a generated line can identify the step that failed.
            return None
        space = self.globals(xp)
        return space.get(match["name"] or SIGNS.get(match["sign"]) or SYMBOLS.get(match["symbol"], ""))

    def made(self, text: str, xp: Any, extra: Mapping[str, Any] = {}) -> dict[str, Any]:
        """Run generated source and return all names in its namespace with their values."""
        space = {**self.globals(xp), **extra}
        exec(code_of(text, FILE), space)
        return space


def is_done_before(value: PlanValue) -> bool:
    """Return whether a value is computed before the function is called, once for all calls."""
    return value.fixed and not value.sized


def replace_sizes(value: Any) -> Any:
    """Return an option or the options of a step with each symbolic size replaced by 1, to determine dtypes."""
    if isinstance(value, tuple):
        return tuple(map(replace_sizes, value))
    if isinstance(value, dict):
        return {name: replace_sizes(entry) for name, entry in value.items()}
    return 1 if type(value) is Extent else value


def _split_functions(text: str) -> list[str]:
    """Return the parts of a source text: its functions, and the text between them."""
    parts: list[list[str]] = []
    inside = None
    for line in text.splitlines():
        function = line.startswith(("def ", "    "))
        if line.startswith("def ") or function != inside:
            parts.append([])
        inside = function
        parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def comment(value: PlanValue) -> str:
    return value.shown.encode("unicode_escape").decode() if not value.shown.isprintable() else value.shown
