"""Which files know an operator by its name: its record, and those that rewrite it."""

import ast
from pathlib import Path

from namedtensor.operators import REGISTRY

ROOT = Path(__file__).parent.parent / "namedtensor"
HOMES = ("operators", "backends", "teaching")  # records, primitives, exercises
OF_PRIMITIVES = (
    "builder.py",
    "memory.py",
    "primitives.py",
    "intervals.py",
    "whole_numbers.py",
    "failures.py",
)  # of a plan, by their names
# What is also a word of the language or of plans is no clue: a product, a sign, a primitive of the same name.
ALSO = {"juxtaposed", "negative", "iota", "ones", "index", "where", "stack", "concat", "identity", "sign", "prod"}
WORDS = {name for name in REGISTRY if len(name) > 3} - ALSO
KNOWING = {  # of each room, the names that it knows, and why no flag of a record stands in their place
    "calculus": (
        "expm trace",
        "rules for tangents and cotangents with conditions: e^X takes any number of directions, a trace goes back to an identity",
    ),
    "checking": (
        "argmax argmin argsort clip mean norm sqrt standardize uniform",
        "the language: ‖x‖ is norm, standardize takes the ε that the program names, argmax_i is the i, what is drawn is made of uniform; "
        "errors that tell how clip is written",
    ),
    "documents": ("onehot", "∂f(X)/∂X_s is how f grows along what is 1 at s and else 0"),
    "planning": (
        "mean softmax sqrt standardize",
        "rewrites: attention, layer norm and online softmax are found by them",
    ),
    "programs": ("trace", "a call of einsum, whose subscripts say a trace"),
    "reference": ("argmax argmin mean norm standardize uniform", "the language again, by definitions of its own"),
    "scope": (
        "ceil cumsum floor sqrt standardize",
        "distributions: how a draw is made of numbers between 0 and 1; standardize uses an ε unsaid",
    ),
    "symbolic": (
        "cofactors cumprod even expm logsoftmax logsumexp mean norm onehot softmax solve sqrt standardize trace uniform",
        "laws, which are equations of these operators; and differentials as a reader has them",
    ),
    "tensors": ("cumsum", "what NumPy calls it"),
    "terms": ("mean onehot", "smart constructors of derivatives: −1 goes through a mean, X_{ax(i)} back to a onehot"),
    "webpage": (
        "logsoftmax logsumexp mean onehot pool softmax sqrt standardize unroll",
        "one element of each written out in numbers",
    ),
}


def words_of(node: ast.AST) -> set[str]:
    """What a string says: itself, and the words of one that is taken apart."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        return {word for each in ast.walk(node.func.value) for text in words_of(each) for word in text.split()}
    return set()


def names_in(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {word for node in nodes for word in words_of(node)} & WORDS


def test_only_what_rewrites_an_operator_knows_its_name():
    found: dict[str, set[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        room = path.relative_to(ROOT).parts[0]
        if room not in HOMES and not (room == "planning" and path.name in OF_PRIMITIVES) and (words := names_in(path)):
            found.setdefault(room, set()).update(words)
    assert {room: " ".join(sorted(words)) for room, words in found.items()} == {
        room: names for room, (names, _) in KNOWING.items()
    }


def test_no_room_below_checking_knows_how_a_product_was_written():
    rooms = ("terms", "calculus", "planning", "backends")
    assert not [
        path for room in rooms for path in (ROOT / room).rglob("*.py") if "juxtaposed" in path.read_text("utf-8")
    ]
