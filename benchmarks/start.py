"""The way from a text to its first value: parsing, planning, importing."""

from __future__ import annotations

from itertools import count

import numpy as np

import namedtensor as nt
from grammar import parser

from .measure import best, compare, processor_seconds, seconds

SIXTY = (
    "softmax_{seq}(Q ⊙_{key} K / √|key| + M) ⊙_{seq} V + standardize_{chans}(X) ⊙ γ + β − 2 exp(Y) / (Z + 1) "
    "+ max(A, B) · C^2"
)
ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"


def attention_tensors(seq: int = 4, heads: int = 2, key: int = 8):
    """Q, K, V named, and the same by position."""
    generator = np.random.default_rng(0)
    q, k, v = (generator.standard_normal((heads, seq, key), dtype=np.float32) for _ in range(3))
    named = {
        "Q": nt.tensor(q, "heads seq' key"),
        "K": nt.tensor(k, "heads seq key"),
        "V": nt.tensor(v, "heads seq val"),
    }
    return named, (q, k, v)


def attention_by_hand(q, k, v):
    scores = np.matmul(q, k.swapaxes(1, 2))
    scores *= np.float32(1 / np.sqrt(q.shape[-1]))
    scores -= np.maximum.reduce(scores, -1, None, None, True)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores, -1, None, None, True)
    return np.matmul(scores, v)


def parse_sixty() -> float:
    def anew() -> None:
        parser._parse.cache_clear()
        parser.parse(SIXTY)

    return best(anew, 300)


def first_result() -> float:
    """A formula that was never seen before, each time another."""
    named, _ = attention_tensors()
    numbers = count()
    nt.evaluate(ATTENTION, named)
    return best(lambda: nt.evaluate(f"{ATTENTION} + {next(numbers)}", named), 200)


def parser_times() -> tuple[float, float]:
    def load():
        parser.formula_parser.cache_clear()
        parser.formula_parser()

    return best(load, 20), min(seconds(parser.build) for _ in range(3))


def imports() -> tuple[float, float, float]:
    """The processor's time of the package's import, of NumPy's, and of a first tensor with its methods, over NumPy's."""
    bare = processor_seconds("pass")
    numpy = processor_seconds("import numpy") - bare
    tensors = processor_seconds("import numpy, namedtensor; namedtensor.tensor") - bare
    return processor_seconds("import namedtensor") - bare, numpy, tensors - numpy


def rows() -> list[dict]:
    """Each figure with its bar, where there is one."""
    load, build = parser_times()
    number, numpy, over = imports()
    named, arrays = attention_tensors()
    ratio, ours, theirs = compare(lambda: nt.evaluate(ATTENTION, named), lambda: attention_by_hand(*arrays), 40, 100)
    symbols = len(parser.tokens_of(SIXTY, "text"))
    return [
        {"figure": f"parse a formula of {symbols} symbols", "value": parse_sixty() * 1e3, "unit": "ms", "bar": 0.5},
        {"figure": "text to first result of a new formula", "value": first_result() * 1e3, "unit": "ms", "bar": 2.0},
        {"figure": "grammar: the parser loaded", "value": load * 1e3, "unit": "ms", "bar": 150},
        {"figure": "grammar: the parser built by Lark", "value": build * 1e3, "unit": "ms", "bar": None},
        {"figure": "import namedtensor (processor)", "value": number * 1e3, "unit": "ms", "bar": 0.6 * numpy * 1e3},
        {"figure": "nt.tensor imported, over import numpy (processor)", "value": over * 1e3, "unit": "ms", "bar": None},
        {"figure": "import numpy (processor)", "value": numpy * 1e3, "unit": "ms", "bar": None},
        {"figure": "attention, heads 2, seq 4, key 8: a known formula", "value": ratio, "unit": "× NumPy", "bar": None},
    ]
