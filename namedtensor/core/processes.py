"""Run a separate Python process that answers requests line by line and ends when its parent ends.

The parent can terminate the process at any time. The process has the module search path of its parent without the working
directory, and imports the same copy of this package. If the system supports it, the process has a memory limit.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from grammar.errors import NotationError

MAX_START_SECONDS = 60.0
MAX_CHUNK_BYTES = 2**16
MAX_MEMORY_BYTES = 4 * 2**30
ROOT = str(Path(__file__).resolve().parents[2])
START = """
import importlib, json, sys
module, memory, paths = sys.argv[1:]
sys.path[:] = json.loads(paths)
processes = importlib.import_module("namedtensor.core.processes")
processes.serve(importlib.import_module(module), int(memory))
"""


class EndedError(Exception):
    """Raised if the process ended before it answered."""


class LateError(Exception):
    """Raised if the answer took too long. The process has then been terminated."""


class AnsweringProcess:
    """A process that answers each line with a module's function `answer_line`.

    The process starts on first use. If it has ended, the next use restarts it. If the module defines `prepare`, the
    process calls it once before the first line.

    The methods raise OSError if the platform does not support processes.
    """

    def __init__(self, module: str, memory: int = MAX_MEMORY_BYTES):
        self.module, self.memory = module, memory
        self.lock = threading.RLock()
        self.process: subprocess.Popen[bytes] | None = None
        self.is_ready = False

    def begin(self) -> None:
        """Start the process unless it is running, so that the first answer is faster. May raise OSError."""
        with self.lock:
            if not self.is_running:
                self.close()
                self._start()

    def _start(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("this Python cannot start another")
        flags = ["-I", *["-B"] * sys.flags.dont_write_bytecode, *["-X", "utf8"][: 2 * sys.flags.utf8_mode]]
        command = [sys.executable, *flags, "-c", START, self.module, str(self.memory), json.dumps(module_paths())]
        self.process = subprocess.Popen(  # Without buffers, because a fork may inherit their locks in the locked state.
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
        )  # fmt: skip
        self.is_ready = False
        self.end = weakref.finalize(self, end_process, self.process)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Return the process's answer to a line. Raise EndedError, LateError or OSError if there is no answer.

        If several threads call this method, their calls run one at a time.
        """
        with self.lock:
            try:
                self.begin()
                if not self.is_ready:
                    self._next(MAX_START_SECONDS)
                    self.is_ready = True
                self._send(line + b"\n")
                return self._next(seconds)
            except BaseException:  # The next caller must not receive this answer.
                self.close()
                raise

    def ask_bounded(self, line: bytes, seconds: float) -> bytes:
        """Return the process's answer to a line.

        Raise NotationError if the process exceeds the time or memory limit, or if no process starts.
        """
        try:
            return self.ask(line, seconds)
        except LateError:
            problem = NotationError(404, f"this takes more than {seconds:g} seconds", hint="make it smaller")
        except EndedError:
            problem = NotationError(
                404, "the process that computes this died, perhaps for want of memory", hint="make it smaller"
            )
        except OSError as error:
            problem = NotationError(405, f"no process can be started to compute this: {error.strerror or error}")
        raise problem

    @property
    def is_running(self) -> bool:
        """Whether a process that the current process started is still running."""
        return self.process is not None and self.process.poll() is None

    def _send(self, data: bytes) -> None:
        assert self.process is not None and self.process.stdin is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self.process.stdin.write(rest) :]
        except OSError as problem:
            raise EndedError from problem

    def _next(self, seconds: float) -> bytes:
        """Return the next line that the process writes. Kill the process if the line is late."""
        assert self.process is not None and self.process.stdout is not None
        end, answer, output = monotonic() + seconds, bytearray(), self.process.stdout
        timer = threading.Timer(seconds, self.process.kill)
        timer.daemon = True
        timer.start()
        try:
            while not answer.endswith(b"\n"):
                part = output.read(MAX_CHUNK_BYTES)
                if not part:
                    raise LateError if monotonic() >= end else EndedError
                answer += part
        except (OSError, ValueError) as problem:  # Another thread closes the process.
            raise EndedError from problem
        finally:
            timer.cancel()
        return bytes(answer[:-1])

    def close(self) -> None:
        """Terminate the process. The next request starts a new process."""
        if self.process is not None:
            self.end()
            self.process = None


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process and close its streams. After a fork, the child only closes its copies of the streams."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def module_paths() -> list[str]:
    """Return the current search path for modules, without the working directory but with the folder of this package."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # The working directory no longer exists.
        here = ""
    paths = [path for path in sys.path if path and os.path.realpath(path) != here]
    if ROOT not in map(os.path.realpath, paths):
        packages = [number for number, path in enumerate(paths) if path.endswith("-packages")]
        paths.insert(min(packages, default=len(paths)), ROOT)
    return paths


# ------------------------------------------------------------------------------------------------------- in the process
def serve(module: Any, memory: int) -> None:
    """Answer the client's requests with a module's function `answer_line` until the client ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Printed text must not be mistaken for an answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent process ends this process.
    answer_line: Callable[[bytes], bytes] = module.answer_line
    getattr(module, "prepare", int)()
    limit_memory(memory)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=read_lines, args=(lines,), daemon=True).start()
    data = b"ready"
    while True:
        out.write(data + b"\n")
        out.flush()
        data = answer_line(lines.get().rstrip(b"\n"))


def read_lines(lines: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)


def limit_memory(most: int) -> None:
    """Limit the memory of the current process if the system supports it. The limit 0 means unlimited."""
    if not most:
        return
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    except (ImportError, AttributeError, ValueError, OSError):
        return
