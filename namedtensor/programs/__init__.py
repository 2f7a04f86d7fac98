"""Program execution: the only package that goes all the way from a source string and inputs to a value.

`injected`: functions of higher packages that programs call.
`arguments`: the inputs of a call: types, layouts, cache key.
`parsed`: a program as a value, and its checker.
`entries`: the goals that can be evaluated: the value of the program, a name, several names.
`plain_values`: tensors as plain numbers.
`random_inputs`: random inputs of tests of equality, with zeros, ties, tiny and huge numbers.
`boundaries`: inputs at the constants of comparisons and the zeros of denominators.
`sampling`: the inputs of all random tests.
`conditions`: the conditions under which operations have a value or a derivative: x ≠ 0 if one divides by x.
`closeness`: whether two numbers are equal up to rounding.
`magnitudes`: the magnitudes from which a value is computed.
`claims`: checks the assertions of a program with its values.
`executable`: the compiled function of a checked and planned program.
`size_symbols`: symbols for sizes that are read from the arrays.
`symbolic_plans`: one plan for all sizes of a signature.
`call_cache`: looks up the executable of a repeated call.
`bound_call`: calls whose values mostly stay the same.
`labeled_calls`: executables of calls whose inputs have labels.
`evaluate`: the value of a formula.
`explained`: the value of every step.
`term_values`: the values of all terms.
`parameters`: the parameters that a program declares.
`families`: families of parameters in one array each.
`initializers`: distributions of initial parameters.
`initialization`: parameters as tensors.
`open_lengths`: sizes for open ends of ranges.
`checks`: types without data.
`named_plans`: plans for arguments by name, for one library.
`compiled`: functions for repeated calls.
`readable`: code that a person reads.
`einsum`: formulas as calls of einsum.
`diagrams`: its data flow.
`variants`: a program with some definitions replaced.
`torch_module`: a formula as a module of PyTorch.
`torch_forward`: its forward, one for all sizes.
`torch_export`: modules for `torch.export` and ONNX.
`onnx_sizes`: the sizes of a graph of ONNX, named and checked.
`program_names`: the names that a program mentions.
`printed`: text, LaTeX and HTML of a formula.
`exported`: its compiled function, cost and source text.
`devices`: the cost of a program on devices that may be absent.
`verbs`: the methods of programs, formulas and entry points.
`program`: Program, Formula, EntryPoint.
`imports`: import statements, replaced by definitions of other files.
`operator_checks`: checks of the differentials of user-defined operators.
`custom_operators`: user-defined operators.
`entry_points`: several names of a program, computed together.
`api`: the functions of `namedtensor`, made from these methods.

Contract: higher layers use this package, and lower layers never import it; `parsed` alone creates checkers.
"""
