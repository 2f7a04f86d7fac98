"""What comes before the first value: the first call of a formula that was never seen, and imports."""

from __future__ import annotations

from itertools import count

import namedtensor as nt

from .attention import inputs, named
from .measure import processor_seconds
from .peers import PEERS, missing
from .work import OURS, Bar, Ready, Work, side

JAX = "jax.jit"


@side(OURS)
def first_of_ours(q, k, v) -> Ready:
    """Each time another formula, with other names, and the same value: softmax does not see what is added to all scores."""
    Q, K, V = named(q, k, v)
    numbers = count()

    def call():
        number = next(numbers)
        text = f"softmax_{{seq}}(Q{number} ⊙_{{key}} K / √|key| + {number / 1000}) ⊙_{{seq}} V"
        return nt.evaluate(text, {f"Q{number}": Q, "K": K, "V": V})

    return Ready(call, lambda result: result.to_array("heads queries val"))


@side(JAX, needs=("jax",))
def first_of_jax(q, k, v) -> Ready:
    import jax
    import jax.numpy as jnp

    arrays = [jnp.asarray(item) for item in (q, k, v)]
    numbers = count()

    def call():
        shift = next(numbers) / 1000
        function = jax.jit(lambda q, k, v: jax.nn.softmax(q @ k.mT / q.shape[-1] ** 0.5 + shift, -1) @ v)
        return jax.block_until_ready(function(*arrays))

    return Ready(call)


SIZES = {"heads": 2, "seq": 4, "key": 8}
WORKS = (
    Work(
        "first-call", "text to first value of a new attention formula", inputs, (first_of_ours, first_of_jax), SIZES, SIZES,
        base="", bars=(Bar(OURS, 1.0),), threads=1,
    ),
)  # fmt: skip


def rows() -> list[dict]:
    """The processor's time to import each library, over that of a bare Python."""
    bare = processor_seconds("pass", 5)
    result = []
    for name in ("numpy", "namedtensor", "transformer", *PEERS):
        if missing((name,)):
            continue
        code = {"namedtensor": "import namedtensor; namedtensor.tensor", "penzai": "from penzai import pz"}
        seconds = processor_seconds(code.get(name, f"import {name}"), 3) - bare
        result.append({"figure": f"import {name}", "value": seconds * 1e3, "unit": "ms", "bar": None})
    return result
