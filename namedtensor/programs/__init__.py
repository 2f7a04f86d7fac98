"""Programs run: the only room that goes the whole way, from a text and what it is given to a value.

`arguments`: what a call was given: types, layouts, cache key.
`parsed`: a program as a value, and its checker.
`entries`: what it can be asked for: its value, a name, several.
`claims`: the claims of a program, against its values.
`executable`: checked, planned, made a function.
`sizes_used`: whether what is made of sizes follows between them.
`generic_types`: types for lengths, from those of others.
`lengths`: executables for lengths, from those of others.
`call_cache`: how a repeated call finds its executable.
`evaluate`: the value of a text.
`explained`: every step to it.
`parameters`: what a program declares.
`initialisation`: parameters as tensors.
`open_lengths`: types for ranges of any length.
`checks`: types without data.
`compiled`: functions for repeated calls.
`einsum`: formulas as calls of einsum.
`diagrams`: where its values go.
`variants`: a program with some definitions replaced.
`torch_module`: a formula as a module of PyTorch.
`program_names`: which names a program speaks of.
`verbs`: what programs, formulas and names of them have in common.
`program`: Program, Formula, EntryPoint.
`api`: the functions of `namedtensor`.

Law: everything above speaks to this room and nothing below knows of it; `parsed` alone makes checkers.
"""
