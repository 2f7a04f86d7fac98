"""Hooks: what a room above does when something of a room below, or of another library, is first there.

So nothing below imports what lies above: JAX is told of named tensors when the first of its arrays is met, and the class
NamedTensor is given its methods when it is first imported.
"""

from collections.abc import Callable
from typing import Any

_SEEN: set[str] = set()
_WAITING: dict[str, list[Callable[[], object]]] = {}
_ANSWERS: dict[str, Callable[[], Callable[..., Any]]] = {}


def when_first_seen(name: str, run: Callable[[], object]) -> None:
    """Run a function when what is called so is first seen; at once where it was.

    >>> when_first_seen("an example", lambda: print("here it is"))
    >>> seen("an example")
    here it is
    """
    if name in _SEEN:
        run()
    else:
        _WAITING.setdefault(name, []).append(run)


def seen(name: str) -> None:
    """Say that something is there, so that what waits for it is run."""
    _SEEN.add(name)
    for run in _WAITING.pop(name, ()):
        run()


def answer(question: str, find: Callable[[], Callable[..., Any]]) -> None:
    """Say where the function lies that answers a question which a room below is asked; it is found when first asked.

    >>> answer("how large", lambda: len)
    >>> answered("how large", "abc")
    3
    """
    _ANSWERS[question] = find


def answered(question: str, *arguments: Any, **named: Any) -> Any:
    """What the room above says."""
    return _ANSWERS[question]()(*arguments, **named)
