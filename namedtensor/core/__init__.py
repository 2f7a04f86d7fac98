"""The core of named axes: names, sizes and arrays, without operators.

`axes`: named shapes, signatures, axis names, and the lifting rule with its errors.
`monomials`: products of symbols. Symbolic sizes are sums of monomials.
`extents`: symbolic sizes as polynomials.
`size_conditions`: the conditions that a plan assumes about symbolic sizes.
`dimensions`: symbolic JAX dimensions.
`sizes`: size variables and their unification.
`arrays`: array libraries, dtype names, and layouts. A layout stores the axes, sizes and dtype of a tensor.
`hooks`: callbacks, and functions provided by higher layers.
`memory`: the memory that a tensor needs, and the error for too large a tensor.
`array_data`: the data of tensors.
`labels`: labels of elements along axes, and layouts with labels.
`label_alignment`: comparison of the labels of several inputs, and its errors.
`tensor`: the class NamedTensor, with construction and conversion.
`comparison`: comparison of two tensors within a tolerance.
`interchange`: conversion of xarray arrays.
`data_frames`: conversion of pandas and polars data frames.
`families`: tensors with the same layout in one array.
`processes`: a worker process that answers requests and can be terminated.
`kinds`: validation of Python arguments.
`seeds`: integers and JAX keys as seeds.
`warned`: Python warnings that refer to the caller's line.
`suggestions`: suggestions such as "did you mean …?" in errors.
`settings`: resource limits, recursion headroom, and the option that forbids outer broadcasts.
`shadowed`: detection of local files that shadow a package.
`version`: the version of the package.

Contract: this package imports only `cache`, `errors`, `folding`, `lengths`, `locks` and `plain_text` from `grammar`,
and no other package of this project.
"""
