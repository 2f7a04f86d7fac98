"""The lines of the Matrix Cookbook in the spelling of matrices and indices, translated and compared with those of the docs."""

import re
import sys
from pathlib import Path

import pytest

import namedtensor as nt

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
from cookbook import SECTIONS

CLAIMS = {claim.number: claim for claims in SECTIONS.values() for claim in claims}
SQUARE, VECTOR = "X: i i", "x: i"
LINES = {  # number: shapes, left side, right side, axes of the value
    "49": (SQUARE, r"\frac{\partial \det(X)}{\partial X}", r"\det(X) (X^{-1})^T", "i* j*"),
    "57": (SQUARE, r"\frac{\partial \ln |\det(X)|}{\partial X}", r"(X^{-1})^T", "i* j*"),
    "58": (SQUARE, r"\frac{\partial \det(X)^3}{\partial X}", r"3 \det(X)^3 X^{-T}", "i* j*"),
    "60": (SQUARE, r"\frac{\partial (X^{-1})_{kl}}{\partial X_{ij}}", r"Y_{klij} = -(X^{-1})_{ki} (X^{-1})_{jl}", "i j i* j*"),
    "61": (SQUARE + "; a: i; b: i'", r"\frac{\partial a^T X^{-1} b}{\partial X}", "-X^{-T} a b^T X^{-T}", "i* j*"),
    "62": (SQUARE, r"\frac{\partial \ln |\det(X^{-1})|}{\partial X}", "-(X^{-1})^T", "i* j*"),
    "63": (SQUARE, r"\frac{\partial \mathrm{Tr}(X^{-1})}{\partial X}", "-(X^{-1} X^{-1})^T", "i* j*"),
    "69": ("x: i; a: i", r"\frac{\partial x^T a}{\partial x}", "a", "i*"),
    "70": ("X: i j; a: i; b: j", r"\frac{\partial a^T X b}{\partial X}", "a b^T", "i* j*"),
    "72": (SQUARE + "; a: i", r"\frac{\partial a^T X a}{\partial X}", "a a^T", "i* j*"),
    "73": ("X: i j", r"\frac{\partial X_{kl}}{\partial X_{mn}}", "", "i j i* j*"),
    "74": ("X: i j; A: j k", r"\frac{\partial (X A)_{kl}}{\partial X_{mn}}", "", "i k i* j*"),
    "76": ("X: i j", r"\frac{\partial}{\partial X} (\sum_{kl} X_{kl})^2", "", "i* j*"),
    "77": ("X: i j; b: j; c: j", r"\frac{\partial b^T X^T X c}{\partial X}", "X (b c^T + c b^T)", "i* j*"),
    "81": ("x: i; B: i i", r"\frac{\partial x^T B x}{\partial x}", "(B + B^T) x", "i*"),
    "82": ("X: i j; D: i i; b: j; c: j'", r"\frac{\partial b^T X^T D X c}{\partial X}", "D^T X b c^T + D X c b^T", "i* j*"),
    "84": ("x: i; c: i; W: i i", r"\frac{\partial}{\partial x} (x - c)^T W (x - c)", "(W + W^T)(x - c)", "i*"),
    "85": ("x: i; A: i j; s: j", r"\frac{\partial}{\partial s} \|x - A s\|_2^2", "-2 A^T (x - A s)", "j*"),
    "86": ("x: i; s: i", r"\frac{\partial}{\partial x} \|x - s\|_2^2", "2 (x - s)", "i*"),
    "88": ("x: i; A: i j; s: j", r"\frac{\partial}{\partial A} \|x - A s\|_2^2", "-2 (x - A s) s^T", "i* j*"),
    "99": (SQUARE, r"\frac{\partial}{\partial X} \mathrm{Tr}(X)", "", "i* j*"),
    "100": ("X: i j; A: j i", r"\frac{\partial}{\partial X} \mathrm{Tr}(X A)", "A^T", "i* j*"),
    "103": ("X: i j; A: i j", r"\frac{\partial}{\partial X} \mathrm{Tr}(A^T X)", "A", "i* j*"),
    "106": (SQUARE, r"\frac{\partial}{\partial X} \mathrm{Tr}(X X)", "2 X^T", "i* j*"),
    "107": ("X: i j; B: j k", r"\frac{\partial}{\partial X} \mathrm{Tr}(B^T X^T X B)", "2 X B B^T", "i* j*"),
    "115": ("X: i j", r"\frac{\partial}{\partial X} \mathrm{Tr}(X^T X)", "2 X", "i* j*"),
    "129": ("x: i; a: i", r"\frac{\partial}{\partial x} \|x - a\|_2", r"\frac{x - a}{\|x - a\|_2}", "i*"),
    "130": ("x: i; a: i", r"\frac{\partial}{\partial x} \frac{x - a}{\|x - a\|_2}", r"\frac{I}{\|x - a\|_2} - \frac{(x - a)(x - a)^T}{\|x - a\|_2^3}", "i i*"),
    "131": (VECTOR, r"\frac{\partial \|x\|_2^2}{\partial x}", "2 x", "i*"),
    "132": ("X: i j", r"\frac{\partial}{\partial X} \|X\|_F^2", "2 X", "i* j*"),
}  # fmt: skip
DIFFERENTIALS = {  # number: shapes, left side, right side
    "33": ("X: i j", r"\partial (2 X)", r"2 \partial X"),
    "34": ("X: i j; Y: i j", r"\partial (X + Y)", r"\partial X + \partial Y"),
    "35": (SQUARE, r"\partial (\mathrm{Tr}(X))", r"\mathrm{Tr}(\partial X)"),
    "36": ("X: i j; Y: j k", r"\partial (X Y)", r"(\partial X) Y + X (\partial Y)"),
    "37": ("X: i j; Y: i j", r"\partial (X \circ Y)", r"(\partial X) \circ Y + X \circ (\partial Y)"),
    "39": (SQUARE, r"\partial (X^{-1})", r"-X^{-1} (\partial X) X^{-1}"),
    "40": (SQUARE, r"\partial (\det(X))", r"\det(X) \mathrm{Tr}(X^{-1} \partial X)"),
    "42": (SQUARE, r"\partial (\ln |\det(X)|)", r"\mathrm{Tr}(X^{-1} \partial X)"),
    "43": ("X: i j", r"\partial (X^T)", r"(\partial X)^T"),
}  # fmt: skip
TWINS = {"82": {"i'": "k", "j'": "l"}}  # what the docs call the second axis of a square
REFUSED = {"97": "the Hessian, a derivative by x and x^T"}


def shapes(text: str) -> dict[str, str]:
    return {name.strip(): axes.strip() for name, _, axes in (piece.partition(":") for piece in text.split(";"))}


def types(number: str) -> dict[str, str]:
    return {
        name: f"ℝ^{{{' × '.join(axes)}}}" for name, *axes in (part.split() for part in CLAIMS[number].shapes.split(";"))
    }


def translated(number: str, source: str, given: dict[str, str], axes: str) -> str:
    """The translation, with axes as the docs call them."""
    letters = re.sub(r"\\[A-Za-z]+", "", source)
    given = {name: shape for name, shape in given.items() if name in letters}
    twins = TWINS.get(number, {"i'": "j"} if "i i" in given.values() else {})
    try:
        translation = nt.translate(source, given)
    except nt.NotationError as problem:
        if problem.code != 116:
            raise
        translation = nt.translate(source, given, reading=1)
    assert translation.checked.startswith("not checked" if r"\partial" in source else "the types are checked") or axes
    formula, result = translation.formula.removeprefix("Y = "), list(translation.result)
    for twin, name in twins.items():
        formula, result = formula.replace(twin, name), [axis.replace(twin, name) for axis in result]
    pairs = zip(result, axes.split(), strict=True) if axes else ()
    renamed = ", ".join(f"{old}→{new}" for old, new in pairs if old != new)
    return f"[{formula}]_{{{renamed}}}" if renamed else formula


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", LINES)
def test_positional_line_of_the_cookbook_is_that_of_the_docs(number):
    text, left, right, axes = LINES[number]
    *before, last = CLAIMS[number].text.splitlines()
    ours = "\n".join([*before, last.partition(" = ")[0]])
    for side in filter(None, (left, right)):
        formula = translated(number, side, shapes(text), axes)
        same = nt.equivalent("\n".join([*before, formula]), ours, **types(number))
        assert same, f"{side}: {formula}: {same}"


@pytest.mark.parametrize("number", DIFFERENTIALS)
def test_positional_differential_of_the_cookbook_is_proved(number):
    text, left, right = DIFFERENTIALS[number]
    sides = [translated(number, side, shapes(text), "") for side in (left, right)]
    assert nt.prove(" = ".join(f"({side})" for side in sides), **types(number))


def test_positional_lines_of_the_cookbook_are_all_but_one():
    assert {*LINES, *DIFFERENTIALS, *REFUSED} == {*CLAIMS}
    with pytest.raises(nt.NotationError):
        nt.translate(r"\frac{\partial^2 (x^T B x)}{\partial x \partial x^T}", x="i", B="i i")
