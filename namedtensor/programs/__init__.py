"""Programs run: the only room that goes the whole way, from a text and what it is given to a value.

`arguments`: what a call was given: types, layouts, cache key.
`parsed`: a program as a value, and its checker.
`entries`: what it can be asked for: its value, a name, several.
`claims`: the claims of a program, against its values.
`executable`: checked, planned, made a function.
`size_symbols`: symbols for sizes that are read from the arrays.
`symbolic_plans`: one plan for all sizes of a signature.
`call_cache`: how a repeated call finds its executable.
`evaluate`: the value of a text.
`explained`: every step to it.
`term_values`: the values of all its terms.
`parameters`: what a program declares.
`initializers`: distributions of initial parameters.
`initialization`: parameters as tensors.
`open_lengths`: sizes for the ends of ranges that nothing gives.
`checks`: types without data.
`named_plans`: plans for arguments by name, for one library.
`compiled`: functions for repeated calls.
`einsum`: formulas as calls of einsum.
`diagrams`: where its values go.
`variants`: a program with some definitions replaced.
`torch_module`: a formula as a module of PyTorch.
`torch_forward`: its forward, one for all sizes.
`torch_export`: modules for `torch.export` and ONNX.
`onnx_sizes`: the sizes of a graph of ONNX, named and checked.
`program_names`: which names a program speaks of.
`verbs`: what programs, formulas and names of them have in common.
`program`: Program, Formula, EntryPoint.
`api`: the functions of `namedtensor`.

Law: everything above speaks to this room and nothing below knows of it; `parsed` alone makes checkers.
"""
