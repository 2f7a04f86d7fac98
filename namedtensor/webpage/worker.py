"""Worker processes that answer requests within time and memory limits.

A process reads one request per line and writes one reply per line. A process that has ended is replaced by a new
process.
"""

from __future__ import annotations

import json
import queue
import threading
from contextlib import suppress

from grammar.errors import NotationError

from ..core.processes import MAX_MEMORY_BYTES, AnsweringProcess
from .replies import error_data

SECONDS = 10.0  # of one request


MAX_PROCESSES = 3  # simultaneous processes; each has a separate memory limit
SPARE_SECONDS = 0.1  # If a request takes longer, an additional process is started for the next request.


class Worker:
    """A pool of processes that answer requests. If a process has ended, it is restarted."""

    def __init__(
        self,
        file: str | None = None,
        seconds: float = SECONDS,
        memory: int = MAX_MEMORY_BYTES,
        site: str | None = None,
    ):
        self.file, self.site, self.seconds, self.memory = file, site, seconds, memory
        self.lock = threading.Lock()
        self.free: queue.LifoQueue[AnsweringProcess] = queue.LifoQueue()  # the last one has the fullest caches
        self.processes: list[AnsweringProcess] = []
        self.is_closed = False
        self._add()

    def _add(self) -> None:
        """Start an additional process without waiting for it to be ready.

        Do nothing if the maximum number of processes is running.
        """
        process = AnsweringProcess(__name__, self.memory)
        with self.lock:
            if self.is_closed or len(self.processes) >= MAX_PROCESSES:
                return
            with suppress(OSError):  # The request that uses the process reports the error.
                process.begin()
            self.processes.append(process)
        self.free.put(process)

    def _add_spare(self) -> None:
        """Start an additional process if all processes are busy."""
        if self.free.empty():
            self._add()

    def answer(self, request: bytes) -> bytes:
        """Return the reply to a request, or an error if the reply takes too long or uses too much memory."""
        line = json.dumps(
            {"file": self.file, "site": self.site, "request": request.decode("utf-8", "replace")}
        ).encode()
        process = self.free.get()
        spare = threading.Timer(SPARE_SECONDS, self._add_spare)
        spare.daemon = True
        spare.start()
        try:
            return self._asked(process, line)
        finally:
            spare.cancel()
            self.free.put(process)

    def _asked(self, process: AnsweringProcess, line: bytes) -> bytes:
        try:
            return process.ask_bounded(line, self.seconds)
        except NotationError as error:
            problem = error
        self._restart(process)
        return json.dumps({"ok": False, "error": error_data(problem)}, ensure_ascii=False).encode()

    def _restart(self, process: AnsweringProcess) -> None:
        """Restart a process that has ended, so that the next request does not have to wait."""
        with self.lock, suppress(OSError):
            if not self.is_closed:
                process.begin()

    def close(self) -> None:
        with self.lock:
            self.is_closed = True
            for process in self.processes:
                process.close()


def prepare() -> None:
    """Load the modules that are needed to answer requests."""
    from .answers import answer

    answer({"ask": "check", "text": "softmax_{a}(X ⊙_{b} Y)", "inputs": {"X": "ℝ^{b}", "Y": "ℝ^{a × b}"}})


def answer_line(line: bytes) -> bytes:
    """Return the worker process's reply to a line that contains a request.

    A reply to `examples` also contains the initial file and the site of the page, if they are given.
    """
    from .answers import answer

    data = json.loads(line)
    result = answer(data["request"])
    if "examples" in result:
        result |= {name: data[name] for name in ("file", "site") if data[name] is not None}
    return json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")  # A lone surrogate is not a character.
