"""The grammar itself: no conflict is resolved silently, and the kept automaton is that of the grammar."""

import json
import pathlib

import pytest

from grammar import automaton
from grammar.parser import parse
from grammar.symbols import SYMBOLS


def test_the_kept_automaton_is_of_this_grammar():
    kept = json.loads(pathlib.Path(automaton.KEPT).read_text(encoding="utf-8"))
    text = pathlib.Path(automaton.GRAMMAR).read_text(encoding="utf-8")
    assert kept["grammar"] == automaton._digest(text), "run: python -m grammar.automaton"


def test_the_kept_automaton_is_what_lark_makes():
    made, kept = automaton.unpack(automaton.make()), automaton.automaton()
    assert len(made.states) == len(kept.states)
    pairs, seen = [(made.start, kept.start)], set()
    while pairs:
        pair = pairs.pop()
        if pair in seen:
            continue
        seen.add(pair)
        left, right = made.states[pair[0]], kept.states[pair[1]]
        assert left.keys() == right.keys()
        for symbol, (rule, target) in left.items():
            other_rule, other_target = right[symbol]
            assert rule == other_rule
            if target is not None:
                pairs.append((target, other_target))
    assert len({left for left, _ in seen}) == len(made.states) or len(seen) >= len(made.states) - 1


def test_no_conflict_is_resolved_silently():
    pytest.importorskip("interegular")
    from lark import Lark
    from lark.lexer import Lexer

    class NoLexer(Lexer):
        def __init__(self, configuration):
            pass

        def lex(self, lexer_state, parser_state):
            return iter(())

    text = pathlib.Path(automaton.GRAMMAR).read_text(encoding="utf-8")
    Lark(text, start="program", parser="lalr", lexer=NoLexer, strict=True)


def test_a_changed_grammar_makes_its_automaton_anew(monkeypatch, tmp_path):
    kept = json.loads(pathlib.Path(automaton.KEPT).read_text(encoding="utf-8"))
    stale = tmp_path / "formula.json"
    stale.write_text(json.dumps({**kept, "grammar": "another", "states": []}), encoding="utf-8")
    monkeypatch.setattr(automaton, "KEPT", str(stale))
    automaton.automaton.cache_clear()
    try:
        assert len(automaton.automaton().states) == len(kept["states"])
    finally:
        automaton.automaton.cache_clear()


@pytest.mark.parametrize("symbol", [s for s in SYMBOLS if s.terminal == "OPERATOR"], ids=lambda s: s.text)
def test_every_operator_sign_parses(symbol):
    for spelling in symbol.text.split():
        assert parse(f"A {spelling}_{{a}} B", "text").statements[0].body.operator == symbol.text.split()[0]
