"""The derivatives of the Matrix Cookbook (Petersen and Pedersen, 2012, §2), by equation number, as assertions.

Rows are i, columns j, unless a matrix has others; a claim is an equation of the notation, and shapes are those of its tensors.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Claim(NamedTuple):
    """An equation of the cookbook, with its number and its tensors."""

    number: str
    text: str
    shapes: str


SQUARE, VECTOR = "X i j", "x i"
SECTIONS = {
    "Differentials": (
        Claim("33", "∂(2 X) = 2 ∂X", SQUARE),
        Claim("34", "∂(X + Y) = ∂X + ∂Y", "X i j; Y i j"),
        Claim("35", "∂(trace_{i,j} X) = trace_{i,j} ∂X", SQUARE),
        Claim("36", "∂(X ⊙_{j} Y) = ∂X ⊙_{j} Y + X ⊙_{j} ∂Y", "X i j; Y j k"),
        Claim("37", "∂(X ⊙ Y) = ∂X ⊙ Y + X ⊙ ∂Y", "X i j; Y i j"),
        Claim("39", "Z = inv_{i,j} X\n∂Z = −Z ⊙_{j} [∂X]_{i→j, j→k} ⊙_{k} Z_{i→k, j→l}_{l→j}", SQUARE),
        Claim("40", "d = det_{i,j} X\n∂d = d trace_{i,k}([inv_{i,j} X] ⊙_{j} [∂X]_{i→j, j→k})", SQUARE),
        Claim("42", "L = log(abs(det_{i,j} X))\n∂L = trace_{i,k}([inv_{i,j} X] ⊙_{j} [∂X]_{i→j, j→k})", SQUARE),
        Claim("43", "∂(X_{i→k, j→i}) = [∂X]_{i→k, j→i}", SQUARE),
    ),
    "Determinants": (
        Claim("49", "∂(det_{i,j} X)/∂X* = det_{i,j} X ⊙ [inv_{i,j} X]_{i→j*, j→i*}", SQUARE),
        Claim("57", "∂(log(abs(det_{i,j} X)))/∂X* = [inv_{i,j} X]_{i→j*, j→i*}", SQUARE),
        Claim("58", "∂((det_{i,j} X)^3)/∂X* = 3 (det_{i,j} X)^3 ⊙ [inv_{i,j} X]_{i→j*, j→i*}", SQUARE),
    ),
    "Inverses": (
        Claim("60", "Y = inv_{i,j} X\n∂Y/∂X* = −Y_{j→i*} ⊙ Y_{i→j*}", SQUARE),
        Claim(
            "61",
            "Y = inv_{i,j} X\n∂(a ⊙_{i} Y ⊙_{j} b)/∂X* = −(a ⊙_{i} Y_{j→i*}) ⊙ (Y_{i→j*} ⊙_{j} b)",
            "X i j; a i; b j",
        ),
        Claim("62", "Y = inv_{i,j} X\n∂(log(abs(det_{i,j} Y)))/∂X* = −Y_{i→j*, j→i*}", SQUARE),
        Claim("63", "Y = inv_{i,j} X\n∂(trace_{i,j} Y)/∂X* = −Y_{j→i*} ⊙_{i} Y_{i→j*, j→i}", SQUARE),
    ),
    "Vectors and matrices, first order": (
        Claim("69", "∂(x ⊙_{i} a)/∂x* = a^*", "x i; a i"),
        Claim("70", "∂(a ⊙_{i} X ⊙_{j} b)/∂X* = (a ⊙ b)^*", "X i j; a i; b j"),
        Claim("72", "∂(a ⊙_{i} X ⊙_{j} a_{i→j})/∂X* = (a ⊙ a_{i→j})^*", "X i j; a i"),
        Claim("73", "∂X/∂X* = I_{i,i*} ⊙ I_{j,j*}", SQUARE),
        Claim("74", "∂(X ⊙_{j} A)/∂X* = I_{i,i*} ⊙ A_{j→j*}", "X i j; A j k"),
    ),
    "Vectors and matrices, second order": (
        Claim("76", "∂((∑_{i,j} X)^2)/∂X* = 2 ∑_{i,j} X ⊙ iota_{i*}^0 ⊙ iota_{j*}^0", SQUARE),
        Claim("77", "∂(b ⊙_{j} X ⊙_{i} (X ⊙_{j} c))/∂X* = ((X ⊙_{j} c) ⊙ b + (X ⊙_{j} b) ⊙ c)^*", "X i j; b j; c j"),
        Claim("81", "∂(x ⊙_{i} B ⊙_{j} x_{i→j})/∂x* = (B ⊙_{j} x_{i→j})^* + [x ⊙_{i} B]_{j→i*}", "x i; B i j"),
        Claim(
            "82",
            "∂(b ⊙_{j} X ⊙_{i} D ⊙_{k} X_{i→k, j→l} ⊙_{l} c)/∂X* = b^* ⊙ [D ⊙_{k} X_{i→k, j→l} ⊙_{l} c]^*_{i*→i*} "
            "+ [b ⊙_{j} X ⊙_{i} D]_{k→i*} ⊙ c_{l→j*}",
            "X i j; D i k; b j; c l",
        ),
        Claim(
            "84",
            "u = x − c\n∂(u ⊙_{i} W ⊙_{j} u_{i→j})/∂x* = (W ⊙_{j} u_{i→j})^* + [u ⊙_{i} W]_{j→i*}",
            "x i; c i; W i j",
        ),
        Claim("85", "∂(norm_{i}(x − A ⊙_{j} s)^2)/∂s* = −2 (A ⊙_{i} (x − A ⊙_{j} s))^*", "x i; A i j; s j"),
        Claim("86", "∂(norm_{i}(x − s)^2)/∂x* = 2 (x − s)^*", "x i; s i"),
        Claim("88", "∂(norm_{i}(x − A ⊙_{j} s)^2)/∂A* = −2 ((x − A ⊙_{j} s) ⊙ s)^*", "x i; A i j; s j"),
        Claim("97", "∂(∂(x ⊙_{i} B ⊙_{j} x_{i→j})/∂x*)/∂x† = B_{i→i*, j→i†} + B_{i→i†, j→i*}", "x i; B i j"),
    ),
    "Traces": (
        Claim("99", "∂(trace_{i,j} X)/∂X* = I_{i*,j*}", SQUARE),
        Claim("100", "∂(∑_{i} X ⊙_{j} A)/∂X* = A^*", "X i j; A j i"),
        Claim("103", "∂(∑_{i,j} A ⊙ X)/∂X* = A^*", "X i j; A i j"),
        Claim("106", "∂(∑_{i} X ⊙_{j} X_{i→j, j→i})/∂X* = 2 X_{i→j*, j→i*}", SQUARE),
        Claim("107", "∂(∑_{i,k} (X ⊙_{j} B) ⊙ (X ⊙_{j} B))/∂X* = 2 ((X ⊙_{j} B) ⊙_{k} B)^*", "X i j; B j k"),
        Claim("115", "∂(∑_{i,j} X ⊙ X)/∂X* = 2 X^*", SQUARE),
    ),
    "Norms": (
        Claim("129", "∂(norm_{i}(x − a))/∂x* = ((x − a) / norm_{i}(x − a))^*", "x i; a i"),
        Claim("130", "u = x − a\n∂(u / norm_{i} u)/∂x* = I_{i,i*} / norm_{i} u − u ⊙ u^* / norm_{i}(u)^3", "x i; a i"),
        Claim("131", "∂(norm_{i}(x)^2)/∂x* = 2 x^*", VECTOR),
        Claim("132", "∂(norm_{i,j}(X)^2)/∂X* = 2 X^*", SQUARE),
    ),
}


class WithFact(NamedTuple):
    """A derivative of the cookbook, with its number, its assumption, the expression, the variable and the tensors."""

    number: str
    facts: str
    formula: str
    by: str
    shapes: str

    @property
    def text(self) -> str:
        return f"{self.facts}\n{self.formula}"


SYMMETRIC = "S = S_{i→j, j→i}"
WITH_FACTS = (
    WithFact("57", SYMMETRIC, "V = inv_{i,j} S\nL = logdet_{i,j} S", "S", "S i j"),
    WithFact("81", SYMMETRIC, "L = x ⊙_{i} S ⊙_{j} x_{i→j}", "x", "x i; S i j"),
    WithFact("84", SYMMETRIC, "r = x − A ⊙_{k} s\nL = r ⊙_{i} S ⊙_{j} r_{i→j}", "s", "x i; A i k; s k; S i j"),
    WithFact("86", SYMMETRIC, "r = x − A ⊙_{k} s\nL = r ⊙_{i} S ⊙_{j} r_{i→j}", "x", "x i; A i k; s k; S i j"),
    WithFact("88", SYMMETRIC, "r = x − A ⊙_{k} s\nL = r ⊙_{i} S ⊙_{j} r_{i→j}", "A", "x i; A i k; s k; S i j"),
    WithFact("129", "norm_{i} u = 1", "u = x − a\nL = u / norm_{i} u", "x", "x i; a i"),
    WithFact("§8.1", SYMMETRIC, "V = inv_{i,j} S\nr = x − m\nL = −r ⊙_{i} V ⊙_{j} r_{i→j} / 2", "m", "S i j; x i; m i"),
    WithFact("§9.5", "Q ⊙_{i} Q_{k→l} = I_{k,l}", "L = norm_{i}(y − Q ⊙_{k} w)^2", "w", "Q i k; y i; w k"),
    WithFact(
        "§9.4", "P = P_{i→j, j→i}\nP ⊙_{j} P_{i→j, j→k} = P_{j→k}", "L = norm_{i}(P ⊙_{j} y_{i→j})^2", "y", "P i j; y i"
    ),
)


def shapes_of(text: str) -> dict[str, Any]:
    """Return the shapes of an equation in the form that `prove` accepts."""
    parts = (part.split() for part in text.split(";"))
    return {name: f"ℝ^{{{' × '.join(axes)}}}" for name, *axes in parts}


def table(section: str) -> str:
    """Yield the equations of a section, each with its verdict."""
    from namedtensor import prove

    lines = []
    for claim in SECTIONS[section]:
        verdict = prove(claim.text, **shapes_of(claim.shapes)).status
        lines.append(f"({claim.number})  {claim.text.replace(chr(10), '; ')}    {verdict}")
    return "\n".join(lines)


def with_facts() -> str:
    """Yield the derivatives that an assumption shortens: the program, and the closed form with the steps that use it."""
    from namedtensor import derivative

    parts = []
    for row in WITH_FACTS:
        asked: Any = derivative(row.text, row.by)
        closed = asked.closed_form(**shapes_of(row.shapes))
        steps = [str(step) for step in closed.steps if step.since is not None]
        program = row.formula.replace(chr(10), "; ")
        parts.append(
            "\n".join([f"({row.number})  {program}, with respect to {row.by}", *(f"      {step}" for step in steps)])
        )
    return "\n".join(parts)
