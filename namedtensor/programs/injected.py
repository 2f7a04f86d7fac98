"""Functions of higher-level packages that programs call. `namedtensor` specifies the module of each function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..core.hooks import Injected

if TYPE_CHECKING:
    from grammar.nodes import Program

Shapes = Mapping[str, Any]
Sizes = Mapping[str, int] | None

closed_form: Injected[[Any, Shapes, Sizes], Any] = Injected()  # of a program
gradient: Injected[..., Any] = Injected()  # of a name of a program
with_translation: Injected[[NotationError, str, Shapes], NotationError] = Injected()  # an error, that as its hint
claims: Injected[[str, Program, Shapes, Sizes], tuple[Any, ...]] = Injected()  # of a text, tried on random tensors
