"""Tensors sharded over a JAX device mesh by the names of their axes.

`meshes`: devices by names, here or of a topology that is elsewhere.
`sharding`: the rules, and their placements.
`collectives`: communication between devices, read from compiled XLA.
`device_cost`: the cost of a call per device, reported by the compiler.
`placement`: where parameters and named values are placed while formulas are computed.
`sharded`: formulas that run under the rules.
`training`: one step of a loss, its gradients and an optimizer.
`checkpoints`: shards of tensors in files, read by any mesh.
`loop_counts`: how often the parts of a compiled function run.
`device_report`: the work of each device, without values.
`dtensor`: the same rules for PyTorch.

Contract: the rules change where numbers lie and never what they are; it wraps what is called as a program is, and knows no Program.
"""
