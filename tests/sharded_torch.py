"""What `test_sharding.py` runs in two processes of PyTorch with `gloo`: `python sharded_torch.py INDEX COUNT PORT`.

The feed-forward network of a block with its hidden units over both processes, by placements from the names of axes.
"""

import json
import os
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

import namedtensor as nt
from namedtensor.sharding.dtensor import distribute, placements

index, count, port = map(int, sys.argv[1:])
os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "RANK": str(index), "WORLD_SIZE": str(count)}


def error(call):
    try:
        call()
    except nt.NotationError as problem:
        return str(problem)
    return "no error"


def main():
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (count,), mesh_dim_names=("model",))
    rng = np.random.default_rng(0)
    tensors = {
        "W_1": nt.tensor(rng.normal(size=(8, 16)), "chans hidden"),
        "W_2": nt.tensor(rng.normal(size=(16, 8)), "hidden chans"), "b_2": nt.tensor(rng.normal(size=8), "chans"),
    }  # fmt: skip
    rules = {"hidden": "model"}
    placed = distribute(rules, mesh, tensors)
    x = distribute_tensor(torch.from_numpy(rng.normal(size=(5, 8))), mesh, [Replicate()])
    weights = {name: tensor.requires_grad_() for name, tensor in placed.items()}
    y = torch.relu(x @ weights["W_1"]) @ weights["W_2"] + weights["b_2"]
    (y**2).mean().backward()
    program = nt.program("Y = relu(X ⊙_{chans} W_1) ⊙_{hidden} W_2 + b_2")
    right = program["Y"](X=nt.tensor(x.to_local().numpy(), "seq chans"), **tensors)
    np.testing.assert_allclose(y.full_tensor().detach().numpy(), right.to_array("seq chans"), rtol=1e-9)
    result = {
        "shapes": {name: list(tensor.to_local().shape) for name, tensor in placed.items()},
        "gradients": {name: list(tensor.grad.to_local().shape) for name, tensor in placed.items()},
        "are": [
            placements(rules, mesh, "chans hidden") == [Shard(1)], placements(rules, mesh, "hidden chans") == [Shard(0)],
            placements(rules, mesh, "chans") == [Replicate()], all(isinstance(t, DTensor) for t in placed.values()),
        ],
        "errors": [
            error(lambda: distribute({"hiden": "model"}, mesh, tensors)),
            error(lambda: distribute({"hidden": "modle"}, mesh, tensors)),
            error(lambda: distribute({"hidden": "model", "chans": "model"}, mesh, tensors)),
            error(lambda: distribute({"hidden": "model"}, mesh, {"b": nt.tensor(np.ones(5), "hidden")})),
        ],
    }  # fmt: skip
    dist.destroy_process_group()
    print(json.dumps(result))


main()
