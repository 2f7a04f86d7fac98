"""The core of named axes: names, sizes and arrays, without operators.

`axes`: named shapes, signatures, the lifting rule and its errors, axis names.
`extents`: symbolic sizes, as polynomials.
`size_conditions`: the conditions on them that a plan assumes.
`dimensions`: symbolic dimensions of JAX.
`sizes`: size variables and their unification.
`arrays`: the library of an array, dtype names.
`hooks`: callbacks and functions of higher layers.
`layout`: axes, sizes and dtype of a tensor, interned.
`tensor`: NamedTensor: data, construction, conversion, comparison.
`families`: tensors of one layout in one array.
`processes`: a worker process that answers requests and can be terminated.
`kinds`: validation of arguments of Python functions.
`seeds`: integers and JAX keys as seeds.
`warned`: Python warnings.
`strictness`: whether an outer broadcast is an error.
`suggestions`: did you mean.
`limits`: limits, and headroom for deep trees.
`shadowed`: a local file that shadows a package.
`version`: the version.

Contract: it imports errors, lengths and folded text of the grammar, and no other package.
"""
