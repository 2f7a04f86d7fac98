"""Errors have fields, which is what code decides by; their texts are for people, and no module reads them."""

import ast
import copy
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import namedtensor as nt
from grammar.errors import (
    AXES_NEEDED,
    ENDLESS_MACRO,
    NO_VALUE,
    REASONS,
    SIDES_DIFFER,
    SIZE_NEEDED,
    TYPE_NEEDED,
    UNFINISHED,
    Hint,
    NotationError,
    OperandNote,
)
from namedtensor.teaching.exercise_files import ExerciseError

ROOT = Path(__file__).parent.parent
TEXTS = {"message", "hint", "notes"}  # the fields of an error that hold text
SEARCHES = {
    "search", "match", "fullmatch", "findall", "finditer", "split", "rsplit", "partition", "rpartition", "startswith", "endswith",
    "find", "rfind", "index", "rindex", "count", "removeprefix", "removesuffix", "sub", "subn",
}  # fmt: skip
CAUGHT = {"problem", "error", "warning", "unfit", "stuck", "finding", "refused", "exc", "exception"}

# Functions that read texts, and why that is no decision by a text of ours.
ALLOWED = {
    (
        "namedtensor/cli/console.py",
        "replace_hint",
    ): "rewrites what Python calls an argument as the command line calls it",
    ("namedtensor/planning/failures.py", "make_matrix_error"): "an error of NumPy or PyTorch, which has no fields",
    ("namedtensor/planning/failures.py", "make_rejection_error"): "the same, on one line",
    ("namedtensor/files/formats.py", "first_line"): "the same, of numpy.load",
    ("namedtensor/files/streams.py", "read_stream"): "puts the name of the stream instead of that of its copy",
    ("namedtensor/sharding/meshes.py", "_elsewhere"): "the first line of an error of libtpu",
    (
        "namedtensor/sharding/device_report.py",
        "_use",
    ): "the memory that XLA says a program needs, which it has no field for",
}


def is_text_of_error(node: ast.AST) -> bool:
    """Whether an expression is, or is made of, the text of an error."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in TEXTS and _is_error(part.value):
            return True
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in ("str", "repr"):
            if any(_is_error(argument) for argument in part.args):
                return True
        if isinstance(part, ast.FormattedValue) and _is_error(part.value):
            return True
    return False


def _is_error(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        if node.attr in CAUGHT:
            return True
        node = node.value
    return isinstance(node, ast.Name) and node.id in CAUGHT


def _searches(node: ast.AST) -> bool:
    parts = list(ast.walk(node))
    return any(
        isinstance(part, ast.Compare) or isinstance(part, ast.Attribute) and part.attr in SEARCHES for part in parts
    )


def reads(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The functions, with lines, that compare, search or match the text of an error."""
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, function = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        stack += [(child, function) for child in ast.iter_child_nodes(node)]
        sides: list[ast.AST] = []
        if isinstance(node, ast.Compare) and not all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
            sides = [node.func.value, *node.args]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("map", "filter"):
            sides = node.args[1:] if _searches(node.args[0]) else []
        elif isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)) and _searches(node):
            sides = [part.iter for part in node.generators]
        elif isinstance(node, ast.Match):
            sides = [node.subject]
        if any(map(is_text_of_error, sides)):
            yield function, getattr(node, "lineno", 0)


SOURCES = [
    path for package in ("grammar", "namedtensor", "transformer") for path in sorted((ROOT / package).rglob("*.py"))
]


@pytest.mark.slow
def test_no_module_reads_the_text_of_an_error():
    texts = [
        f"{path.relative_to(ROOT)}:{line} ({function})"
        for path in SOURCES
        for function, line in reads(ast.parse(path.read_text(encoding="utf-8")))
        if (path.relative_to(ROOT).as_posix(), function) not in ALLOWED
    ]
    assert not texts, texts


@pytest.mark.parametrize("text", [
    'problem.message == "x"', '"after it" in problem.message', 'problem.hint and "did" in (problem.hint or "")', 'x = PATTERN.search(error.hint)',
    're.match(r"a", str(problem))', 'problem.message.endswith("x")', 'problem.message.partition(" ")[0]', 'any(P.search(t) for t in (*error.notes, error.message))',
    'f"{problem}" == "x"', 'finding.problem.message.split()', 'map(P.search, error.notes)', "match problem.message:\n  case 'x': pass",
])  # fmt: skip
def test_such_a_reading_is_noticed(text):
    assert [*reads(ast.parse(f"def f():\n  {text}".replace("\n  case", "\n    case")))]


def test_allowed_readers_exist():
    for (path, function), reason in ALLOWED.items():
        assert reason and f"def {function}(" in (ROOT / path).read_text(encoding="utf-8"), (path, function)


# --------------------------------------------------------------------------------------------------------------- fields
X = nt.tensor([1.0, 2.0], "seq")
FIELDS = {
    "name": ("x + y", {}, (201, "y", None, TYPE_NEEDED)),
    "label": ("h^n\nh^t = h^{t-1} for t = 1, …, n\nh^0 = x", {}, (201, "n", None, SIZE_NEEDED)),
    "axis": ("softmax_{key} x", {}, (301, "softmax", "key", None)),
    "index": ("x_{key(1)}", {}, (301, None, "key", None)),
    "argument": ("f : ℝ^{key} → ℝ\nf(y) = ∑_{key} y\nf(x)", {}, (305, "f", "key", None)),
    "size": ("x_{seq→(a,b)}", {}, (309, "a", "a", SIZE_NEEDED)),
    "end": ("y = h^2\nh^0 = x\nh^t = h^{t-1} for t = 1, …, m", {}, (309, "m", None, SIZE_NEEDED)),
    "unfinished": ("x +", {}, (105, None, None, UNFINISHED)),
    "endless": (r"\newcommand{\a}{\a\a} \a", {"syntax": "latex"}, (109, None, None, ENDLESS_MACRO)),
    "no value": ("y = x − 1\n1 / y = 1 / x", {}, (403, None, None, NO_VALUE)),
    "sides": ("x = x_{seq→a}", {}, (307, None, None, SIDES_DIFFER)),
    "a value": ("y = x − 1\ny + 1 = x + 1", {}, (403, None, None, None)),
}


@pytest.mark.parametrize("name", FIELDS)
def test_an_error_says_by_fields_what_it_is_about(name):
    formula, options, fields = FIELDS[name]
    with pytest.raises(NotationError) as raised:
        nt.evaluate(formula, {"x": X}, **options)
    problem = raised.value
    assert (problem.code, problem.symbol, problem.axis, problem.reason) == fields
    assert not hasattr(problem, "number")


def test_a_translation_says_by_fields_which_axes_it_needs():
    with pytest.raises(NotationError) as raised:
        nt.translate("A @ B", B="k n")
    assert (raised.value.code, raised.value.symbol, raised.value.reason) == (115, "A", AXES_NEEDED)


def test_reasons_are_all_described():
    assert {fields[3] for _, _, fields in FIELDS.values()} - {None} | {AXES_NEEDED} == REASONS.keys()


WITH_FIELDS = NotationError(
    301, "no axis", "A ⊙_{key} x", (5, 8), (OperandNote("A : ℝ^{a}", "A", "a"),), Hint("try a", "a"), (((0, 1), "A"),),
    symbol="⊙", axis="key", reason=SIZE_NEEDED,
)  # fmt: skip
COPIES = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": lambda error: error.replace(),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize(
    "error", [WITH_FIELDS, ExerciseError("line 3: no goal", "f", (0, 1))], ids=["notation", "exercise"]
)
def test_a_copy_of_an_error_has_its_fields(way, error):
    copies = COPIES[way](error)
    assert type(copies) is type(error) and vars(copies) == vars(error) and copies.args == error.args
    assert (copies.edits, str(copies)) == (error.edits, str(error)) and copies is not error
    if error.notes:
        assert (copies.notes[0].operand, copies.notes[0].axes) == ("A", ("a",))


def test_a_changed_copy_keeps_all_else():
    text = WITH_FIELDS.replace(message="other", notes=["one"])
    assert (text.message, text.notes, text.args[1], text.axis) == ("other", ("one",), "other", "key")
    assert WITH_FIELDS.message == "no axis"
    with pytest.raises(TypeError, match="no field color"):
        WITH_FIELDS.replace(color=1)


def test_an_error_keeps_its_fields_where_it_gets_a_place():
    error = NotationError(201, "y is not known", symbol="y", reason=SIZE_NEEDED).located("x + y", (4, 5))
    assert (error.symbol, error.reason, error.span_text) == ("y", SIZE_NEEDED, "y")
