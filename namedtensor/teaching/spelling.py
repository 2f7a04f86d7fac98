"""Conversion of formulas and programs, in text or LaTeX, to text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Value
from grammar.parser import parse
from grammar.printer import to_text
from grammar.traversal import children

from ..core.kinds import wrong


def text_of(formula: Any) -> str:
    """Return a formula, given as text, LaTeX or a formula object, in the text syntax."""
    source = formula if isinstance(formula, str) else getattr(formula, "source", None)
    if not isinstance(source, str):
        raise wrong(
            formula, "a formula", "a text, or a formula of nt.formula", 'write nt.equivalent("X + X", "2 X", X="ℝ^{a}")'
        )
    syntax = "auto" if isinstance(formula, str) else formula.syntax
    tree = parse(source, syntax)
    return source if syntax != "latex" and parse_as_text(source) == tree else to_text(tree)


SIZE = re.compile(r"\|\s*([^\W\d]\w*['′]*)\s*\|")  # a size such as |key|


def bracket_sizes(text: str) -> str:
    """Return a formula with parentheses around each size, so that the bars of a size do not pair with others."""
    return SIZE.sub(r"(|\1|)", text)


def parse_as_text(source: str) -> nodes.Program | None:
    try:
        return parse(source, "text")
    except NotationError:
        return None


def call_last_function(text: str, given: tuple[str, ...] = ()) -> str:
    """Return a program, with a call of its last function appended if it ends with a function definition.

    The arguments have the names of the parameters. If some parameters are not in `given`, but `given` contains as many
    names as there are parameters, the arguments are the names in `given`, in order.
    """
    tree = parse(text, "text")
    last = tree.statements[-1] if tree.statements else None
    if isinstance(last, Equation) and isinstance(last.sides[0], nodes.Call):
        head = last.sides[0]
        plain = (*head.arguments, *head.parameters)
        if plain and head.operator.replace("_", "").isalnum() and all(isinstance(node, nodes.Name) for node in plain):
            names = tuple(map(to_text, plain))
            if len(names) == len(given) and not set(names) <= set(given):
                values = [nodes.Name(name) for name in given]
                count = len(head.arguments)
                head = replace(head, arguments=tuple(values[:count]), parameters=tuple(values[count:]))
            return f"{text}\n{to_text(head)}"
    return text


def head_text(head: Any) -> str:
    """Return a left-hand side as text. For a function, return only its name."""
    return head.operator if isinstance(head, nodes.Call) and head.operator != "juxtaposed" else to_text(head)


PIECE = nodes.Name("piece")  # replaces the hole of a formula


def is_whole_formula(hole: str, text: str) -> bool:
    """Return whether a text is the whole formula of a fill-in exercise, rather than the part for the question mark."""
    try:
        trees = [parse(side, "text").statements[-1] for side in (hole.replace("?", f"({PIECE.text})"), text)]
    except NotationError:  # grading reports the error
        return False
    whole, given = (tree.sides[-1] if isinstance(tree, Equation) else getattr(tree, "body", tree) for tree in trees)
    return hole.count("?") == 1 and hole.strip() != "?" and _matches(whole, given)


def _matches(pattern: Any, node: Any) -> bool:
    """Return whether a tree equals a pattern, in which `PIECE` matches any expression.

    The product operators `⊙` and `·` and juxtaposition match each other.
    """
    if pattern == PIECE:
        return True
    if isinstance(pattern, nodes.Call) and isinstance(node, nodes.Call):
        if pattern.operator != node.operator and not {pattern.operator, node.operator} <= {"⊙", "juxtaposed", "·"}:
            return False
    elif type(pattern) is not type(node):
        return False
    parts = children(pattern), children(node)
    return pattern == node if not any(parts) else len(parts[0]) == len(parts[1]) and all(map(_matches, *parts))


def expression(text: str) -> str:
    """Return the expression in an answer, which may be written as "answer = …".

    Raise NotationError if the answer is not one expression or equation.
    """
    statements = parse(text, "text").statements
    last = statements[-1] if len(statements) == 1 else None
    if isinstance(last, Value):
        return to_text(last.body)
    if isinstance(last, Equation):
        return to_text(last.sides[-1])
    raise NotationError(105, "expected one expression", text, (0, len(text)))
