"""One side of a work in a process of its own: it prepares, says so, and then takes its turns.

Libraries disturb each other's threads and memory, so each has a process; turns come as lines of standard input, and
times go back as lines of JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .peers import missing
from .work import LeftOut, Ready, Side, Times, Work, arrays_of

TURN = 0.015  # seconds that a turn lasts at least, in chunks
CHUNK = 0.0005  # seconds that a chunk lasts at least, by repeating the call
FEWEST = 3  # chunks of a turn, of calls that are not long
LONG = 0.3  # seconds of a call that is
WARMING = 0.05
WATCHED = 0.3  # seconds in which threads show whether they work
STATUS = Path("/proc/self/status")
FORGET = Path("/proc/self/clear_refs")


# ------------------------------------------------------------------------------------------------------------ memory
def resident(what: str) -> int:
    """Bytes of memory in use now (VmRSS), or at most since `forget_peak` (VmHWM)."""
    match = re.search(rf"{what}:\s+(\d+) kB", STATUS.read_text())
    return int(match[1]) * 1024 if match else 0


def peak_of(call: Callable[[], Any]) -> tuple[Any, int | None]:
    """A call's value, and the most memory that was in use meanwhile over what was in use before; None if nobody tells."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what is free already is no part of it
        FORGET.write_text("5")  # Linux: the highest use is counted from here
        before = resident("VmRSS")
    except (OSError, AttributeError, TypeError):
        return call(), None
    value = call()
    return value, max(0, resident("VmHWM") - before)


# ----------------------------------------------------------------------------------------------------------- threads
def busy() -> dict[int, int]:
    """The ticks (a hundredth of a second) that each thread of the process has run; empty where nobody tells."""
    result = {}
    for path in Path("/proc/self/task").glob("*/stat"):
        try:
            user, system = path.read_text().rpartition(")")[2].split()[11:13]
            result[int(path.parent.name)] = int(user) + int(system)
        except OSError:  # it has ended
            continue
    return result


def place_threads(call: Callable[[], Any]) -> None:
    """Give each thread that works in a call its own core: woken together on one core, they would wait for each other.

    A pool of one thread less than there are cores works beside the main thread, which has the first core. Threads that
    come and go with the call are left alone, and the main thread with them, since they would share its core; so are those
    of two pools that take turns.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    before = busy()
    end = time.perf_counter() + WATCHED
    while time.perf_counter() < end:
        call()
    after = busy()
    if len(cores) < 2 or before.keys() != after.keys():
        return
    main = os.getpid()
    spent = {thread: after[thread] - before[thread] for thread in sorted(after)}
    least = 0.1 * max(spent.values())
    working = [thread for thread in spent if thread != main and spent[thread] > least]
    if not 0 < len(working) < len(cores):
        return
    for number, thread in enumerate(working):
        os.sched_setaffinity(thread, {cores[(number - len(working)) % len(cores)]})
    os.sched_setaffinity(main, {cores[0]})


# ------------------------------------------------------------------------------------------------------------- turns
def prepared(work: Work, side: Side) -> Ready:
    """The side, warm from the small size, ready for the full one."""
    if reason := missing(side.needs):
        raise LeftOut(reason)
    small = side.make(**work.inputs(**work.small))
    small.answer(small.call())
    return side.make(**work.inputs(**work.sizes))


def first(work: Work, side: Side, path: Path) -> tuple[Ready, dict[str, Any]]:
    """Prepare the side, call it, and find how often to call it in a turn; its answer goes to a file."""
    ready = prepared(work, side)
    value, peak = peak_of(ready.call)
    answer = arrays_of(ready.answer(value))
    del value
    np.savez(path, *answer)
    if peak is not None:
        peak = max(0, peak - sum(array.nbytes for array in answer))
    place_threads(ready.call)
    return ready, repeated(ready.call) | {"memory": peak}


def turn(call: Callable[[], Any], repeat: int, chunks: int = 1) -> Times:
    """The times of one call: of several chunks of `repeat` calls the fastest, which nobody else's work broke into.

    Before come some that are not counted: after others' turns, caches are cold and threads asleep.
    """
    warm = time.perf_counter() + WARMING
    while chunks > 1 and time.perf_counter() < warm:
        call()
    return min(mean(call, repeat) for _ in range(chunks))


def mean(call: Callable[[], Any], repeat: int) -> Times:
    processor, start = time.process_time(), time.perf_counter()
    for _ in range(repeat):
        call()
    end = time.perf_counter()
    return Times((end - start) / repeat, (time.process_time() - processor) / repeat)


def repeated(call: Callable[[], Any]) -> dict[str, Any]:
    """How many calls make a chunk, how many chunks a turn, and the seconds that one call takes."""
    repeat = 1
    while (seconds := turn(call, repeat, 3).seconds) * repeat < CHUNK / 2:
        repeat = max(repeat + 1, min(8 * repeat, round(CHUNK / seconds)))
    fewest = 1 if seconds > LONG else FEWEST
    return {"repeat": repeat, "chunks": max(fewest, min(20, round(TURN / (seconds * repeat)))), "seconds": seconds}


def main() -> None:
    name, side_name, path = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer

    def say(**what: Any) -> None:
        print(json.dumps(what, ensure_ascii=False), file=out, flush=True)

    from .works import WORKS

    try:
        ready, result = first(WORKS[name], WORKS[name].side(side_name), Path(path))
    except LeftOut as reason:
        return say(left_out=str(reason))
    except Exception as problem:
        traceback.print_exc()
        message = str(problem).strip().splitlines()
        return say(failed=f"{type(problem).__name__}: {message[0] if message else ''}")
    say(**result)
    for line in sys.stdin:
        say(**turn(ready.call, *map(int, line.split()))._asdict())


if __name__ == "__main__":
    main()
