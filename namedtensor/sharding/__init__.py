"""Tensors sharded over a JAX device mesh by the names of their axes.

`meshes`: devices by name, either local devices or the devices of a remote topology.
`sharding`: the rules, and their placements.
`collectives`: communication between devices, as listed in compiled XLA.
`device_cost`: the cost of a call per device, reported by the compiler.
`placement`: placement of parameters and named values during computation.
`sharded`: formulas that run under the rules.
`training`: one training step, with a loss, its gradients and an optimizer.
`checkpoints`: tensor shards in files, which any mesh can load.
`loop_counts`: how many times the computations of a compiled function run.
`device_report`: the work of each device, determined without computing values.
`dtensor`: the same rules for PyTorch.

Contract: the rules change where elements are stored, but never their values. This package wraps objects that can be
called like a program, and does not depend on Program.
"""
