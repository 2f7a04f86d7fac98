"""The small core of named axes: names, sizes and arrays, and no operator.

`axes`: named shapes, signatures, the lifting rule, names of axes.
`extents`: sizes that are known when a function runs, as polynomials.
`size_conditions`: what a plan takes to hold of them.
`dimensions`: symbolic dimensions of JAX.
`sizes`: size variables and their unification.
`arrays`: which library an array is of, names of dtypes.
`hooks`: what rooms above do when something is first there.
`layout`: all of a tensor but its numbers, interned.
`tensor`: NamedTensor: data, construction, conversion, comparison.
`families`: alike tensors in one array.
`processes`: a process of our own that answers, and can be ended.
`kinds`: what an argument of a Python function is to be.
`seeds`: integers and keys of JAX as seeds.
`warned`: a Python warning.
`strictness`: whether an outer broadcast is an error.
`suggestions`: did you mean.
`limits`: limits, and headroom for deep trees.
`shadowed`: a file of one's own that hides a package.
`version`: the version.

Law: it imports errors, lengths and folded text of the grammar, and nothing of the other rooms.
"""
