"""The readers, by the notation that they read."""

from __future__ import annotations

from typing import Any

from .algebra import Algebra

READERS: dict[str, Any] = {"matrices": Algebra, "indices": Algebra}
