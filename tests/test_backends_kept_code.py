"""Code that is kept for texts that differ in whole numbers: what it gives is what the text gives, compiled by itself."""

from __future__ import annotations

import pytest

from namedtensor.backends import kept_code
from namedtensor.backends.kept_code import KeptCode, split_at_numbers

NUMBERS = (2, 3, 7, 255, 256, 257, 31, 10**6, 2**31, 2**40)


@pytest.fixture
def codes(monkeypatch):
    monkeypatch.setattr(kept_code, "SHORT", 0)
    return KeptCode()


def value(code):
    space: dict = {"taken": lambda *given, **named: (given, tuple(named.items())), "x": list(range(12))}
    exec(code, space)
    return space["y"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("y = taken(({n}, 64), {n})", True),
        ("y = taken(-{n}, (1, -{n}), axis=-1)", True),
        ("y = x[:{n}], x[-{n}:], x[{n}:], x[1:-{n}:2]", True),
        ("y = '{n}', \"{n} and {n}\", 'it\\'s {n}'", True),
        ("def inner(a):\n    return a, {n}, {n}.5, {n}e-3, [{n}, [{n}, a]]\ny = inner({n})", True),
        ("t{n} = {n}\ny = [t{n} for _ in (1, 2, 3)]", True),
        ("def outer():\n    return lambda a: (a, {n}, None, True, 0, 1)\ny = outer()({n})", True),
        ("y = {n} * 64, {n} - 2, ({n} + 1,)", False),
        ("y = 1 if {n} else 2", None),  # as Python has it
        ("y = not {n}", False),
        ("y = 5 in {{{n}, 2}}", False),
        ("y = (-(-{n}), {n} if 0 else 3)", None),
        ("y = 0x{n}, 1_{n}, {n}.0", True),
    ],
)
def test_the_code_of_a_text_is_that_of_the_text_with_its_numbers(codes, text, kept):
    for n in NUMBERS:
        written = text.format(n=n) + "\n"
        found = codes.of(written, "<file>")
        assert repr(value(found)) == repr(value(compile(written, "<file>", "exec")))
        assert found.co_filename == "<file>"
    between, numbers = split_at_numbers(text.format(n=31))
    assert kept is None or (kept_code.with_marks(between, numbers, "<file>") is not None) is kept


def test_texts_that_differ_in_sizes_are_compiled_once(codes, monkeypatch):
    made, with_marks = [], kept_code.with_marks
    monkeypatch.setattr(kept_code, "with_marks", lambda *given: made.append(given) or with_marks(*given))
    for n in NUMBERS:
        assert value(codes.of(f"y = taken({n}, 1)\n", "<file>")) == ((n, 1), ())
    codes.of("y = taken(0, 1)\n", "<file>")
    codes.of("y = taken(2, 0)\n", "<file>")
    assert len(made) == 3  # 0 and 1 stay: what stands in their place decides what a compiler makes of a text


def test_what_fails_is_told_by_its_line(codes):
    text = "def function(x):\n    y = x\n    return x.reshape(({n}, 5))\ny = function\n"
    for n in (7, 31):
        with pytest.raises(AttributeError) as raised:
            value(codes.of(text.format(n=n), "<file>"))(None)
        assert raised.traceback[-1].lineno + 1 == 3


def test_what_is_kept_is_bounded_by_bytes(monkeypatch):
    monkeypatch.setattr(kept_code, "SHORT", 40)
    codes = KeptCode(20_000)
    texts = [f"{'abc'[n % 3]}{n} = taken(({n}, 5), 'a longer text than the others')\n" for n in range(1, 100)]
    for text in [*texts, *texts[::-1]]:
        codes.of(text.replace("a longer text than the others", "") if len(text) % 2 else text, "<file>")
        assert codes.bytes <= 20_000
    assert 0 < codes.bytes


def test_the_text_that_was_asked_for_last_is_dropped_last(monkeypatch):
    made, with_marks = [], kept_code.with_marks
    monkeypatch.setattr(kept_code, "SHORT", 0)
    monkeypatch.setattr(kept_code, "with_marks", lambda *given: made.append(given[0][0][0]) or with_marks(*given))
    codes = KeptCode(3 * (kept_code.RECORD + 40))
    for name in "abcabcaadabe":
        codes.of(f"{name} = 5\n", "<file>")
    assert "".join(made) == "abcdbe"
