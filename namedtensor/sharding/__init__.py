"""Tensors spread over the devices of a mesh of JAX, by the names of their axes.

`sharding`: the rules, what they place, and formulas that run under them.
`collectives`: what the devices say to each other, as XLA has compiled it.

Law: the rules change where numbers lie and never what they are; it wraps what is called as a program is, and knows no Program.
"""
