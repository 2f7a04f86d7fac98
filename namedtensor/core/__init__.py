"""The core of named axes: names, sizes and arrays, without operators.

`axes`: named shapes, signatures, the lifting rule and its errors, axis names.
`monomials`: products of symbols; symbolic sizes are sums of them.
`extents`: symbolic sizes, as polynomials.
`size_conditions`: the conditions on them that a plan assumes.
`dimensions`: symbolic dimensions of JAX.
`sizes`: size variables and their unification.
`arrays`: the library of an array, dtype names; layouts: axes, sizes and dtype of a tensor, interned.
`hooks`: callbacks and functions of higher layers.
`array_data`: the data of tensors.
`labels`: labels of the elements of axes, and layouts that have them.
`label_alignment`: the comparison of the labels of several inputs, and its errors.
`tensor`: NamedTensor: construction and conversion.
`comparison`: whether two tensors are close.
`interchange`: arrays of xarray.
`data_frames`: data frames of pandas and polars.
`families`: tensors of one layout in one array.
`processes`: a worker process that answers requests and can be terminated.
`kinds`: validation of arguments of Python functions.
`seeds`: integers and JAX keys as seeds.
`warned`: Python warnings.
`suggestions`: did you mean.
`settings`: limits, headroom for deep trees, and whether outer broadcasts are forbidden.
`shadowed`: a local file that shadows a package.
`version`: the version.

Contract: it imports errors, lengths and folded text of the grammar, and no other package.
"""
