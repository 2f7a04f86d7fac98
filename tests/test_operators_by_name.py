"""Which files know an operator by its name: its record, and those that rewrite it."""

import ast
from pathlib import Path

from namedtensor.operators import REGISTRY

ROOT = Path(__file__).parent.parent / "namedtensor"
HOMES = ("operators", "reference", "backends", "teaching")  # records, the oracle's definitions, primitives, exercises
# What is also a word of the language or of plans is no clue: a product, a sign, a primitive of the same name.
ALSO = {"juxtaposed", "negative", "iota", "ones", "index", "where", "stack", "concat", "identity", "sign", "prod"}
WORDS = {name for name in REGISTRY if len(name) > 3} - ALSO
KNOWING = {
    "calculus": "cumsum expm mean onehot pool softmax sqrt trace unroll",  # transposed, or differentiated where they are not smooth
    "checking": "argmaxk clip maxk mean norm onehot pool sqrt standardize unroll",  # advice, and sizes that a caller must state
    "planning": "cholesky cofactors cumprod cumsum eigh eigvalsh expm logdet logsoftmax mean softmax sort sqrt standardize trace",  # rewrites, primitives
    "symbolic": "arctan argmax argmin cosh cumprod even logsoftmax logsumexp mean norm onehot sinh softmax sqrt standardize tanh "
    "trace",  # laws, and differentials as a reader has them
    "tensors": "cumsum diag onehot",  # examples, and NumPy's own name
    "terms": "onehot",  # of a derivative
    "webpage": "logsoftmax logsumexp mean onehot pool softmax sqrt standardize unroll",  # how their numbers are written out
}  # what each room knows by name


def names_in(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)} & WORDS


def test_only_what_rewrites_an_operator_knows_its_name():
    found: dict[str, set[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        room = path.relative_to(ROOT).parts[0]
        if room not in HOMES and (words := names_in(path)):
            found.setdefault(room, set()).update(words)
    assert {room: " ".join(sorted(words)) for room, words in found.items()} == KNOWING


def test_no_room_below_checking_knows_how_a_product_was_written():
    rooms = ("terms", "calculus", "planning", "backends")
    assert not [
        path for room in rooms for path in (ROOT / room).rglob("*.py") if "juxtaposed" in path.read_text("utf-8")
    ]
