"""Measure how much code a reader follows: the files, functions and calls of eight trips through the packages.

    python tests/reader_measure.py            print the table
    python tests/reader_measure.py --write    and keep the figures as the new limits

Each trip runs in a new process that has imported the packages. Only calls of functions of `grammar`, `namedtensor` and
`transformer` count: code that runs while a module is imported and comprehensions do not.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = tuple(f"{ROOT / name}/" for name in ("grammar", "namedtensor", "transformer"))
INLINE = {"<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}
LIMITS = ROOT / "tests" / "reader_measure.json"
PAGE = r"""
\documentclass{article}
\begin{document}
Let $X \in \mathbb{R}^{\name{seq} \times \name{chans}}$ and $W \in \mathbb{R}^{\name{chans} \times \name{hidden}}$.
\begin{equation}
H = \sigma(X \ndot{\name{chans}} W)
\end{equation}
\end{document}
"""


def attention():
    import numpy as np

    import namedtensor as nt

    Q, K, V = (
        nt.tensor(np.ones(shape), axes) for shape, axes in (((3,), "key"), ((4, 3), "seq key"), ((4, 2), "seq val"))
    )
    return lambda: nt.evaluate("softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V", Q=Q, K=K, V=V)


def encoder_block():
    import numpy as np

    import namedtensor as nt
    import transformer

    sizes = {"chans": 8, "key": 4, "val": 8, "hidden": 16}
    X = nt.tensor(np.ones((3, 8)), "seq chans")
    return lambda: transformer.EncoderBlock.init(0, sizes)(X)


def new_length():
    import numpy as np

    import namedtensor as nt

    formula = nt.formula("softmax_{seq}(Q ⊙_{key} K / √|key|)")
    Q, *keys = (nt.tensor(np.ones((length, 3)), "seq key") for length in (1, 4, 5, 6))
    Q = nt.tensor(np.ones(3), "key")
    for K in keys[:2]:
        formula(Q=Q, K=K)
    return lambda: formula(Q=Q, K=keys[2])


def check():
    import namedtensor as nt

    types = {"Q": "ℝ^{key}", "K": "ℝ^{seq × key}", "V": "ℝ^{seq × val}"}
    return lambda: str(nt.check("softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V", **types))


def closed_form_of_softmax():
    import namedtensor as nt

    derivative = nt.formula("softmax_{seq}(X)").derivative("X")
    return lambda: derivative.closed_form(X="ℝ^{seq}")


def closed_form_of_a_layer():
    import namedtensor as nt

    derivative = nt.formula("σ(X ⊙_{chans} W)").derivative("W")
    return lambda: derivative.closed_form(X="ℝ^{seq × chans}", W="ℝ^{chans × hidden}")


def checked_page():
    import contextlib
    import io
    import tempfile

    from namedtensor import cli

    path = Path(tempfile.mkdtemp()) / "page.tex"
    path.write_text(PAGE, encoding="utf-8")

    def run():
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            cli.main(["check", str(path)])

    return run


def wrong_formula():
    import numpy as np

    import namedtensor as nt

    X = nt.tensor(np.ones((3, 4)), "seq key")

    def run():
        try:
            nt.evaluate("softmax_{sek} X", X=X)
        except nt.NotationError as error:
            str(error)

    return run


TRIPS = {
    "first evaluate of attention": attention,
    "first EncoderBlock": encoder_block,
    "a new length": new_length,
    "check": check,
    "closed form of softmax": closed_form_of_softmax,
    "closed form of σ(X ⊙ W)": closed_form_of_a_layer,
    "namedtensor check of a page": checked_page,
    "a wrong formula": wrong_formula,
}


def calls_of(run) -> dict[tuple[str, int, str], int]:
    """Return how often each function of the packages is called."""
    calls: dict[tuple[str, int, str], int] = {}

    def profiler(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_name not in INLINE and code.co_filename.startswith(PACKAGES):
            if code.co_flags & 0x2:  # a function: the body of a class has no local variables of its own
                key = code.co_filename, code.co_firstlineno, code.co_name
                calls[key] = calls.get(key, 0) + 1

    threading.setprofile(profiler)
    sys.setprofile(profiler)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def figures(trip: str) -> list[int]:
    """Return the files, functions and calls of a trip."""
    calls = calls_of(TRIPS[trip]())
    return [len({file for file, _, _ in calls}), len(calls), sum(calls.values())]


def measured(trip: str) -> list[int]:
    """Return the figures of a trip, measured in a new process."""
    command = [sys.executable, "-W", "ignore", __file__, trip]
    process = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=True)
    return json.loads(process.stdout)


def main() -> None:
    if sys.argv[1:] and sys.argv[1] in TRIPS:
        print(json.dumps(figures(sys.argv[1])))
        return
    table = {trip: measured(trip) for trip in TRIPS}
    print(f"{'trip':<30} {'files':>6} {'functions':>10} {'calls':>8}")
    for trip, (files, functions, calls) in table.items():
        print(f"{trip:<30} {files:>6} {functions:>10} {calls:>8}")
    if "--write" in sys.argv:
        LIMITS.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
