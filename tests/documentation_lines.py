"""Measure `nt.translate` on lines that nobody picked: `python tests/documentation_lines.py [calls | examples] [LIBRARY]`.

A line is a call with random arguments that fit a function's signature, or a `>>>` example of its documentation with the
arrays that the examples before it define. The functions are all functions of NumPy, JAX and PyTorch whose names are in
the table of operations. A line counts unless one of these rules, which do not depend on `nt.translate`, leaves it out:

- its library rejects it, or its value is not one array of real numbers or one real number, with at least one element;
- an input is neither an array of real numbers nor a list or a number that can be one;
- it is random: two evaluations differ;
- it changes one of its inputs, or writes to `out=`;
- it reads the memory layout or the platform: strides, flags, the orders A and K, sizes in bytes, and uninitialized or
  shared memory, as of a NumPy function of elements with `where=`.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import copy
import inspect
import io
import random
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import torch
from array_code_lines import SHAPES, random_arrays

import namedtensor as nt
from namedtensor.positional.library_functions import OF_SYNTAX
from namedtensor.positional.operations import OPERATIONS
from namedtensor.positional.refusals import AmbiguousError
from namedtensor.positional.translation import translate  # which fills the table of operations

LIBRARIES: dict[str, dict[str, Any]] = {  # the names of the modules in the lines of each library
    "numpy": {"np": np, "np.linalg": np.linalg, "np.lib.stride_tricks": np.lib.stride_tricks, "np.ndarray": np.ndarray},
    "jax": {"jnp": jax.numpy, "jnp.linalg": jax.numpy.linalg, "jax.nn": jax.nn, "jax.scipy.special": jax.scipy.special},
    "torch": {"torch": torch, "F": torch.nn.functional, "torch.linalg": torch.linalg, "torch.special": torch.special, "torch.Tensor": torch.Tensor},
}  # fmt: skip
IMPORTED = {
    "np": np,
    "numpy": np,
    "jax": jax,
    "jnp": jax.numpy,
    "torch": torch,
    "nn": torch.nn,
    "F": torch.nn.functional,
}
OF_MEMORY = re.compile(
    r"\.(?:strides|stride|flags|itemsize|nbytes|base|data|ctypes|data_ptr|element_size|storage\w*|is_contiguous)\b|\b(?:empty|shares_memory|may_share_memory|as_strided|finfo|iinfo|memmap)|order=['\"][AK]"
)
EXAMPLE = re.compile(r"^[ \t]*>>> ?(.*(?:\n[ \t]*\.\.\.(?: .*)?$)*)", re.M)
ARGUMENTS = (  # patterns of parameter names, with the arguments of a call
    (r"axis\d?|axes|dims?\d?|dimension|source|destination|start_dim|end_dim", "0 1 -1 None (0,1)"),
    (r"dtype|out|device|layout|requires_grad|memory_format|casting|subok|copy|like|device_put|precision|preferred_element_type|out_sharding|sharding", ""),
    (r"order", "'C' 'F'"),
    (r"shape|newshape|size|reps|sizes|normalized_shape|window_shape", "3 (3,4) (2,1) -1"),
    (r"where|condition|mask", "X>1 x>1 True"),
    (r"index|indices|target|labels", "I J x y X"),
    (r"tensors|arrays|tup", "[x,y] (X,Y)"),
    (r"[kKnNM]|offset|diagonal|ddof|correction|decimals|repeats|shifts?|chunks|indices_or_sections|num_classes", "0 1 2 -1"),
    (r"initial|fill_value|value|[ab]_m\w+|min|max|min_val|max_val|alpha|beta|p|ord", "0 1 2 0.5 None"),
    (r"reduction", "'mean' 'sum' 'none'"),
    (r"mode", "'constant' 'edge' 'same' 'valid' 'full'"),
    (r"pad_width|pad", "1 (1,2) ((1,0),(0,2))"),
)  # fmt: skip
ARRAYS = "x y u X Y W T A".split()
PER_FUNCTION, ATTEMPTS = 3, 40


@dataclass(frozen=True)
class Line:
    """A line of documentation or a call, the library that gives its value, and the arrays or axes of its inputs."""

    source: str
    library: str
    inputs: Mapping[str, Any] = field(compare=False)
    value: Any = field(compare=False)
    shapes: Mapping[str, Any] = field(compare=False)


# ------------------------------------------------------------------------------------------------------------- values
def to_array(value: Any) -> Any:
    """Return an array of real numbers, or None if the value is not one."""
    if isinstance(value, (str, bool, np.bool_)) or value is None or isinstance(value, np.ma.MaskedArray):
        return None
    if isinstance(value, torch.Tensor):
        value = value.detach()
        value = value.double().numpy() if value.dtype in (torch.bfloat16, torch.float16) else value.numpy()
    elif isinstance(value, jax.Array) and value.dtype == jax.numpy.bfloat16:
        value = value.astype(float)
    elif isinstance(value, (tuple, list)):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    return array if array.dtype.kind in "fiu" else None


def is_listed(value: Any) -> bool:
    """Return whether a value is a list or a tuple of numbers, or of such lists."""
    return isinstance(value, (tuple, list)) and all(isinstance(part, (int, float)) or is_listed(part) for part in value)


def to_input(value: Any) -> Any:
    """Return an input as an array or a number, or None if it is neither."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    array = np.asarray(value) if isinstance(value, (np.ndarray, jax.Array)) or is_listed(value) else to_array(value)
    if isinstance(value, torch.Tensor) and value.dtype == torch.bool:
        array = value.numpy()
    return array if array is not None and array.dtype.kind in "fiub" else None


def equal(actual: Any, expected: Any) -> bool:
    """Return whether two values are equal up to the rounding of the library's dtype."""
    expected = to_array(expected)
    single = expected.dtype.itemsize <= 4 or expected.dtype.kind != "f"
    tolerance = 2e-5 if single else 1e-7
    scale = max(1.0, float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0)))
    actual = np.asarray(actual, dtype=float)
    return actual.shape == expected.shape and np.allclose(actual, expected.astype(float), tolerance, tolerance * scale, equal_nan=True)  # fmt: skip


@contextlib.contextmanager
def silence() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def evaluate_line(code: str, names: Mapping[str, Any], seed: int) -> Any:
    np.random.seed(seed)
    torch.manual_seed(seed)
    return eval(compile(code.strip(), "<line>", "eval"), dict(names))


def find_value(code: str, names: dict[str, Any], inputs: list[str]) -> Any:
    """Return the library's value of a line, or None if a rule leaves the line out."""
    if OF_MEMORY.search(code) or re.search(r"\bout=(?!None)", code):
        return None
    if any(to_input(names[name]) is None for name in inputs):
        return None
    before = {name: copy.deepcopy(names[name]) for name in inputs}
    first, second = (evaluate_line(code, names, seed) for seed in (0, 1))
    value = to_array(first)
    if value is None or not value.size or not equal(to_array(second), value):
        return None
    for name in inputs:
        if not np.array_equal(to_input(before[name]), to_input(names[name]), equal_nan=True):
            return None
    return value


# ----------------------------------------------------------------------------------------------------------- examples
def all_functions() -> list[tuple[str, str, Any]]:
    """Return each function whose name is in the table of operations, with its library and its name in code."""
    return [
        (library, f"{module}.{name}", function)
        for library, modules in LIBRARIES.items()
        for module, owner in modules.items()
        for name in sorted({*OPERATIONS} | OF_SYNTAX)
        if callable(function := getattr(owner, name, None)) and not inspect.isclass(function)
    ]


def examples_of(library: str, name: str, function: Any) -> Iterator[Line]:
    """Yield the `>>>` examples in the documentation of a function that count."""
    text = inspect.getdoc(function) or ""
    names, imports = dict(IMPORTED), list[str]()
    np.random.seed(0)
    torch.manual_seed(0)
    for match in EXAMPLE.finditer(text):
        code = re.sub(r"\n[ \t]*\.\.\. ?", "\n", match[1])
        with silence(), contextlib.suppress(Exception):
            tree = ast.parse(code)
            if len(tree.body) == 1 and isinstance(tree.body[0], (ast.Import, ast.ImportFrom)):
                imports.append(code)  # IMPORTED has the usual names, too
            if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and not isinstance(tree.body[0].value, (ast.Name, ast.Constant)):  # fmt: skip
                code = ast.get_source_segment(code, tree.body[0]) or code
                read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names}
                used = [line for line in imports if read & bound_by(line)]
                inputs = sorted(read - {*IMPORTED}.union(*map(bound_by, used)))
                value = find_value(code, names, inputs)
                if value is not None:
                    given = {name: copy.deepcopy(to_input(names[name])) for name in inputs}
                    shapes = {name: one if isinstance(one, (int, float)) else np.shape(one) for name, one in given.items()}  # fmt: skip
                    yield Line("\n".join((*used, code)), library, given, value, shapes)
            exec(compile(code, "<example>", "exec"), names)


def bound_by(line: str) -> set[str]:
    return {(alias.asname or alias.name).partition(".")[0] for node in ast.parse(line).body for alias in node.names}  # type: ignore[attr-defined]


# -------------------------------------------------------------------------------------------------------------- calls
def parameters_of(function: Any) -> list[tuple[str, bool, Any]]:
    """Return the name of each parameter, whether it is a keyword only, and its default, or `inspect._empty`."""
    try:
        signature = inspect.signature(function)
        if isinstance(function, np.ufunc):  # where= leaves elements of uninitialized memory
            signature = signature.replace(parameters=[one for one in signature.parameters.values() if one.name != "where"])  # fmt: skip
    except (ValueError, TypeError):
        first = re.match(r"\s*\w+\((.*?)\) ->", inspect.getdoc(function) or "")
        text = re.sub(r"[\[\]]|(?<=\w): \w+", "", first[1]) if first else "input"
        try:
            signature = inspect.signature(eval(f"lambda {text}: 0", {"torch": torch}))
        except (SyntaxError, ValueError, NameError, AttributeError):
            return [("input", False, inspect._empty)]
    return [
        (one.name, one.kind == one.KEYWORD_ONLY, one.default)
        for one in signature.parameters.values()
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def random_argument(chance: random.Random, name: str, default: Any) -> str:
    for pattern, choices in ARGUMENTS:
        if re.fullmatch(pattern, name):
            return chance.choice(choices.split()) if choices else ""
    if default is inspect._empty:
        return chance.choice(ARRAYS)
    if isinstance(default, bool):
        return chance.choice(["True", "False"])
    if isinstance(default, (int, float)):
        return chance.choice([repr(default), "1", "2", "0.5"])
    return repr(default) if isinstance(default, str) else ""


def random_call(chance: random.Random, name: str, parameters: list[tuple[str, bool, Any]]) -> str:
    arguments, keyword = list[str](), False
    for parameter, only, default in parameters:
        if default is not inspect._empty and chance.random() < 0.6:
            keyword = True  # the rest follows by name
            continue
        if not (argument := random_argument(chance, parameter, default)):
            keyword = True
            continue
        keyword = keyword or only or (default is not inspect._empty and chance.random() < 0.5)
        arguments.append(f"{parameter}={argument}" if keyword else argument)
    return f"{name}({', '.join(arguments)})"


def calls_of(library: str, name: str, function: Any) -> Iterator[Line]:
    """Yield random calls of a function that the library accepts."""
    chance = random.Random(name)
    convert = {"numpy": np.asarray, "jax": jax.numpy.asarray, "torch": torch.from_numpy}[library]
    arrays = random_arrays(0, True)
    names = IMPORTED | {name: convert(array) for name, array in arrays.items()}
    parameters, accepted = parameters_of(function), set[str]()
    for _ in range(0 if inspect.isclass(LIBRARIES[library][name.rpartition(".")[0]]) else ATTEMPTS):
        code = random_call(chance, name, parameters)
        inputs = sorted({*re.findall(r"(?<![\w.'])[A-Za-z]\b(?![='])", code)} & {*arrays})
        if code not in accepted and len(accepted) < PER_FUNCTION:
            with silence(), contextlib.suppress(Exception):
                value = find_value(code, names, inputs)
                if value is not None:
                    accepted.add(code)
                    shapes = {one: SHAPES[one] for one in inputs}
                    yield Line(code, library, {one: arrays[one] for one in inputs}, value, shapes)


# ------------------------------------------------------------------------------------------------------------ outcomes
def documentation_lines(kind: str, functions: Iterable[tuple[str, str, Any]]) -> list[Line]:
    """Return the lines of a kind, `calls` or `examples`, for some functions, each line once."""
    make = {"calls": calls_of, "examples": examples_of}[kind]
    lines = [line for library, name, function in functions for line in make(library, name, function)]
    return [*{(line.source, line.library, repr(line.inputs)): line for line in lines}.values()]


def outcome(line: Line) -> tuple[str, str]:
    """Return `equal`, `question`, `refused`, `wrong` or `crash`, with the reason for the last three."""
    kind = "" if re.search(r"[.(]", line.source) else "torch" if line.library == "torch" else "numpy"
    try:
        with silence():
            return judge(translate(line.source, line.shapes, kind=kind), line)
    except AmbiguousError as problem:
        right = any(judge(reading, line)[0] == "equal" for reading in problem.readings)
        return ("question", "") if right else ("wrong", "no interpretation has the library's value")
    except nt.NotationError as problem:
        return "refused", problem.message
    except Exception as problem:  # an error of any other kind explains nothing
        return "crash", f"{type(problem).__name__}: {problem}"


def judge(translation: Any, line: Line) -> tuple[str, str]:
    value = translation(*(line.inputs[name] for name in translation.axes))
    return ("equal", "") if equal(value, line.value) else ("wrong", str(translation))


def main() -> None:
    functions = [row for row in all_functions() if row[0] in sys.argv or not {*LIBRARIES} & {*sys.argv}]
    for kind in [word for word in sys.argv if word in ("calls", "examples")] or ["calls", "examples"]:
        outcomes = {line: outcome(line) for line in documentation_lines(kind, functions)}
        counts = collections.Counter(result for result, _ in outcomes.values())
        share = (counts["equal"] + counts["question"]) / len(outcomes)
        print(f"{kind}: {len(outcomes)} lines, {share:.1%} equal or question; {dict(counts)}")
        reasons = [
            re.sub(r"\d+|\b[A-Za-z]\b", "…", reason) for result, reason in outcomes.values() if result == "refused"
        ]
        for reason, count in collections.Counter(reasons).most_common():
            print(f"{count:5} {reason}")
        for line, (result, reason) in outcomes.items():
            if result in ("wrong", "crash"):
                print(result, line.library, line.source, reason, sep=" | ")


if __name__ == "__main__":
    main()
