"""The type checker, which resolves names, axes and sizes and converts nodes to terms.

`checker`: the checker, with a table of rules, one per node type.
`report`: the result of checking a program.
`declarations`: declared sets, and checks that tensors are members of them.
`unused_inputs`: inputs and sizes that the program does not mention.
`given_sizes`: checks of given sizes against inputs, declarations and equations.
`lookup`: resolution of names.
`families`: members of families.
`open_families`: members of families of unknown length.
`open_labels`: labels that represent sizes.
`beyond_families`: the error for members that no equation defines.
`unknown_names`: suggestions for undefined names.
`calls`: calls of operators and functions.
`python_calls`: calls of Python functions.
`matching`: selection of the user-defined function that a call uses.
`lifting`: inlining of function bodies, with lifting over extra axes.
`hygiene`: axis renaming that avoids capture by a function body.
`application`: application of operators to typed operands.
`diagnostics`: messages for shape mismatches.
`elements`: definitions by elements.
`filled_positions`: the positions that definitions by elements fill.
`derived_functions`: built-in functions whose terms consist of other functions.
`indexing`: X_{a(i)}, ι and I.
`label_index`: indices that are labels, such as X_{day(Mon)}.
`sums`: sums over an index.
`over_sets`: operators over a variable in a set, under a condition, or with a limit.
`substitution`: evaluation at a point.
`element_updates`: functional updates, such as C_{seq(2)} ← 0.
`draws`: random variables and expectations.
`cases`: cases and guards.
`renames`: renames, merges and splits of axes.
`literals`: numbers and literals.
`loops`: recurrences and layers, which are typed once, as loops.
`other_meanings`: detection of names that have a meaning in an environment.
`ranges`: the ranges of families.
`wavefronts`: families over two indices, which are typed once, as loops over wavefronts.
`wavefront_order`: assignment of members to wavefronts.
`wavefront_loops`: construction of loops over wavefronts.
`coordinates`: the two indices of a grid, as tensors.
`grids`: names over two indices, and the equations that define their members.
`grid_borders`: members along the borders of a grid.
`grid_members`: lookup of grid members by their indices.
`recurrences`: the members of a recurrence, by step.
`counting`: recognition of index variables that are plain numbers.
`stacked_families`: members stacked along an axis.
`size_solver`: the solver for |ax| and for n in seq[n].
`size_facts`: size equations, indexed by the symbols that they mention.
`inferred_sizes`: sizes inferred from the types of expressions.
`axis_sizes`: the size of one axis.
`claims`: the assertions of a program.

Contract: each rule uses only the interface `Inference`, and the imports between modules have no cycles. The package
does not use planning or an array library.
"""
