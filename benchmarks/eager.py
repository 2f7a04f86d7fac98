"""One named operation on tiny tensors, against the same NumPy calls by position: what the names cost."""

from __future__ import annotations

import numpy as np

import namedtensor as nt

from .measure import compare
from .start import ATTENTION, attention_by_hand, attention_tensors

BAR = 1.5
ONE_CALL = 2.0  # of Python takes 0.2 µs, where one ufunc of tiny arrays takes 0.25
UFUNCS = ("A + A", "-A", "nt.exp(A)")
INDEX = 10.0  # NumPy indexes by position in 0.1 µs


def softmax_by_hand(array: np.ndarray) -> np.ndarray:
    powers = np.exp(array - array.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def pairs() -> dict[str, tuple]:
    """What is written with names, and the same by position."""
    generator = np.random.default_rng(0)
    a, x, b = (generator.standard_normal(size) for size in ((3, 4), 4, (8, 16, 32)))
    A, X, B = nt.tensor(a, "height width"), nt.tensor(x, "width"), nt.tensor(b, "batch seq key")
    return {
        "A + A": (lambda: A + A, lambda: a + a),
        "-A": (lambda: -A, lambda: -a),
        "A + x": (lambda: A + X, lambda: a + x),
        "A * 2": (lambda: A * 2, lambda: a * 2),
        'nt.dot(A, x, axis="width")': (lambda: nt.dot(A, X, axis="width"), lambda: a @ x),
        'nt.softmax(A, axis="width")': (lambda: nt.softmax(A, axis="width"), lambda: softmax_by_hand(a)),
        'A.sum(axis="width")': (lambda: A.sum(axis="width"), lambda: a.sum(axis=1)),
        "nt.exp(A)": (lambda: nt.exp(A), lambda: np.exp(a)),
        'B[{"seq": 3}]': (lambda: B[{"seq": 3}], lambda: b[:, 3]),
        'B[{"seq": slice(2, 5)}]': (lambda: B[{"seq": slice(2, 5)}], lambda: b[:, 2:5]),
        'B[{"batch": 1, "key": 3}]': (lambda: B[{"batch": 1, "key": 3}], lambda: b[1, :, 3]),
        'B[{"batch": 1, "seq": 2, "key": 3}]': (lambda: B[{"batch": 1, "seq": 2, "key": 3}], lambda: b[1, 2, 3]),
        'B[{"key": [1, 2, 3]}]': (lambda: B[{"key": [1, 2, 3]}], lambda: b[..., [1, 2, 3]]),
    }


def rows() -> list[dict]:
    """Each operation with its bar, and a known formula, called whole."""
    result = [
        {
            "figure": f"eager: {written}",
            "value": compare(ours, theirs)[0],
            "unit": "× NumPy",
            "bar": ONE_CALL if written in UFUNCS else INDEX if written.startswith("B[") else BAR,
        }
        for written, (ours, theirs) in pairs().items()
    ]
    named, arrays = attention_tensors()
    formula = nt.formula(f"Attention(Q, K, V) = {ATTENTION}")
    called = compare(lambda: formula(*named.values()), lambda: attention_by_hand(*arrays), 40, 100)[0]
    return [*result, {"figure": "attention by formula(Q, K, V)", "value": called, "unit": "× NumPy", "bar": None}]


if __name__ == "__main__":
    for row in rows():
        print(f"{row['figure']:<40} {row['value']:6.2f} {row['unit']}")
