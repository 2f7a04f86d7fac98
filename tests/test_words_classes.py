"""Check that a class name means one thing: `EXCEPTIONS` lists the names defined twice, with a reason each."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
SAME_IN_SEVERAL_TEXTS = set(
    "Attention BatchNorm Block FFN FeedForward InstanceNorm LayerNorm MultiHeadAttention RNN SelfAttention".split()
)  # the layers that several published texts give this name

EXCEPTIONS = {  # class name: why it is defined twice
    "Program": "`nt.Program` is public; `nodes.Program` is its syntax node",
}


def definitions() -> dict[str, set[str]]:
    """Return the modules that define each class name."""
    modules = defaultdict(set)
    for top in ("grammar", "namedtensor", "transformer"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    modules[node.name].add(path.relative_to(ROOT).as_posix())
    return modules


def test_class_name_means_one_thing():
    twice = {name for name, modules in definitions().items() if len(modules) > 1}
    assert twice - SAME_IN_SEVERAL_TEXTS == EXCEPTIONS.keys()
