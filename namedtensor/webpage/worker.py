"""Answers in a process of their own, which the server ends where one takes too long.

It reads a request a line and writes its reply a line.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from typing import IO

from grammar.errors import NotationError

from .replies import error_data

SECONDS = 10.0  # of one request


class Worker:
    """A process that answers, started anew after one that had to be ended."""

    def __init__(self, file: str | None = None, seconds: float = SECONDS):
        self.file, self.seconds = file, seconds
        self.lock = threading.Lock()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.replies: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=_read, args=(self.process.stdout, self.replies), daemon=True).start()

    def answer(self, request: bytes) -> bytes:
        """The reply to a request, one at a time; an error where it takes too long."""
        with self.lock:
            try:
                line = json.dumps({"file": self.file, "request": request.decode("utf-8", "replace")}).encode() + b"\n"
                assert self.process.stdin is not None
                self.process.stdin.write(line)
                self.process.stdin.flush()
                found = self.replies.get(timeout=self.seconds)
            except (queue.Empty, OSError):
                found = b""
            if not found:  # it took too long, or ended
                self.close()
                self.start()
                problem = NotationError(404, f"this takes more than {self.seconds:g} seconds", hint="make it smaller")
                return json.dumps({"ok": False, "error": error_data(problem)}, ensure_ascii=False).encode()
            return found

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


def _read(stream: IO[bytes] | None, replies: queue.Queue[bytes]) -> None:
    try:
        for line in stream or ():
            replies.put(line)
    except ValueError:  # closed
        pass
    replies.put(b"")


def main() -> None:
    """Answer until there is nothing to read."""
    import signal

    from .answers import answer

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    answer(
        {"ask": "check", "text": "softmax_{a}(X ⊙_{b} Y)", "inputs": {"X": "ℝ^{b}", "Y": "ℝ^{a × b}"}}
    )  # loads what is needed
    for line in sys.stdin.buffer:
        given = json.loads(line)
        found = answer(given["request"])
        if given["file"] is not None and "examples" in found:
            found["file"] = given["file"]
        sys.stdout.buffer.write(json.dumps(found, ensure_ascii=False).encode() + b"\n")
        sys.stdout.buffer.flush()
