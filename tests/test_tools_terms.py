"""Test the table of terms, and that a class name means one thing."""

import ast
from collections import defaultdict

import pytest
import terms
from texts import ROOT

SAME_IN_SEVERAL_TEXTS = set(
    "Attention BatchNorm Block FFN FeedForward InstanceNorm LayerNorm MultiHeadAttention RNN SelfAttention".split()
)  # the layers that several published texts give this name

EXCEPTIONS = {  # class name: the reason for two definitions
    "Program": "`nt.Program` is public; `nodes.Program` is its syntax node",
}

EXAMPLES = {
    "claim": ("It claims that x = y.", "The assertion holds."),
    "fact": ("Facts about sizes.", "In fact, it holds."),
    "draw": ("It holds on five draws.", "It draws a picture."),
    "trial": ("It fails in one trial.", "A trivial case."),
    "place": ("The place in a tensor.", "It is used in place of the axis."),
    "number": ("The numbers of a tensor.", "The number of tensors."),
    "map": ("It is mapped over all other axes.", "jax.vmap maps over batch."),
    "layout": ("The layouts of its inputs.", "The memory layout."),
    "lane": ("A cell in its lane.", "It is in front of x."),
    "reading": ("It has two readings.", "While reading the file."),
    "mark": ("The marked axis.", "The caret marks an axis."),
    "head": ("The head of an equation.", "The heads of attention."),
    "refuse": ("It refuses the input.", "It rejects the input."),
    "derivative by": ("The derivative by x is 2.", "The gradient by itself."),
    "spelling": ("The behaviour is known.", "The behavior is known."),
}


def test_every_row_has_an_example():
    assert EXAMPLES.keys() == terms.TERMS.keys()


@pytest.mark.parametrize("row", EXAMPLES)
def test_a_row_finds_its_words_alone(row):
    wrong, right = EXAMPLES[row]
    assert [name for name, _ in terms.find_words(wrong)] == [row]
    assert not list(terms.find_words(right))


def test_hits_of_a_file_name_the_standard_term(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("The `claim` is a claim.\n", "utf-8")
    assert [hit.report for hit in terms.check_file(page, "page.md")] == ["'claim': write assertion"]


def find_definitions() -> dict[str, set[str]]:
    """Return the modules that define each class name."""
    modules = defaultdict(set)
    for top in ("grammar", "namedtensor", "transformer"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    modules[node.name].add(path.relative_to(ROOT).as_posix())
    return modules


def test_class_name_means_one_thing():
    twice = {name for name, modules in find_definitions().items() if len(modules) > 1}
    assert twice - SAME_IN_SEVERAL_TEXTS == EXCEPTIONS.keys()
