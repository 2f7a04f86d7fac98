"""The type checker, which resolves every name, axis and size to make terms of nodes, or reports an error with a hint.

`checker`: the table of rules, one per node type.
`report`: the result of checking a program.
`declarations`: inputs, declared sets, membership.
`unused_inputs`: inputs and sizes that the program does not mention.
`given_sizes`: given sizes, compared with the others.
`lookup`: the meaning of a name.
`families`: members of families.
`open_families`: members of families of unknown length.
`open_labels`: labels that stand for sizes.
`beyond_families`: members that no equation gives.
`unknown_names`: suggestions for undefined names.
`calls`: operators and functions applied.
`python_calls`: functions of Python applied.
`matching`: which of the user's functions a use means.
`lifting`: its body typed for its arguments.
`hygiene`: axis renaming that avoids capture by a body.
`application`: operators on typed operands.
`diagnostics`: messages for shape mismatches.
`elements`: definitions by elements.
`filled_positions`: positions that such definitions fill.
`derived_functions`: functions that are written out in others.
`indexing`: X_{a(i)}, ι and I.
`label_index`: X_{day(Mon)}: labels as positions.
`sums`: sums over an index.
`over_sets`: operators over a variable in a set, under a condition, to a limit.
`substitution`: evaluation at a point.
`element_updates`: functional updates, C_{seq(2)} ← 0.
`draws`: random variables and expectations.
`cases`: cases and guards.
`renames`: renames, merges, splits.
`literals`: numbers and literals.
`loops`: recurrences and layers typed once, as loops.
`other_meanings`: whether the variable of a range means something else outside it.
`ranges`: the ranges of families.
`wavefronts`: families over two indices typed once, as loops over fronts of their members.
`wavefront_order`: which members are a front.
`wavefront_loops`: the body of such a loop.
`coordinates`: their indices while a body is typed.
`grids`: names over two indices, and the equations that give their members.
`grid_borders`: members side by side.
`grid_members`: members by their indices.
`recurrences`: the members of a recurrence, by its steps.
`counting`: index variables that are plain numbers, and those that are not.
`stacked_families`: members along an axis.
`size_solver`: |ax| and n of seq[n], solved.
`size_agenda`: searches without a value, and the values that may complete them.
`size_facts`: size equations, by the symbols in them.
`inferred_sizes`: sizes inferred from the types of expressions.
`axis_sizes`: the size of one axis.
`claims`: the assertions of a program.

Contract: a rule depends on an `Inference`, and on other files only downward. It uses no planning and no array library.
"""
