"""What `test_sharding.py` runs in several processes that share one mesh, and in one: `python … INDEX COUNT PORT`.

Each trains the block for some steps and prints, as JSON, the losses, the parts of the value that lie on its devices, and
the collectives of a step.
"""

import json
import sys

import jax

index, count, port = map(int, sys.argv[1:])
if count > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"localhost:{port}", count, index)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from sharded_cases import LAYER, MESH, ORDER, RULES, TARGET, X, loss  # noqa: E402

import namedtensor as nt  # noqa: E402
from namedtensor.sharding.collectives import collectives  # noqa: E402


def main():
    layer = LAYER.shard(RULES, MESH)
    sharding = layer.sharding
    rows = slice(2 * index, 2 * index + 2) if count > 1 else slice(None)  # each process reads the half that is its own
    array = jax.make_array_from_process_local_data(sharding.placement(ORDER), TARGET.array[rows], TARGET.array.shape)
    placed = sharding.place({"x": X, "target": nt.tensor(array, ORDER)})  # or gives the whole, and keeps its part

    @jax.jit
    def step(layer, x, target):
        error, slope = jax.value_and_grad(loss)(layer, x, target)
        return jax.tree.map(lambda value, change: value - 0.1 * change, layer, slope), error

    kinds = sorted(map(str, collectives(step, layer, placed["x"], placed["target"])))
    losses = []
    for _ in range(3):
        layer, error = step(layer, placed["x"], placed["target"])
        losses.append(float(error))
    value = layer(X).array
    parts = [
        [[part.start or 0 for part in shard.index], np.asarray(shard.data).tolist()]
        for shard in value.addressable_shards
    ]
    total = float(jnp.sum(value**2))
    print(json.dumps({"devices": len(jax.devices()), "losses": losses, "total": total, "parts": parts, "kinds": kinds}))


main()
