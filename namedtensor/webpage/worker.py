"""Answers in a process of their own, which is ended where one takes too long, and may use so much memory.

It reads a request a line and writes its reply a line. Where it has ended, the next question has a new one.
"""

from __future__ import annotations

import json

from grammar.errors import NotationError

from ..core.processes import MAX_MEMORY_BYTES, AnsweringProcess, EndedError, LateError
from .replies import error_data

SECONDS = 10.0  # of one request


class Worker:
    """A process that answers requests, restarted after it ended."""

    def __init__(
        self,
        file: str | None = None,
        seconds: float = SECONDS,
        memory: int = MAX_MEMORY_BYTES,
        site: str | None = None,
    ):
        self.file, self.site, self.seconds = file, site, seconds
        self.process = AnsweringProcess(__name__, memory)
        self.process.start()

    def answer(self, request: bytes) -> bytes:
        """The reply to a request, one at a time; an error where it takes too long or too much."""
        line = json.dumps(
            {"file": self.file, "site": self.site, "request": request.decode("utf-8", "replace")}
        ).encode()
        try:
            return self.process.ask(line, self.seconds)
        except LateError:
            problem = NotationError(404, f"this takes more than {self.seconds:g} seconds", hint="make it smaller")
        except EndedError:
            problem = NotationError(
                404, "the process that computes this died, perhaps for want of memory", hint="make it smaller"
            )
        except OSError as error:
            problem = NotationError(405, f"no process can be started to compute this: {error.strerror or error}")
        return json.dumps({"ok": False, "error": error_data(problem)}, ensure_ascii=False).encode()

    def close(self) -> None:
        self.process.close()


def prepare() -> None:
    """Load what is needed."""
    from .answers import answer

    answer({"ask": "check", "text": "softmax_{a}(X ⊙_{b} Y)", "inputs": {"X": "ℝ^{b}", "Y": "ℝ^{a × b}"}})


def answer_line(line: bytes) -> bytes:
    """The reply to a line, in the process."""
    from .answers import answer

    given = json.loads(line)
    found = answer(given["request"])
    if "examples" in found:
        found |= {name: given[name] for name in ("file", "site") if given[name] is not None}
    return json.dumps(found, ensure_ascii=False).encode()
