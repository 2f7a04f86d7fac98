"""Program execution: the only package that goes all the way from a source string and inputs to a value.

`injected`: functions of higher packages that programs call.
`arguments`: the types, layouts and cache key of a call's inputs.
`parsed`: parsed programs and their checkers.
`entries`: the goals that can be evaluated, namely a program's value, one of its names, or several names.
`plain_values`: tensors as plain numbers.
`random_inputs`: random inputs for equality tests, including zeros, ties, and tiny and huge numbers.
`boundaries`: inputs at the constants of comparisons and the zeros of denominators.
`sampling`: the inputs of all random tests.
`conditions`: the conditions under which a value or a derivative exists, such as x ≠ 0 for 1 / x.
`closeness`: equality of two numbers up to rounding.
`magnitudes`: the magnitudes of values, which bound their rounding errors.
`claims`: checks of a program's assertions against the computed values.
`executable`: the pipeline from a goal and its inputs to a compiled plan.
`size_symbols`: symbols for sizes that are read from the arrays.
`symbolic_plans`: one plan for all sizes of a signature.
`call_cache`: the cache that finds the compiled plan of a repeated call.
`bound_call`: calls that keep some values, such as a model's parameters.
`labeled_calls`: compiled plans of calls whose inputs have labels.
`evaluate`: the value of a formula.
`explained`: the value of every step.
`term_values`: the values of all terms.
`parameters`: the parameters that a program declares.
`families`: families of parameters, each stored in one array.
`initializers`: distributions of initial parameters.
`initialization`: initial tensors for parameters.
`open_lengths`: size symbols for range ends that no input specifies.
`checks`: type checks without data.
`named_plans`: plans that one library runs with arguments by name.
`compiled`: functions for repeated calls.
`readable`: generated code for human readers.
`einsum`: formulas as `einsum` calls.
`diagrams`: diagrams of a program's data flow.
`variants`: programs with some definitions replaced.
`torch_module`: formulas as PyTorch modules.
`torch_forward`: the `forward` method of a PyTorch module, generated once for all sizes.
`torch_export`: modules for `torch.export` and ONNX.
`onnx_sizes`: size names and size checks for ONNX graphs.
`program_names`: the names that a program mentions.
`printed`: a formula as text, LaTeX or HTML.
`exported`: the compiled function, cost and source text of a formula.
`devices`: the cost of a program on devices that may be absent.
`verbs`: the methods of programs, formulas and entry points.
`program`: the classes Program, Formula and EntryPoint.
`imports`: import statements, which are replaced by definitions from other files.
`operator_checks`: checks of the differentials of user-defined operators.
`custom_operators`: user-defined operators.
`entry_points`: several names of a program that are computed together.
`api`: the functions of `namedtensor` that create formulas or call their methods.

Contract: higher layers import this package, and lower layers never do. Only `parsed` creates checkers.
"""
