"""Run a separate Python process that answers requests line by line and ends when its parent ends.

The parent can terminate the process at any time. The command `python -P` starts it, so that it does not import modules
from the working directory. It imports the same copy of this package as its parent. If the system supports it, the
process has a memory limit.
"""

from __future__ import annotations

import io
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
from typing import IO, Any

from grammar.errors import NotationError

MAX_START_SECONDS = 60.0
MAX_CHUNK_BYTES = 2**16
MAX_MEMORY_BYTES = 4 * 2**30
ROOT = str(Path(__file__).resolve().parents[2])
START = """
import importlib, importlib.util, json, os, sys
module, root, memory, more = sys.argv[1:]
spec = importlib.util.find_spec("namedtensor")
if spec is None or os.path.dirname(os.path.dirname(os.path.realpath(spec.origin))) != root:
    packages = [number for number, path in enumerate(sys.path) if path.endswith("-packages")]
    sys.path.insert(min(packages, default=len(sys.path)), root)
sys.path += [path for path in json.loads(more) if path not in sys.path]
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
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0  # The id of the process that started this one. A forked child is not the owner.
        self.is_ready = False

    def begin(self) -> None:
        """Start the process unless it is running, so that the first answer is faster. May raise OSError."""
        with self.lock:
            self._begin()

    def _begin(self) -> None:
        if not self.is_running:
            self.close()
            self.start()

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Return the process's answer to a line. Raise EndedError, LateError or OSError if there is no answer.

        If several threads call this method, their calls run one at a time.
        """
        with self.lock:
            try:
                self._begin()
                if not self.is_ready:
                    self._next(MAX_START_SECONDS)
                    self.is_ready = True
                return self._answer(line, seconds)
            except BaseException:  # The next caller must not receive this answer.
                self.close()
                raise

    def ask_bounded(self, line: bytes, seconds: float) -> bytes:
        """Return the answer to a line.

        Raise NotationError if the answer exceeds the time or memory limit, or if no process starts.
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
        return self.process is not None and self.owner == os.getpid() and self.process.poll() is None

    def start(self) -> None:
        """Start the process without waiting for it."""
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("this Python cannot start another")
        command = [sys.executable, *flags(), "-c", START, self.module, ROOT, str(self.memory), json.dumps(more_paths())]
        process = subprocess.Popen(  # Without buffers, because a fork may inherit their locks in the locked state.
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        )
        self.process, self.owner = process, os.getpid()
        self.end = weakref.finalize(self, end_process, process, self.owner)
        self.answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.is_ready = False
        threading.Thread(target=read, args=(process.stdout, self.answers), daemon=True).start()

    def _answer(self, line: bytes, seconds: float) -> bytes:
        assert self.process is not None and self.process.stdin is not None
        try:
            rest = memoryview(line + b"\n")
            while rest:
                rest = rest[self.process.stdin.write(rest) :]
        except OSError as problem:
            raise EndedError from problem
        return self._next(seconds)

    def _next(self, seconds: float) -> bytes:
        try:
            answer = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise LateError from None
        if not answer:
            raise EndedError
        return answer

    def close(self) -> None:
        """Terminate the process. The next request starts a new process."""
        if self.process is not None:
            self.end()
            self.process = None


def end_process(process: subprocess.Popen[bytes], owner: int) -> None:
    """Terminate a process, unless a fork inherited it from another owner. Close its streams."""
    mine = owner == os.getpid()
    if mine:
        process.kill()
        process.wait()
    for stream in (process.stdin, None if mine else process.stdout):  # `read` closes the output stream.
        if stream is not None:
            stream.close()


def read(stream: IO[bytes] | None, answers: queue.SimpleQueue[bytes]) -> None:
    """Put the answers of the process into a queue. An empty answer means that the process has ended."""
    parts: list[bytes] = []
    with stream or io.BytesIO() as output:
        while chunk := output.read(MAX_CHUNK_BYTES):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                answers.put(b"".join([*parts, line]))
                parts = []
            parts.append(rest)
    answers.put(b"")


def flags() -> list[str]:
    """Return the flags for a new Python with the same options and module path, without the working directory."""
    known = (("isolated", "-I"), ("ignore_environment", "-E"), ("no_user_site", "-s"), ("dont_write_bytecode", "-B"))
    return [
        "-P",
        *(flag for name, flag in known if getattr(sys.flags, name)),
        *["-X", "utf8"][: 2 * sys.flags.utf8_mode],
    ]


def environment() -> dict[str, str]:
    """Return the current environment, with one BLAS thread by default and without empty module paths."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def more_paths() -> list[str]:
    """Return the module search path of the current process, without the working directory."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # The working directory no longer exists.
        here = ""
    return [path for path in sys.path if path and os.path.realpath(path) != here]


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
