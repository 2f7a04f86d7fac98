"""What `test_sharding.py` runs in several processes that train, and stop: `python sharded_training.py INDEX COUNT PORT FOLDER STOP`.

Each trains a network of looped layers with Adam from its last checkpoint up to step 6, and prints the loss of each step
as JSON. Process 1 is killed in step STOP, before the checkpoint of that step is complete.
"""

import json
import os
import signal
import sys

import jax

index, count, port = map(int, sys.argv[1:4])
folder, stop = sys.argv[4], int(sys.argv[5])
if count > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"localhost:{port}", count, index)

import numpy as np  # noqa: E402

import namedtensor as nt  # noqa: E402
from namedtensor.layers import Layer  # noqa: E402
from namedtensor.sharding import checkpoints  # noqa: E402
from namedtensor.sharding.training import ADAM  # noqa: E402

SIZES = {"L": 4, "chans": 8, "hidden": 16}


class Network(Layer):
    """Looped layers, and the loss of their last."""

    citation, output, inputs = "a test", "loss", ("X", "target")
    notation = """
        loss = mean_{chans, seq}((X^L - target)^2)
        X^0 = X
        X^l = X^{l-1} + relu(X^{l-1} ⊙_{chans} W^{l,1}) ⊙_{hidden} W^{l,2} for l = 1, …, L
        X, target ∈ ℝ^{seq × chans}
        W^{l,1}, W^{l,2} ∈ ℝ^{chans × hidden}
    """


def main():
    mesh = jax.make_mesh((2, 2), ("data", "model")) if count > 1 else jax.make_mesh((4, 1), ("data", "model"))
    compute = {"batch": "data", "hidden": "model"}
    sharded = Network.formula.shard({"chans": "data", "hidden": "model"}, mesh, compute)
    training = sharded.training(
        "loss", nt.program(ADAM), rates={"α": 0.01}, accumulate="micro", sizes={"L": SIZES["L"]}
    )
    rng = np.random.default_rng(0)
    X, target = (nt.tensor(rng.normal(size=(2, 4, 3, 8)).astype("float32"), "micro batch seq chans") for _ in range(2))
    state = training.load(folder)
    if state is None:
        layer = Network.init(0, SIZES, dtype="float32").stack_layers()
        state = training.begin({name: layer._kept[name] for name in layer._kept})
    places = {str(name): str(value.array.sharding.spec) for name, value in state["θ"].items()}
    assert places == {str(name): str(value.array.sharding.spec) for name, value in state["m"].items()}
    if index == 1 and stop:
        written = checkpoints.save_tensors

        def killed(path, *arguments):
            if f"step-{stop:08d}" in str(path):
                os.kill(os.getpid(), signal.SIGKILL)
            written(path, *arguments)

        checkpoints.save_tensors = killed
    for _ in range(int(state["t"]), 6):
        state, error = training.step(state, X=X, target=target)
        print(json.dumps({"step": int(state["t"]), "loss": float(error), "places": places}), flush=True)
        training.save(folder, state)
    print(json.dumps({"steps": checkpoints.steps_in(folder)}), flush=True)


main()
