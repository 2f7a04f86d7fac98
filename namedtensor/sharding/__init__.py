"""Tensors spread over the devices of a mesh of JAX, by the names of their axes.

`meshes`: devices by names, here or of a topology that is elsewhere.
`sharding`: the rules, and what they place.
`collectives`: what the devices say to each other, as XLA has compiled it.
`device_cost`: what a call costs each device, as the compiler says.
`sharded`: formulas that run under the rules.

Contract: the rules change where numbers lie and never what they are; it wraps what is called as a program is, and knows no Program.
"""
