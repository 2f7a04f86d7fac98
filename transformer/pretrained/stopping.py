"""The end of text generation: when a sequence ends, and how it is padded afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, cast

import namedtensor as nt

from .arrays import largest, tensor_like

ENDS = nt.program("""
    token = { padding if ended = 1; next otherwise }
    over = max_{stops}({ 1 if ended = 1 ∨ next = stops; 0 otherwise })
    stops ∈ ℝ^{stops}
    next, ended ∈ ℝ
""")
Decode = Callable[[list[int]], str]


class Stopping:
    """The state of generation: which sequences have ended, either at a stop token or with a stop string in new text."""

    def __init__(
        self,
        config: dict[str, Any],
        stop: int | Sequence[int] | None,
        ids: nt.NamedTensor,
        strings: Sequence[str] = (),
        decode: Decode | None = None,
    ):
        stop = config.get("eos_token_id") if stop is None else stop
        stops = [stop] if isinstance(stop, int) else list(stop or ())
        padding = config.get("pad_token_id")
        if padding is None:
            padding = stops[0] if stops else 0
        self.stops = tensor_like(ids, stops or [-1] if strings else stops, "stops") if stops or strings else None
        self.padding, self.strings, self.decode = padding, strings, decode
        self.ended: Any = tensor_like(ids, 0)
        self.ids = ids
        self.texts: defaultdict[int, list[int]] = defaultdict(list)  # the new tokens of each sequence
        self.all = False

    def __call__(self, token: nt.NamedTensor) -> nt.NamedTensor:
        """Return the next tokens, with padding in ended sequences. Record which sequences end with these tokens."""
        if self.stops is None:
            return token
        inputs: dict[str, Any] = {"next": token, "ended": self.ended, "stops": self.stops, "padding": self.padding}
        token, self.ended = ENDS["token", "over"](**inputs)
        if self.strings:
            self.ended = self.with_strings(token)
        self.all = largest(0 - self.ended) == -1
        return token

    def with_strings(self, token: nt.NamedTensor) -> nt.NamedTensor:
        """Return whether each sequence has ended, including sequences whose text now contains a stop string."""
        places = count()

        def noted(number: Any, ended: Any) -> Any:
            if isinstance(number, list):
                return [noted(*pair) for pair in zip(cast(list[Any], number), ended)]
            text = self.texts[next(places)]
            if not ended:
                text.append(int(number))
            return int(bool(ended) or any(string in self.decode(text) for string in self.strings))  # pyright: ignore[reportOptionalCall]

        ended = self.ended if self.ended.axes else self.ended + 0 * token  # of each sequence, from the first token on
        order = " ".join(token.axes)
        return tensor_like(self.ids, noted(token.tolist(order), ended.tolist(order)), *token.axes)


def stop_strings(strings: str | Sequence[str] | None, decode: Decode | None) -> tuple[str, ...]:
    """Return the stop strings. Raise NotationError if one is empty, or if no function to decode tokens is given."""
    listed = (strings,) if isinstance(strings, str) else tuple(strings or ())
    if any(not isinstance(string, str) or not string for string in listed):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise nt.NotationError(405, f"stop_strings must be texts of at least one character, got {strings!r}")
    if listed and not callable(decode):
        raise nt.NotationError(
            304, "stop_strings need decode=, which makes a text of tokens", hint="pass decode=tokenizer.decode"
        )
    return listed
