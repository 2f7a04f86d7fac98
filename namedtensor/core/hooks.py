"""Hooks: callbacks that run when a library or a class is first seen, and answers that a higher room registers.

So nothing below imports what lies above: JAX is told of named tensors when the first of its arrays is met, and the class
NamedTensor is given its methods when it is first imported.
"""

from collections.abc import Callable
from typing import Any

from grammar.locks import LOADING, all_or_none

_SEEN: set[str] = set()
_CALLBACKS: dict[str, list[Callable[[], object]]] = {}
_ANSWERS: dict[str, Callable[[], Callable[..., Any]]] = {}


def when_first_seen(name: str, run: Callable[[], object]) -> None:
    """Register a callback for the first time something of this name is seen; run it at once where it was.

    >>> when_first_seen("an example", lambda: print("here it is"))
    >>> seen("an example")
    here it is
    """
    _CALLBACKS.setdefault(name, []).append(run)
    if name in _SEEN:
        run()


def seen(name: str) -> None:
    """Run the callbacks of this name.

    They run again where it is seen again: one may have been interrupted, and of two threads that see a name at the same time
    neither goes on before all have run. So a callback does nothing where it was done.
    """
    _SEEN.add(name)
    for run in [*_CALLBACKS.get(name, ())]:
        run()


def answer(question: str, find: Callable[[], Callable[..., Any]]) -> None:
    """Register the function that answers a question of a lower room, by its module; it is imported when first asked.

    >>> answer("how large", lambda: len)
    >>> answered("how large", "abc")
    3
    """
    _ANSWERS[question] = find


def answered(question: str, *arguments: Any, **named: Any) -> Any:
    """The answer of the room that registered for the question."""
    with LOADING, all_or_none():
        function = _ANSWERS[question]()
    return function(*arguments, **named)
