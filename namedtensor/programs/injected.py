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

# the closed form of the derivatives in a program
closed_form: Injected[[Any, Shapes, Sizes], Any] = Injected()
# the gradient function of a name in a program
gradient: Injected[..., Any] = Injected()
# an error whose hint is a translation of the source text from positional notation
with_translation: Injected[[NotationError, str, Shapes], NotationError] = Injected()
# the outcomes of a source text's assertions on random tensors
claims: Injected[[str, Program, Shapes, Sizes], tuple[Any, ...]] = Injected()
