"""Evaluating a formula changes nothing that other code in the process can see: what is not called at all, and what is as it was.

The contract has one documented exception, the threads of the BLAS while long products are computed in blocks, and the ones that
are listed here with their reason.
"""

from __future__ import annotations

import ast
import gc
import locale
import os
import random
import re
import signal
import sys
import threading
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import namedtensor as nt

ROOT = Path(__file__).parent.parent
FILES = {
    str(path.relative_to(ROOT)).replace(os.sep, "/"): path.read_text(encoding="utf-8")
    for package in ("grammar", "namedtensor", "transformer")
    for path in sorted((ROOT / package).rglob("*.py"))
}
FORBIDDEN = {
    "ctypes": r"\bctypes\b",
    "the garbage collector": r"\bgc\.\w|\bimport gc\b|\bfrom gc\b",
    "threads of libraries": r"\bset_num_(interop_)?threads\b|\bthreadpool_limits\b|\bgotoblas|openblas_",
    "the recursion limit": r"\bsetrecursionlimit\b",
    "the size of stacks": r"\bstack_size\(",
    "defaults of libraries": r"\bset_default_\w+|\b(np|numpy|torch)\.set_printoptions\b|\bset_grad_enabled\b|jax\.config\.update",
    "random states": r"\b(np|numpy)\.random\.seed\b|\bmanual_seed\b|\brandom\.seed\b",
    "filters of warnings for good": r"warnings\.(filterwarnings|resetwarnings)\b",
    "NumPy's handling of errors for good": r"\bseterr\b",
    "handlers of signals": r"\bsignal\.signal\b|\bsetitimer\b|\balarm\(",
    "the locale": r"\bsetlocale\b",
    "the environment": r"\bos\.(environ\[[^\]]*\] *=[^=]|environ\.update|environ\.setdefault|putenv|chdir|umask)\b",
    "what Python finds": r"\bsys\.(settrace|setprofile|setswitchinterval|path\.(insert|append|pop)|modules\[[^\]]*\] *=[^=])",
    "private names of PyTorch": r"\btorch\._\w+|\bforward_ad\._\w+|\.mkldnn\._\w+",
    "private names of JAX": r"\bjax\._src\b|\bjaxlib\._\w+",
    "private names of NumPy": r"\b(np|numpy)\.(_core|core)\b|\b(np|numpy)\._(?!_)\w+",
    "private names of Lark": r"\blark\.parsers?\b|\b_parse_table\b",
}
EXCEPTIONS = {
    ("the garbage collector", "namedtensor/cli/servers.py"): "the language server is a separate process",
    ("the recursion limit", "namedtensor/core/settings.py"): "raised while a formula is planned, by one counter for all threads,"
    " and set back: formulas and chains of definitions nest deeper than 1000 calls",
    ("handlers of signals", "namedtensor/core/processes.py"): "in a process of our own",
    ("threads of libraries", "namedtensor/backends/numpy_threads.py"): "the documented limit, by threadpoolctl, off by an option",
    ("NumPy's handling of errors for good", "namedtensor/backends/function.py"): "in a copied context, which is ours alone",
    ("what Python finds", "namedtensor/core/shadowed.py"): "the command, which is the whole process",
    ("the environment", "namedtensor/files/text.py"): "the mask of new files is read where the system does not show it: by setting"
    " it for a moment, under a lock",
    ("what Python finds", "namedtensor/cli/read.py"): "the command, while it imports the module of its argument",
    ("random states", "namedtensor/positional/torch_sizes.py"): "of a generator of our own",
    ("random states", "namedtensor/positional/torch_replacements.py"): "of a generator of our own",
    ("private names of PyTorch", "namedtensor/positional/torch_trace.py"): "the schema of an operation, for the names of its arguments",
    ("defaults of libraries", "namedtensor/planning/failures.py"): "a hint for the user, which is not run",
    ("defaults of libraries", "namedtensor/cli/devices.py"): "the command, before JAX starts: the number of virtual devices",
    ("private names of PyTorch", "namedtensor/backends/torch.py"): "an assertion on data under torch.compile, which has no public name",
}  # fmt: skip


@cache
def code_of(text: str) -> str:
    """A module without its comments and docstrings; the strings that are generated code stay."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[0].value = ast.Constant(None)
    return "\n".join(
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) and "\ndef " in part.value else ""
        for part in ast.walk(tree)
    ) + ast.unparse(tree)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_module_touches(what):
    files = {name for name, text in FILES.items() if re.search(FORBIDDEN[what], code_of(text))}
    allowed = {name for kind, name in EXCEPTIONS if kind == what}
    assert files == allowed, "new ones, or exceptions that are none any more"


def test_what_is_generated_touches_nothing_either():
    """But for the documented limit."""
    long = {"Q": "ℝ^{q[2000] × key[64]}", "K": "ℝ^{s[2000] × key[64]}", "V": "ℝ^{s[2000] × key[64]}"}
    text = nt.formula("softmax_{s}(Q ⊙_{key} K) ⊙_{s} V").to_python("numpy", long)
    assert {what for what, pattern in FORBIDDEN.items() if re.search(pattern, code_of(text))} == {
        "threads of libraries"
    }


# ----------------------------------------------------------------------------------------------------------- as it was
def state() -> dict[str, Any]:
    """What other code in the process can see."""
    result: dict[str, Any] = {
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks)),
        "errors of NumPy": (np.geterr(), np.geterrcall(), np.getbufsize()),
        "printing of NumPy": repr(np.get_printoptions()),
        "warnings": (list(warnings.filters), warnings.showwarning),
        "recursion": sys.getrecursionlimit(),
        "switching": (
            sys.getswitchinterval(),
            sys.gettrace(),
            sys.getprofile(),
            sys.excepthook,
            threading.stack_size(),
        ),
        "signals": {valid_signal: signal.getsignal(valid_signal) for valid_signal in signal.valid_signals()},
        "random": random.getstate(),
        "random of NumPy": repr(np.random.get_state()),
        "locale": locale.setlocale(locale.LC_ALL),
        "environment": dict(os.environ),
        "place": (os.getcwd(), list(sys.path), list(sys.meta_path), list(sys.path_hooks)),
        "streams": (sys.stdout, sys.stderr, sys.displayhook),
    }
    if (threadpoolctl := sys.modules.get("threadpoolctl")) is not None:
        infos = threadpoolctl.threadpool_info()
        result["threads of libraries"] = sorted((info["filepath"], info["num_threads"]) for info in infos)
    if (torch := sys.modules.get("torch")) is not None:
        result["PyTorch"] = (
            torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled(),
            torch.random.get_rng_state().tolist(), torch.are_deterministic_algorithms_enabled(),
            torch.get_float32_matmul_precision(), torch.backends.mkldnn.enabled,
        )  # fmt: skip
    if (jax := sys.modules.get("jax")) is not None:
        result["JAX"] = {
            name: getattr(jax.config, name) for name in ("jax_enable_x64", "jax_debug_nans", "jax_disable_jit")
        }
    return result


def changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def array(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def large(path) -> dict[str, Any]:
    """Attention that is computed in blocks on all cores."""
    axes = {"Q": "heads q key", "K": "heads s key", "V": "heads s v"}
    return {name: nt.tensor(path(array(8, 600, 64)), axis) for name, axis in axes.items()}


def evaluated(path):
    X = nt.tensor(path(array(3, 4)), "a b")
    nt.evaluate("log(X) + softmax_{a} X / 0", X=X)  # nan and ∞ are values
    nt.evaluate("softmax_{s}(Q ⊙_{key} K) ⊙_{s} V", large(path))
    nt.evaluate("tanh(exp(X) + 1)", X=nt.tensor(path(array(3000, 1000)), "a b"))
    X + X.softmax("a")


def derived(path):
    X = nt.tensor(path(array(3, 4)), "a b")
    nt.evaluate("∂(∑_{a,b} exp(X))/∂X", X=X)
    nt.gradient("loss = ∑_{a} (W ⊙_{b} W)\nW ∈ ℝ^{a × b}", "loss")(W=X)


def modelled(path):
    import transformer

    layer = transformer.FFN.init(seed=0, sizes={"chans": 4, "hidden": 8})
    layer.to({numpy_arrays: "numpy", torch_arrays: "torch", jax_arrays: "jax"}[path])(
        nt.tensor(path(array(2, 4)), "seq chans")
    )


WRONG = (
    "X +", "Y + 1", "softmax_{c} X", "(" * 300 + "X" + ")" * 300, "X_{a(9)}", "∑_{i=1}^{100000000} i", "f(x) = f(x)\nf(X)",
    "h^t = h^{t+1}\nh^1", "{ X if X > 99 }",
)  # fmt: skip


def failed(path):
    X = nt.tensor(path(array(3, 4)), "a b")
    for text in WRONG:
        with pytest.raises(nt.NotationError):
            nt.evaluate(text, X=X)
    with pytest.raises(ZeroDivisionError):
        raising(X)


def raising(X):
    def wrong(x):
        raise ZeroDivisionError

    from namedtensor.operators.user_functions import USER_FUNCTIONS

    nt.custom_function("wrong : ℝ → ℝ")(wrong)
    try:
        nt.evaluate("wrong(X) + 1", X=X)
    finally:
        del USER_FUNCTIONS["wrong"]


def checked(path):
    nt.check("softmax_{a} X", X="ℝ^{a}").raise_first()
    nt.equivalent("softmax_{a} X", "exp(X) / ∑_{a} exp(X)", X="ℝ^{a}")
    str(nt.explain("softmax_{a} X", X=nt.tensor([1.0, 2.0], "a")))
    nt.exercises("#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X")["one"].grade("∑_{n} X")
    from namedtensor import reference

    reference.evaluate("∑_{i=1}^{3} i", {})


def numpy_arrays(x):
    return x


def torch_arrays(x):
    return pytest.importorskip("torch").from_numpy(x)


def jax_arrays(x):
    return pytest.importorskip("jax").numpy.asarray(x)


@pytest.mark.parametrize("path", [numpy_arrays, torch_arrays, jax_arrays])
@pytest.mark.parametrize("work", [evaluated, derived, modelled, failed, checked])
def test_all_is_as_it_was(work, path):
    path(array(2))  # the library is there
    pytest.importorskip("threadpoolctl")
    before = state()
    work(path)
    assert changed(before, state()) == {}


def test_all_is_as_it_was_after_threads():
    pytest.importorskip("threadpoolctl")
    before, problems = state(), []

    def work(item):
        try:
            item(numpy_arrays)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(item,)) for item in (evaluated, derived, evaluated, derived)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems and changed(before, state()) == {}


def test_nothing_but_the_documented_limit_changes_meanwhile(monkeypatch):
    """While a formula is evaluated, seen from a function that it calls."""
    from namedtensor.operators.user_functions import USER_FUNCTIONS

    seen: list[dict[str, Any]] = []
    before = state()

    @nt.custom_function("looked : ℝ^{a} → ℝ^{a}")
    def looked(x):
        seen.append(state())
        return x

    try:
        nt.evaluate("looked(X) + 1", X=nt.tensor([1.0, 2.0], "a"))
    finally:
        del USER_FUNCTIONS["looked"]
    names = {"errors of NumPy"}  # of the context in which the formula runs, which other threads and tasks do not see
    assert seen and set(changed(before, seen[0])) <= names
