"""Check that a class name means one thing: a name that is defined twice must be listed here, and the list only shrinks."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
SAME_IN_SEVERAL_TEXTS = set(
    "Attention BatchNorm Block FFN FeedForward InstanceNorm LayerNorm MultiHeadAttention RNN SelfAttention".split()
)  # the layers that published texts call so

DEFINED_TWICE = set(
    """Along Arguments Builder Chain Code Condition Conditions Derivative Entry Environment Fact Given Highlighted
    Malformed Over Piece Program Recurrence Row Scripts Signature Sizes Source Step StepValues Steps Symbol Taken
    Term TermBuilder Translation Typed Unreadable Value""".split()
)  # to be renamed


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
    assert twice - SAME_IN_SEVERAL_TEXTS <= DEFINED_TWICE
