"""Tensors sharded over a JAX device mesh, by the names of their axes.

`meshes`: devices by names, here or of a topology that is elsewhere.
`sharding`: the rules, and what they place.
`collectives`: communication between devices, read from compiled XLA.
`device_cost`: the cost of a call per device, reported by the compiler.
`sharded`: formulas that run under the rules.

Contract: the rules change where numbers lie and never what they are; it wraps what is called as a program is, and knows no Program.
"""
