"""Drawn programs computed in every way that the package has, and compared with an evaluator that shares no code with it.

    python tests/differential.py 10000 0        ten thousand draws from seed 0 on, and what differs
    python tests/differential.py                a thousand draws from a seed that changes with CHANGELOG.md

What differs is made smaller by leaving out statements and parts as long as the way stays wrong, and printed.
"""

from __future__ import annotations

import importlib
import inspect
import multiprocessing
import os
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import exported
import numpy as np
from drawn_programs import draw, surely_made
from drawn_sight import number
from drawn_tree import Family, Function, Program, Term, names_in, statement_lines
from drawn_windows import difference_beside_windows
from known_faults import KNOWN
from own_evaluator import Rounding, Tensor, UnfitShapesError, evaluate, records
from rotation import rotation_seed

import namedtensor as nt
from namedtensor import reference
from namedtensor.display.code_statements import UnreadableFormulaError, identifier
from namedtensor.planning.optimizations import OPTIMIZATIONS
from namedtensor.programs.executable import Options
from namedtensor.programs.readable import type_goal
from namedtensor.terms.environment import source_name


class Precision(NamedTuple):
    """How coarse numbers are: their rounding, how close results must be, and how large floats and whole numbers become."""

    eps: float
    close: float
    most: float
    whole: float


PRECISIONS = {
    "float64": Precision(2.3e-16, 1e-9, 1e12, 1e40),
    "float32": Precision(1.2e-7, 1e-4, 1e6, 1e30),
    "float16": Precision(1e-3, 3e-2, 1e2, 2**31),
}
COARSE = ("float64", "float32", "float16")
SPREADS = 8  # roundings that a result's spread is taken of, before it is called wrong
FACTOR = 64  # times the spread


# ------------------------------------------------------------------------------------------------------------- what is due
def coarsest(program: Program, library: str) -> str:
    """The precision that results have: that of the coarsest input; JAX without x64 computes single, and so does PyTorch where
    no tensor says anything."""
    names = {input_.dtype for input_ in program.inputs} & set(COARSE)
    nothing_given = not any(input_.dtype not in ("int", "float") for input_ in program.inputs)
    names |= {"float32"} if library == "jax" or (library == "torch" and nothing_given) else set()
    return max(names, key=COARSE.index, default="float64")


class Due(NamedTuple):
    """The value that is due, how far off each number may be, and how large they are."""

    value: Tensor
    spread: dict
    scale: float

    def allowed(self, record: Any, precision: Precision) -> float:
        return max(precision.close * max(self.scale, 0.01), FACTOR * self.spread[record])


def precision_of(program: Program, library: str) -> Precision:
    return PRECISIONS[coarsest(program, library)]


def due(program: Program, precision: Precision, times: int = 2) -> Due:
    """What the program means; raises UnfitShapesError where it hangs on the last digit."""
    limited = partial(Rounding, most=precision.most, whole=precision.whole)
    rounding = partial(limited, eps=precision.eps)
    exact = evaluate(program, limited())
    spread = dict.fromkeys(exact.entries, 0.0)
    for seed in range(times):
        rounded = evaluate(program, rounding(seed=seed))
        spread = {
            record: max(off, abs(rounded.entries[record] - exact.entries[record])) for record, off in spread.items()
        }
    scale = max((abs(x) for x in exact.entries.values()), default=0.0)
    result = Due(exact, spread, scale)
    if any(FACTOR * off > 0.1 * max(scale, 0.01) for off in spread.values()):
        raise UnfitShapesError("ill-conditioned")
    return result


# ----------------------------------------------------------------------------------------------------------------- inputs
def array_of(program: Program, layout: str = "plain") -> dict[str, Any]:
    """The inputs as named tensors, stored in some way; plain Python numbers stay such."""
    return {input_.name: stored(input_, layout) for input_ in program.inputs}


def stored(given: Any, layout: str) -> Any:
    if given.dtype in ("int", "float"):
        return given.entries[0]
    array = np.array(given.entries, dtype=given.dtype).reshape([size for _, size in given.shape])
    axes = [axis for axis, _ in given.shape]
    if layout != "plain" and axes:
        mix = random.Random(given.name)
        order = mix.sample(range(len(axes)), len(axes))
        array, axes = array.transpose(order), [axes[position] for position in order]
        wide = np.zeros([2 * size + 1 for size in array.shape], dtype=array.dtype)
        window = wide[tuple(slice(1, None, 2) for _ in array.shape)]
        window[...] = array
        backwards = np.ascontiguousarray(array[::-1])[::-1]
        array = mix.choice([np.asfortranarray(array), window, backwards, array])
    return nt.tensor(array, tuple(axes))


def converted(values: dict[str, Any], library: str, turned: bool) -> dict[str, Any]:
    if library == "numpy":
        return values
    xp = importlib.import_module("jax.numpy" if library.startswith("jax") else library)
    result = {}
    for name, value in values.items():
        if isinstance(value, nt.NamedTensor):
            array = xp.asarray(np.array(value.array))
            axes = value.axes
            if turned and len(axes) > 1:
                array, axes = (
                    (array.permute(*reversed(range(array.ndim))) if library == "torch" else array.T),
                    axes[::-1],
                )
            value = nt.tensor(array, axes)
        result[name] = value
    return result


class Sample(NamedTuple):
    program: Program
    text: str
    values: dict[str, Any]

    def turned(self) -> dict[str, Any]:
        return array_of(self.program, "turned")


# ------------------------------------------------------------------------------------------------------------------ ways
def by_evaluate(s: Sample) -> Any:
    return nt.evaluate(s.text, s.values)


def by_evaluate_again(s: Sample) -> Any:
    """A repeated call takes other ways than a first one."""
    for _ in range(3):
        result = nt.evaluate(s.text, s.values)
    return result


def by_entry(s: Sample) -> Any:
    return nt.program(s.text)["out"](values=s.values)


def by_entries(s: Sample) -> Any:
    """Several values together, and statements in another order."""
    *statements, out = s.text.splitlines()
    heads = [statement.partition(" = ")[0] for statement in statements if " = " in statement]
    if len({*heads}) == len(heads):  # of two definitions of one name the nearest counts
        random.Random(s.text).shuffle(statements)
    return nt.program("\n".join([out, *statements]))["out", "out"](values=s.values)[1]


def by_formula(s: Sample) -> Any:
    return nt.formula(s.text)(values=s.values)


def by_turned_inputs(s: Sample) -> Any:
    return nt.evaluate(s.text, s.turned())


def by_explain(s: Sample) -> Any:
    return nt.explain(s.text, s.values)[-1].value


def compiled(library: str, without: tuple[str, ...] = (), turned: bool = False) -> Callable[[Sample], Any]:
    def way(s: Sample) -> Any:
        values = converted(s.turned() if turned and library == "numpy" else s.values, library, turned)
        function = nt.formula(s.text).compile(library, disable=without)
        for _ in range(3):
            result = function(values=values)
        return result

    return way


def evaluated(library: str) -> Callable[[Sample], Any]:
    """By arrays of a library that nothing is compiled for; of JAX with numbers of 64 bits."""

    def way(s: Sample) -> Any:
        if library != "jax of 64 bits":
            return nt.evaluate(s.text, converted(s.values, library, False))
        import jax

        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(True):
            return nt.evaluate(s.text, converted(s.values, library, False))

    return way


def without_each(s: Sample) -> Any:
    """Without one optimization, another for another program."""
    return compiled("numpy", (random.Random(s.text).choice(sorted(OPTIMIZATIONS)),))(s)


def standing_alone(library: str) -> Callable[[Sample], Any]:
    """The source text, run where there is nothing of the package."""

    def way(s: Sample) -> Any:
        values = converted(s.values, library, False)
        text = nt.formula(s.text).to_python(library, values)
        if "namedtensor" in text:
            raise AssertionError("the source text names the package")
        namespace: dict[str, Any] = {}
        exec(compile(text, "<source>", "exec"), namespace)
        arrays = [value.array for value in values.values() if isinstance(value, nt.NamedTensor)]
        result = namespace["function"](*arrays)
        whole = nt.formula(s.text).compile(library)(values=values)
        return nt.tensor(result, whole.axes)

    return way


def by_loops(s: Sample) -> Any:
    """The loops of plain Python, which take and give lists, where the formula has any."""
    formula = nt.formula(s.text)
    try:
        text = formula.to_python("loops", s.values)
    except UnreadableFormulaError as problem:
        raise UnfitShapesError(problem.message) from None
    space: dict[str, Any] = {}
    exec(compile(text, "<source>", "exec"), space)
    numbers = {identifier(name): getattr(value, "array", value) for name, value in s.values.items()}
    used = [np.asarray(numbers[name]).tolist() for name in inspect.signature(space["function"]).parameters]
    try:
        result = space["function"](*used)
    except (ArithmeticError, ValueError) as problem:
        raise UnfitShapesError(f"Python raises {problem}") from None
    _, root = type_goal(formula._goal, s.values, Options())
    return reference.tensor(result, tuple(map(source_name, root.shape)))


def exported_elsewhere(library: str) -> Callable[[Sample], Any]:
    """The source text called with other sizes and dtypes: a value that is wrong, or an error that is no sentence, is raised."""

    def way(s: Sample) -> Any:
        values = converted(s.values, library, False)
        function = exported.export(s.text, library, values)
        for how, inputs in exported.other_calls(values, random.Random(s.text)):
            fault = exported.outcome(function, inputs)
            if fault is not None:
                raise AssertionError(f"{how}: {fault}")
        return nt.evaluate(s.text, values)

    return way


LENGTHS = (1, 2, 3, 7, 64, 65)


def at_other_lengths(library: str) -> Callable[[Sample], Any]:
    """One program called at several sizes of its axes: what it gives is that of programs that nobody has called."""

    def way(s: Sample) -> Any:
        values = converted(s.values, library, False)
        entry = nt.program(s.text)["out"]
        first = outcome_of(entry, values)
        for sizes in drawn_sizes(s, random.Random(s.text)):
            inputs = converted(resized(s.values, sizes), library, False)
            outcome, local = outcome_of(entry, inputs), outcome_of(nt.program(s.text)["out"], inputs)
            of_ones = 1 in [size for tensor in tensors_of(inputs) for size in tensor.sizes.values()]
            if not is_same(outcome, local, of_ones or ("otherwise" in s.text and "|" in s.text)):
                raise AssertionError(f"at {sizes}: {outcome}, and alone {local}")
        if isinstance(first, str) or isinstance(again := outcome_of(entry, values), str):
            return entry(values=values)
        if not is_same(first, again):
            raise AssertionError(f"again: {again}, and at first {first}")
        return again

    return way


def drawn_sizes(s: Sample, mix: random.Random) -> Iterator[dict[str, int]]:
    """Sizes of one axis or of two, or of all; the long ones where a program is small."""
    axes = sorted({axis for tensor in tensors_of(s.values) for axis in tensor.axes})
    if not axes:
        return
    is_small = len(s.text) < 150 and len(axes) < 4
    for turn in range(8):
        some = axes if turn == 7 else mix.sample(axes, min(len(axes), 1 + turn % 2))
        yield {axis: mix.choice(LENGTHS if is_small and len(some) == 1 else LENGTHS[:4]) for axis in some}


def tensors_of(values: dict[str, Any]) -> list[Any]:
    return [value for value in values.values() if isinstance(value, nt.NamedTensor)]


def resized(values: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """The same numbers, again and again, over axes of other sizes."""
    result = dict(values)
    for name, value in values.items():
        if isinstance(value, nt.NamedTensor):
            array = np.array(value.array)
            for index, axis in enumerate(value.axes):
                if axis in sizes:
                    array = np.take(array, np.arange(sizes[axis]) % max(array.shape[index], 1), index)
            result[name] = nt.tensor(array, value.axes)
    return result


def outcome_of(call: Any, values: dict[str, Any]) -> Any:
    """A value, or the text of its error."""
    try:
        with np.errstate(all="ignore"):
            return call(values=values)
    except nt.NotationError as problem:
        return str(problem)


def is_same(actual: Any, local: Any, any_dtype: bool = False) -> bool:
    """Whether two outcomes are equal but for rounding; a plan of numbers leaves out a factor |a| = 1 with its dtype, and
    the cases that a size rules out with theirs."""
    if isinstance(actual, str) or isinstance(local, str):
        return isinstance(local, str) and isinstance(actual, str) and actual == local
    if {*actual.axes} != {*local.axes} or (actual.dtype != local.dtype and not any_dtype):
        return False
    arrays = (
        item.to_array(actual.axes) if actual.axes else item.array for item in (actual, local)
    )  # axes have no order
    left, right = (np.asarray(array).astype(complex) for array in arrays)
    if left.shape != right.shape:
        return False
    close = {"float16": 0.1, "bfloat16": 0.1, "float32": 1e-3}.get(str(local.dtype).rpartition(".")[2], 1e-6)
    scale = max(1.0, np.abs(right[np.isfinite(right)]).max(initial=0.0))
    return np.allclose(left, right, rtol=close, atol=close * scale, equal_nan=True)


def by_reference(s: Sample) -> Any:
    inputs = {}
    for input_ in s.program.inputs:
        if input_.dtype in ("int", "float"):
            inputs[input_.name] = input_.entries[0]
        else:
            array = np.array(input_.entries, dtype=object).reshape([size for _, size in input_.shape])
            inputs[input_.name] = reference.tensor(array.tolist(), tuple(axis for axis, _ in input_.shape))
    return reference.evaluate(s.text, inputs)


def printed(print_: Callable[[Any], str]) -> Callable[[Sample], Any]:
    """Printed, read back, and computed; the tree must be the same."""

    def way(s: Sample) -> Any:
        program = nt.program(s.text)
        text = print_(program)
        if nt.program(text).tree != program.tree:
            raise AssertionError(f"read back, this is another program:\n{text}")
        return nt.evaluate(text, s.values)

    return way


class Way(NamedTuple):
    """`often` says for what part of the draws it is taken."""

    run: Callable[[Sample], Any]
    library: str = "numpy"
    often: float = 1.0


WAYS = {
    "evaluate": Way(by_evaluate),
    "evaluate, again": Way(by_evaluate_again, often=0.5),
    "an entry": Way(by_entry, often=0.5),
    "entries, statements in another order": Way(by_entries, often=0.5),
    "formula": Way(by_formula, often=0.3),
    "inputs stored otherwise": Way(by_turned_inputs),
    "explain": Way(by_explain, often=0.3),
    "reference": Way(by_reference),
    "compiled": Way(compiled("numpy"), often=0.5),
    "compiled, inputs stored otherwise": Way(compiled("numpy", turned=True), often=0.3),
    "without optimizations": Way(compiled("numpy", tuple(OPTIMIZATIONS))),
    "without one of them": Way(without_each, often=0.5),
    "source text": Way(standing_alone("numpy"), often=0.5),
    "source text, other sizes and dtypes": Way(exported_elsewhere("numpy"), often=0.2),
    "loops": Way(by_loops, often=0.5),
    "other lengths": Way(at_other_lengths("numpy"), often=0.5),
    "printed": Way(printed(lambda p: p.to_text()), often=0.3),
    "printed in ASCII": Way(printed(lambda p: p.to_text(ascii=True)), often=0.3),
    "printed in LaTeX": Way(printed(lambda p: p.to_latex()), often=0.3),
    "printed with macros": Way(printed(lambda p: p.to_latex(macros=True)), often=0.3),
    "PyTorch": Way(compiled("torch"), "torch", 0.7),
    "PyTorch, inputs stored otherwise": Way(compiled("torch", turned=True), "torch", 0.3),
    "PyTorch's source text": Way(standing_alone("torch"), "torch", 0.3),
    "PyTorch's source text, other sizes and dtypes": Way(exported_elsewhere("torch"), "torch", 0.1),
    "PyTorch, other lengths": Way(at_other_lengths("torch"), "torch", 0.1),
    "PyTorch without optimizations": Way(compiled("torch", tuple(OPTIMIZATIONS)), "torch", 0.3),
    "the Array API": Way(evaluated("array_api_strict"), "array_api_strict", 0.3),
    "JAX with x64": Way(evaluated("jax of 64 bits"), "jax of 64 bits", 0.05),
    "JAX, not compiled": Way(evaluated("jax"), "jax", 0.05),
    "JAX, other lengths": Way(at_other_lengths("jax"), "jax", 0.02),
    "JAX": Way(compiled("jax"), "jax", 0.06),
    "JAX's source text": Way(standing_alone("jax"), "jax", 0.03),
}


def is_installed(library: str) -> bool:
    try:
        __import__(library.partition(" ")[0])
    except ImportError:
        return False
    return True


def ways(names: Iterable[str] = WAYS) -> dict[str, Way]:
    """Those whose library is installed."""
    return {name: WAYS[name] for name in names if is_installed(WAYS[name].library)}


# ------------------------------------------------------------------------------------------------------------- comparing
class Difference(NamedTuple):
    way: str
    got: str
    kind: str  # what stays while a program is made smaller: "value", or an error's kind
    off: float = 0.0  # the largest error of a number

    def __str__(self) -> str:
        return f"{self.way}: {self.got}"


def entries_of(tensor: Any) -> dict:
    """A tensor of the package, or of its reference evaluator, as a dict from records to numbers."""
    if isinstance(tensor, reference.Tensor):
        return {frozenset(r.items()): tensor(r) for r in (dict(record) for record in records(dict(tensor.shape)))}
    if not isinstance(tensor, nt.NamedTensor):
        tensor = nt.tensor(tensor, ())
    array = tensor.to_array(tensor.axes) if tensor.axes else tensor.array
    array = np.asarray(getattr(array, "_array", array))  # that of array_api_strict
    shape = dict(zip(tensor.axes, array.shape))
    return dict(zip(records(shape), array.ravel().tolist()))


def difference(name: str, way: Way, sample: Sample, result: Callable[[Precision], Due]) -> Difference | None:
    """What a way gives that it should not, if anything. Raises UnfitShapesError where nothing can be said."""
    precision = precision_of(sample.program, way.library)
    expected = result(precision)
    if way.library == "jax" and not fits_int32(sample.program):
        raise UnfitShapesError("JAX without x64 has no such whole numbers")
    if way.library == "array_api_strict" and any(input_.dtype == "float16" for input_ in sample.program.inputs):
        raise UnfitShapesError("the standard has no half precision")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            element = way.run(sample)
        entries = entries_of(element)
    except UnfitShapesError:
        raise
    except Exception as problem:
        first = str(problem).strip().splitlines()[:1]
        number_of = getattr(problem, "code", type(problem).__name__)
        return Difference(name, f"{type(problem).__name__}: {' '.join(first)}", f"error {number_of}")
    if set(entries) != set(expected.value.entries):
        axes = sorted({axis for record in entries for axis, _ in record})
        return Difference(name, f"a tensor of {len(entries)} numbers over {', '.join(axes)}", "shape")
    due_of = expected.value.entries
    for record, number_due in due_of.items():
        got = entries[record]
        if not abs(got - number_due) <= expected.allowed(record, precision):
            text = f"{got} at {dict(sorted(record))}, where {number_due} is due"
            return Difference(name, text, "value", max(abs(entries[item] - due_of[item]) for item in due_of))
    return wrong_dtype(name, sample, element, way)


def fits_int32(program: Program) -> bool:
    """Whether the whole numbers that are given are those that JAX has where 64 bits are not asked for."""
    whole = (x for input_ in program.inputs if "int" in input_.dtype for x in input_.entries)
    return all(-(2**31) <= x < 2**31 for x in whole)


def wrong_dtype(name: str, sample: Sample, actual: Any, way: Way) -> Difference | None:
    """Where all floats have one dtype, a result of floats has it too."""
    names = {input_.dtype for input_ in sample.program.inputs}
    dtype = str(getattr(getattr(actual, "array", None), "dtype", "")).rpartition(".")[2]
    if len(names & set(COARSE)) != 1 or names - set(COARSE) - {"int", "float", "bool"} or not dtype.startswith("float"):
        return None
    (expected,) = names & set(COARSE)
    if dtype == expected or way.library == "jax" and expected == "float64" or not floats_reach(sample.program):
        return None
    return Difference(name, f"{dtype}, where all is {expected}", "dtype")


def floats_reach(program: Program) -> bool:
    """Whether the value surely has a float input in it: where it is a sum or product with one."""
    term = program.out
    floats = {input_.name for input_ in program.inputs if input_.dtype in COARSE}
    while term.form in ("infix", "over", "rename", "applied", "contract", "negative"):
        for part in term.parts:
            if part.form == "name" and part.data[0] in floats and term.data[:1] != ("where",) and part is not None:
                return term.data[:1] not in (("any",), ("all",), ("argmax",), ("argmin",), ("sign",), ("onehot",))
        if not term.parts:
            return False
        term = term.parts[0]
    return term.form == "name" and term.data[0] in floats


class Comparison(NamedTuple):
    """What came of one program: which ways were taken, and what differed; or why it was not fit."""

    taken: tuple[str, ...]
    differences: tuple[Difference, ...]
    unfit: str | None = None


def compare(program: Program, chosen: dict[str, Way] | None = None, all_ways: bool = False) -> Comparison:
    """The program computed in these ways, each taken as often as it says."""
    chosen = ways() if chosen is None else chosen
    sample = Sample(program, program.text, array_of(program))
    choose = random.Random(sample.text)
    computed: dict[Precision, Due] = {}

    def expected(precision: Precision) -> Due:
        if precision not in computed:
            computed[precision] = due(program, precision)
        return computed[precision]

    try:
        expected(PRECISIONS[coarsest(program, "numpy")])
    except UnfitShapesError as problem:
        return Comparison((), (), str(problem))
    taken, result = [], []
    for name, way in chosen.items():
        if not all_ways and choose.random() >= way.often:
            continue
        try:
            other = difference(name, way, sample, expected)
        except UnfitShapesError:
            continue
        taken.append(name)
        if other is not None and is_sure(program, name, way) and not is_rounding(program, name, way, other):
            result.append(other)
    return Comparison(tuple(taken), tuple(result))


def is_sure(program: Program, name: str, way: Way) -> bool:
    """Whether the program is fit by more roundings than are done where all agrees."""
    try:
        due(program, precision_of(program, way.library), SPREADS)
    except UnfitShapesError:
        return False
    return True


def is_rounding(program: Program, name: str, way: Way, actual: Difference) -> bool:
    """Whether large numbers that cancel are all there is to it: what they leave is right where inputs are double.

    ∑_{a} ∂(softmax_{a} X)/∂X* is 0, and each library finds it to within the rounding of its parts.
    """
    precision = precision_of(program, way.library)
    exact = Rounding(most=precision.most, whole=precision.whole)
    evaluate(program, exact)
    if actual.kind != "value" or not actual.off <= FACTOR * precision.eps * exact.largest:
        return False
    inputs = tuple(replace(input_, dtype="float64") if input_.dtype in COARSE else input_ for input_ in program.inputs)
    double = replace(program, inputs=inputs)
    if double == program:
        return False
    try:
        return difference(name, way, Sample(double, double.text, array_of(double)), partial(due, double)) is None
    except UnfitShapesError:
        return False


# -------------------------------------------------------------------------------------------------------------- shrinking
def smaller_terms(term: Term) -> Iterator[Term]:
    """Terms of the same shape that say less."""
    if term.form in ("number", "name", "member", "size"):
        return
    for part in term.parts:
        for node in part.walk():
            if node.shape == term.shape and node.form not in ("relation", "logic", "property"):
                yield node
    if not term.shape and term.form not in ("relation", "logic", "property"):
        yield number(1)
    if len(term.shape) == 1 and term.shape[0][1] < 5 and term.form != "literal":
        ((axis, size),) = term.shape
        yield Term("literal", tuple(number(n + 1) for n in range(size)), ((axis,), size), term.shape)
    for index, part in enumerate(term.parts):
        for node in smaller_terms(part):
            yield replace(term, parts=(*term.parts[:index], node, *term.parts[index + 1 :]))


def smaller_things(thing: Any) -> Iterator[Any]:
    """A statement that says less."""
    if isinstance(thing, Function):
        for body in smaller_terms(thing.body):
            yield with_needed_facts(replace(thing, body=body))
        for index, fact in enumerate(thing.facts):
            for smaller_thing in smaller_things(fact):
                yield replace(thing, facts=(*thing.facts[:index], smaller_thing, *thing.facts[index + 1 :]))
    elif isinstance(thing, Family):
        for rule in smaller_terms(thing.rule):
            yield replace(thing, rule=rule)
        for index, (at, start) in enumerate(thing.starts):
            for smaller_thing in smaller_terms(start):
                yield replace(thing, starts=(*thing.starts[:index], (at, smaller_thing), *thing.starts[index + 1 :]))
    else:
        if getattr(thing, "claim", None) is not None:
            yield replace(thing, claim=None)
        else:
            for term in smaller_terms(thing.term):
                yield replace(thing, term=term)


def facts_belong(program: Program) -> bool:
    """Whether each definition in a function mentions a parameter of it, directly or by another such; else it is none of it."""
    for function in program.statements:
        if isinstance(function, Function):
            if (
                function.over
                and function.gives is None
                and "ax" not in "".join(statement_lines(function)[0].split("=")[1:])
            ):
                return False
            if len(with_needed_facts(function).facts) < len(function.facts):
                return False
            bodies = (
                function.body,
                *(start for fact in function.facts if isinstance(fact, Family) for _, start in fact.starts),
            )
            if any(body.form == "size" for body in bodies):
                return False
            parameters = {name for name, _ in function.parameters} | set(function.options)
            for _ in function.facts:
                parameters |= {fact.name for fact in function.facts if (names_in(fact) - {fact.name}) & parameters}
            if any(fact.name not in parameters for fact in function.facts):
                return False
    return True


def with_needed_facts(function: Function) -> Function:
    used = needed(names_in(function.body), function.facts)
    return replace(function, facts=tuple(fact for fact in function.facts if fact.name in used))


def needed(names: set[str], statements: Iterable[Any]) -> set[str]:
    """These names, and all that the statements of them name in turn."""
    texts, size = set(names), -1
    while len(texts) > size:
        size = len(texts)
        for statement in statements:
            if statement.name in texts:
                texts |= names_in(statement)
    return texts


def smaller(program: Program) -> Iterator[Program]:
    for out in smaller_terms(program.out):
        yield replace(program, out=out)
    for index, statement in enumerate(program.statements):
        for smaller_thing in smaller_things(statement):
            yield replace(
                program, statements=(*program.statements[:index], smaller_thing, *program.statements[index + 1 :])
            )


def trimmed(program: Program) -> Program:
    """Without statements and inputs that nothing names any more."""
    expected = needed(names_in(program.out), program.statements)
    families = tuple(family for family in program.families if family[0] in expected)
    expected |= {f"{name}^{{{n}}}" for name, _, most in families for n in range(1, most + 1)}
    statements = tuple(statement for statement in program.statements if statement.name in expected)
    return replace(
        program, statements=statements, families=families, inputs=tuple(i for i in program.inputs if i.name in expected)
    )


def shrunk(program: Program, actual: Difference, seconds: float = 20) -> Program:
    """A smaller program for which the same way gives the same kind of wrong answer, in so many seconds of the processor."""
    way = {actual.way: WAYS[actual.way]}
    end = time.process_time() + seconds

    def still(candidate: Program) -> bool:
        try:
            result = compare(candidate, way, all_ways=True)
        except Exception:
            return False
        return any(other.kind == actual.kind for other in result.differences)

    progress = True
    while progress and time.process_time() < end:
        progress = False
        for candidate in smaller(program):
            if time.process_time() > end:
                break
            candidate = trimmed(candidate)
            if (
                facts_belong(candidate)
                and {*candidate.made} <= {*surely_made(candidate)}
                and len(candidate.text) < len(program.text)
                and still(candidate)
            ):
                program, progress = candidate, True
                break
    return program


def reproduction(program: Program, actual: Difference) -> str:
    """A difference, as it can be typed."""
    inputs = []
    for input_ in program.inputs:
        if input_.dtype in ("int", "float"):
            inputs.append(f"  {input_.name} = {input_.entries[0]}")
        else:
            array = np.array(input_.entries).reshape([size for _, size in input_.shape]).tolist()
            inputs.append(
                f"  {input_.name} = {array} over {' '.join(axis for axis, _ in input_.shape)}, {input_.dtype}"
            )
    return "\n".join([str(actual), *("  " + line for line in program.text.splitlines()), *inputs])


# -------------------------------------------------------------------------------------------------------------- many draws
class Run(NamedTuple):
    draws: int
    fit: int
    taken: Counter
    unfit: Counter
    found: list[str]


def run(
    seeds: Iterable[int], seconds: float | None = None, known: Any = KNOWN, progress: bool = False,
    chosen: dict[str, Way] | None = None, most: int = 50,
) -> Run:  # fmt: skip
    """Draw, compare and make smaller, until the seeds or the seconds end."""
    end = None if seconds is None else time.monotonic() + seconds
    taken, unfit, element, fit, draws = Counter(), Counter(), [], 0, 0
    chosen = ways() if chosen is None else chosen
    for seed in seeds:
        if end is not None and time.monotonic() > end or len(element) >= most:
            break
        program = draw(seed, known)
        result = compare(program, chosen)
        draws += 1
        fit += result.unfit is None
        taken.update(result.taken)
        unfit.update([result.unfit] if result.unfit else [])
        if result.differences:
            other = result.differences[0]
            small = shrunk(program, other)
            again = compare(small, {other.way: WAYS[other.way]}, all_ways=True).differences or [other]
            ways_of = ", ".join(sorted({d.way for d in result.differences}))
            text = f"seed {seed} ({ways_of})\n{reproduction(small, again[0])}"
            element.append(text)
            if progress:
                print(text, flush=True)
        taken["sizes given beside windows"] += 1
        if (wrong := difference_beside_windows(seed)) is not None:
            element.append(wrong)
            if progress:
                print(wrong, flush=True)
        if progress and draws % 250 == 0:
            print(f"{draws} draws, {fit} fit, {len(element)} different", flush=True)
    return Run(draws, fit, taken, unfit, element)


def together(parts: Iterable[Run]) -> Run:
    draws, fit, taken, unfit, result = zip(*parts)
    return Run(sum(draws), sum(fit), sum(taken, Counter()), sum(unfit, Counter()), sum(result, []))


def main() -> int:
    numbers = [int(text) for text in sys.argv[1:]]
    count, start = (*numbers, *(1000, rotation_seed() % 1_000_000)[len(numbers) :])
    began = time.monotonic()
    parts = [range(first, min(first + 250, start + count)) for first in range(start, start + count, 250)]
    # JAX keeps every compiled function, about 6 MB per program, so that a process runs one part only.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context, max_tasks_per_child=1) as pool:
        done = together(pool.map(partial(run, progress=True), parts))
    print(
        f"{done.draws} draws, of which {done.fit} fit, in {time.monotonic() - began:.0f} s; {sum(done.taken.values())} results"
    )
    for name, times in done.taken.items():
        print(f"  {times:6} {name}")
    print(f"not fit: {dict(done.unfit)}")
    print(f"{len(done.found)} different")
    return bool(done.found)


if __name__ == "__main__":
    raise SystemExit(main())
