"""First calls, in processes of their own: `python tests/first_calls.py threads numpy 8` and so on, from the folder of the repository.

    threads LIBRARY COUNT        forked processes in which eight threads evaluate their first formula at the same time
    interrupts CASE COUNT        forked processes that are interrupted at one line each of their first call, and call again
    forks COUNT                  processes that are forked while other threads evaluate new formulas

The process that is forked has imported the package and evaluated nothing, so that each child is a fresh one and costs little.
It ends with 1, and says why, where one child fails or does not end. COUNT is a number, or `all`: of lines, each.
"""

import json
import os
import random
import signal
import sys
import threading
import time
import traceback
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("grammar", "namedtensor", "transformer"))
GENERATED = ("<formula>", "<repeated>", "<numpy ", "<torch ", "<jax ", "<standard ")
SECONDS = 120  # after which a child hangs
THREADS = 8


# ------------------------------------------------------------------------------------------------------------- children
def fork():
    """A child that writes its answer to a pipe: its number, 0 within it, and its own end of the pipe."""
    read, write = os.pipe()
    child = os.fork()
    os.close(write if child else read)
    return child, read if child else write


def answer(write, work):
    """End a child with what `work` gives, or with a text that says what went wrong there."""
    try:
        result = {"value": work()}
    except BaseException:
        result = {"problem": traceback.format_exc()}
    with open(write, "w", encoding="utf-8") as file:
        json.dump(result, file)
    os._exit(0)


def answer_of(child, read):
    """What a child gives; a problem where it does not end."""
    timer = threading.Timer(SECONDS, os.kill, (child, signal.SIGKILL))
    timer.start()
    with open(read, encoding="utf-8") as file:
        text = file.read()
    timer.cancel()
    timer.join()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"problem": f"it has not ended after {SECONDS} seconds, or crashed"}


def forked(work):
    """What `work` gives in a child."""
    child, pipe = fork()
    if not child:
        answer(pipe, work)
    return answer_of(child, pipe)


def in_threads(count, work):
    """What `work` gives in each of several threads that begin together. Raises what one of them raises."""
    barrier, result, problems = threading.Barrier(count), [None] * count, []

    def run(path):
        try:
            barrier.wait()
            result[path] = work(path)
        except BaseException:
            problems.append(traceback.format_exc())

    threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS / 2)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    assert not problems, problems[0]
    return result


def ones(library, *shape):
    """An array of ones."""
    if library == "torch":
        import torch

        return torch.ones(shape, dtype=torch.float32)
    if library == "jax":
        import jax.numpy as jnp

        return jnp.ones(shape, dtype="float32")
    import numpy as np

    return np.ones(shape)


# ---------------------------------------------------------------------------------------------------------------- cases
TEXT = "softmax_{key}(exp(X)) ⊙ tanh(X)"


def numbers(tensor):
    return [round(float(item), 4) for item in tensor.to_numpy(tensor.axes).ravel()]


def formula(library):
    import namedtensor as nt

    X = nt.tensor(ones(library, 3, 4), "seq key")
    f = nt.formula(TEXT)
    return [numbers(f(X=X)) for _ in range(3)]


def latex(library):
    import namedtensor as nt

    X = nt.tensor(ones(library, 3, 4), "seq key")
    return numbers(nt.evaluate(r"\nsum{\key} \exp(X) + \nfun{\key}{softmax} X", X=X))


def derived(library):
    import namedtensor as nt

    x = nt.tensor(ones(library, 3), "a")
    return numbers(nt.formula("∑_{a} sin(x)^2").derivative("x")(x=x))


def checked(library):
    import namedtensor as nt

    return str(nt.check("softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V", Q="ℝ^{key}", K="ℝ^{seq × key}", V="ℝ^{seq × val}"))


def eager(library):
    import namedtensor as nt

    X = nt.tensor(ones(library, 3, 4), "seq key")
    return numbers(nt.softmax(X + X, axis="key").rename(key="k") * 2)


def layer(library):
    import namedtensor as nt
    from transformer import LayerNorm

    layer_norm = LayerNorm.init(sizes={"chans": 4})
    return numbers(layer_norm(nt.tensor(ones(library, 3, 4), "seq chans")))


def second(library):
    import namedtensor as nt

    X = nt.tensor(ones(library, 5, 4), "seq key")
    return numbers(nt.evaluate("[X]_{key→k} ⊙_{seq} cumsum_{seq}(log(1 + X)) - 3 var_{seq} X", X=X))


def nothing(library):
    """The package is imported, and none of its names was asked for."""


def named(library):
    """The names of the package were asked for, which loads most of it, and nothing was evaluated."""
    import namedtensor as nt

    assert nt.tensor and nt.formula and nt.evaluate and nt.check and nt.softmax


CASES = {  # the library, what is done before, and the call
    "loading": ("numpy", nothing, formula),
    "formula": ("numpy", named, formula),
    "latex": ("numpy", named, latex),
    "derivative": ("numpy", named, derived),
    "check": ("numpy", named, checked),
    "operators": ("numpy", named, eager),
    "second": ("numpy", formula, second),
    "torch": ("torch", named, formula),
    "layer": ("numpy", named, layer),
}


def is_ours(file):
    return file.startswith(OURS) or file.startswith(GENERATED)


def imports(frame):
    """Return whether a frame runs within an import, which Python may leave half done if it is interrupted."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def lines_of(call):
    """Return the lines that run outside of imports, in their order, as file and number."""
    result = {}

    def tracer(frame, event, _):
        if not is_ours(frame.f_code.co_filename):
            return None
        if event == "line" and not imports(frame):
            result[frame.f_code.co_filename, frame.f_lineno] = None
        return tracer

    sys.settrace(tracer)
    try:
        call()
    finally:
        sys.settrace(None)
    return list(result)


def interrupted_at(places, call, expected):
    """Call it once, and where it first reaches one of the places fork a child that is interrupted there and calls again.
    The places where that went wrong, with what went wrong."""
    left, problems, pipe = set(places), [], None
    limit = sys.getrecursionlimit()

    def tracer(frame, event, _):
        nonlocal pipe
        pair = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and pair in left and not imports(frame):
            left.discard(pair)
            child, end = fork()
            if not child:
                pipe = end
                sys.settrace(None)
                raise KeyboardInterrupt
            result = answer_of(child, end)
            if "problem" in result:
                problems.append(f"{pair[0]}:{pair[1]}\n{result['problem']}")
        return tracer if is_ours(pair[0]) else None

    def again():
        """Here and in a thread, which would wait for a lock that is still taken."""
        assert raised is None or isinstance(raised, KeyboardInterrupt), repr(raised)
        value = call()
        assert value == expected, f"{value} for {expected}"
        assert in_threads(1, lambda _: call()) == [expected]
        assert sys.getrecursionlimit() == limit

    raised = None
    sys.settrace(tracer)
    try:
        call()
    except BaseException as problem:
        raised = problem
    finally:
        sys.settrace(None)
    if pipe is not None:
        answer(pipe, again)
    assert raised is None, repr(raised)
    assert not left, f"{len(left)} lines were not reached again"
    return problems


# ---------------------------------------------------------------------------------------------------------------- modes
def threads(library, count):
    """Forked processes with eight threads, each with its first formula: the same in half of them, others in the rest."""
    ones(library) if library == "torch" else None  # which is imported; JAX begins in the child
    import numpy  # noqa: F401

    import namedtensor as nt

    def work(path):
        X = nt.tensor(ones(library, 3, 4), "seq key")
        return numbers(nt.formula(TEXT)(X=X)), numbers(nt.evaluate(f"∑_{{key}} X ⊙ {path} + gelu(X)", X=X))

    for number in range(int(count)):
        answer = forked(lambda: in_threads(THREADS, work))
        assert "problem" not in answer, f"process {number}: {answer['problem']}"
        first, others = zip(*answer["value"])
        assert all(item == first[0] for item in first)
        assert len({str(statement) for statement in others}) == THREADS


def interrupts(case, count):
    """Forked processes, each interrupted at one line."""
    library, before, call = CASES[case]
    import numpy  # noqa: F401

    import namedtensor  # noqa: F401

    if library == "torch":
        import torch

        torch.ones(1)
    if case == "layer":
        import transformer  # noqa: F401
    before(library)
    call = partial(call, library)
    expected = forked(call)
    assert "value" in expected, expected
    places = forked(lambda: lines_of(call))["value"]
    drawn = places if count == "all" else random.Random(case).sample(places, min(int(count), len(places)))
    problems = interrupted_at(map(tuple, drawn), call, expected["value"])
    print(f"{case}: {len(drawn)} of {len(places)} lines")
    assert not problems, f"{len(problems)} lines\n" + "\n".join(problems[:20])


def forks(count):
    """Processes that are forked while threads evaluate new formulas, in text and in LaTeX, with derivatives."""
    import numpy as np

    import namedtensor as nt

    end = threading.Event()
    X = nt.tensor(np.ones((3, 4)), "seq key")
    kinds = (
        lambda n: nt.evaluate(f"X ⊙ {n} + softmax_{{key}} X", X=X),
        lambda n: nt.evaluate(rf"\nsum{{\key}} X + {n}", X=X),
        lambda n: nt.formula(f"∑_{{key, seq}} X^2 ⊙ {n}").derivative("X")(X=X),
        lambda n: nt.explain(f"X + {n}", X=X),
    )

    def compile_all(thread):
        for number in range(10**6):
            kinds[(thread + number) % len(kinds)](f"{thread}{number}")
            if end.is_set():
                return

    def work():
        return [
            numbers(nt.evaluate(text, X=X)) for text in (f"{TEXT} + {os.getpid()}", rf"\nsum{{\key}} X - {os.getpid()}")
        ]

    workers = [threading.Thread(target=compile_all, args=(thread,), daemon=True) for thread in range(4)]
    for worker in workers:
        worker.start()
    try:
        for number in range(int(count)):
            time.sleep(0.01 * number)
            answer = forked(work)
            assert "problem" not in answer, f"child {number}: {answer['problem']}"
    finally:
        end.set()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    try:
        {"threads": threads, "interrupts": interrupts, "forks": forks}[sys.argv[1]](*sys.argv[2:])
    except AssertionError as problem:
        sys.exit(str(problem))
