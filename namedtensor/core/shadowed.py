"""A file of one's own that hides a package of this project, told in one sentence."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]


def hiding(package: str) -> str | None:
    """The file that Python finds for `package` in place of this project's, or None.

    >>> hiding("grammar") is None
    True
    """
    module = sys.modules.get(package)
    try:
        found = module.__file__ if module is not None else getattr(find_spec(package), "origin", None)
    except (AttributeError, ValueError):
        return None
    return found if found and Path(found).resolve().parent != HOME / package else None


def sentence(package: str) -> str | None:
    """What to do about the file that hides `package`; None where nothing does."""
    file = hiding(package)
    return file and f"{file} hides the package {package} that comes with namedtensor: give that file another name"


def warn_if_hidden(package: str) -> None:
    text = sentence(package)
    if text is not None:
        warnings.warn(text, stacklevel=3)
