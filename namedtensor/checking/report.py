"""What `check` gives: the type of everything, every error, and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grammar.errors import NotationError, excerpt

from ..core.suggestions import Suggests


class InputType(NamedTuple):
    """What is known of a tensor that is given: its shape, and its value where it is a whole Python number."""

    shape: Mapping[str, Any]
    number: int | None = None
    boolean: bool = False


class CheckWarning(NamedTuple):
    """A place that is right by the rules and may be a slip."""

    message: str
    span: tuple[int, int]
    hint: str


class AlreadyReported(Exception):
    """A part has an error that is reported already; what contains it has no type."""


def _shown(shape: Mapping[str, Any]) -> str:
    from .diagnostics import shown

    return shown(shape)


@dataclass(frozen=True)
class CheckResult(Suggests):
    """`types` are the shapes of names; `steps` pairs each sub-expression with its type, in order of evaluation.

    `type` is that of the whole, as text; `shape` as a mapping; None where an error hides it.
    """

    source: str
    shape: Mapping[str, Any] | None
    shapes: Mapping[str, Mapping[str, Any]]
    steps: tuple[tuple[str, str], ...]
    errors: tuple[NotationError, ...]
    warnings: tuple[Any, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def type(self) -> str | None:
        """The type of the whole, as text; None where an error hides it."""
        return None if self.shape is None else _shown(self.shape)

    @property
    def types(self) -> dict[str, str]:
        """The type of each name, as text."""
        return {name: _shown(shape) for name, shape in self.shapes.items()}

    def raise_first(self) -> None:
        """Raise the first error, if there is one."""
        if self.errors:
            raise self.errors[0]

    def __str__(self) -> str:
        lines = []
        if self.types:
            width = max(map(len, self.types))
            lines += [f"{name:<{width}} : {text}" for name, text in self.types.items()]
        if self.type is not None:
            lines.append(f"value : {self.type}" if self.types else self.type)
        for error in self.errors:
            lines += ["", str(error)]
        for warning in self.warnings:
            lines += ["", f"warning: {warning.message}", *excerpt(self.source, ((warning.span, ""),))]
            lines.append(f"  hint: {warning.hint}")
        return "\n".join(lines).lstrip("\n")

    __repr__ = __str__
