"""Load definitions of operators by other operators, in the notation, from the file `prelude.nt`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

LINE = re.compile(r"((\w+?)(?:_\{[\w,]+\})?\([^)]*\)) = (.+)")


class OperatorDefinition(NamedTuple):
    """A line of the prelude: its left-hand side, such as softmax_{ax}(X), and its right-hand side."""

    head: str
    body: str

    @property
    def equation(self) -> str:
        """The definition as a line of the prelude."""
        return f"{self.head} = {self.body}"

    @property
    def has_axes(self) -> bool:
        """Whether the definition applies to calls with axes."""
        return "_{" in self.head


@cache
def load_definitions() -> Mapping[str, OperatorDefinition]:
    """Return the definitions in the prelude by operator name."""
    from importlib.resources import files

    text = files("namedtensor.operators").joinpath("prelude.nt").read_text(encoding="utf-8")
    return {name: OperatorDefinition(head, body) for head, name, body in LINE.findall(text)}


def equation_of(operator: str) -> str:
    """Return the prelude's line for an operator, or "" if there is none."""
    definition = load_definitions().get(operator)
    return definition.equation if definition is not None else ""
