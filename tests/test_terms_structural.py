"""The table of structural terms: each has its place in every pass, or is named here as having none; and `verify`."""

import pytest

import namedtensor as nt
from namedtensor.calculus import linearize, transpose
from namedtensor.planning import regions
from namedtensor.planning.structural import RULES
from namedtensor.terms.structural import ROWS, STRUCTURAL, MalformedTermError, verify
from namedtensor.terms.terms import TermGraph

NAMES = {row.name for row in ROWS}
LEAVES = {row.name for row in ROWS if not row.most}  # they have no argument, and so no differential
PLACEHOLDERS = {"members"}  # which a loop takes away when it is made
LOOPS = {"loop", "after", "through"}  # through which cotangents go back together
OF_CHECKING = {"variable", "unknown"}  # planning takes the first away, and never sees the second: it is of checks alone
REFUSED = {"python"}  # of which no differential is known


def test_planning_has_a_rule_for_each_structural_term():
    of_loops = {"members", "after", "through"}  # which are read with their loop
    assert set(RULES) | of_loops | OF_CHECKING >= NAMES
    assert set(RULES) <= NAMES


def test_linearization_has_a_rule_for_each_structural_term():
    assert set(linearize.STRUCTURAL) & NAMES == NAMES - LEAVES - PLACEHOLDERS - REFUSED


def test_transposition_has_a_rule_for_each_structural_term():
    names = {"variable", "indicator"}  # a variable's differential is its argument's; that of a condition is nothing
    rows = {*transpose.TRANSPOSE_RULES, *transpose.COTANGENT_RULES}
    assert rows & NAMES >= NAMES - LEAVES - LOOPS - PLACEHOLDERS - REFUSED - names


def test_regions_know_only_what_keeps_blocks_whole():
    assert set(regions.STRUCTURAL) == {"rename", "cases", "indicator"}  # others move or join what a block would cut


@pytest.mark.parametrize(
    "operator, arguments, options",
    [("rename", 0, ()), ("pick", 1, ("a",)), ("spread", 1, ("a",)), ("nothing", 1, ()), ("exp", 2, ()), ("⊙", 1, ())],
)
def test_verify_refuses_what_the_table_does_not_have(operator, arguments, options):
    graph = TermGraph()
    parts = tuple(graph.number(value) for value in range(arguments))
    with pytest.raises(MalformedTermError):
        verify(graph.intern(operator, parts, options=options))


def test_each_pass_is_verified(monkeypatch):
    seen = []
    monkeypatch.setattr("namedtensor.terms.structural.after_pass", [lambda *roots: seen.append(roots)])
    nt.evaluate("∂(∑_{a} X ⊙ X ⊙ X)/∂X*", X=nt.tensor([1.0, 2.0], "a"))
    assert len(seen) == 3  # the derivative, the whole, and what is lowered


def test_names_are_in_the_table_once():
    assert len(STRUCTURAL) == len(ROWS)
