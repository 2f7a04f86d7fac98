"""Translation of positional notation (matrices, indices, einsum, array code, PyTorch modules) to named tensor notation.

`axes`: axes as variables, and which of them are one.
`naming`: the names of axes that have none.
`values`: nodes of the notation with the axes of each dimension.
`inputs`: the known axes of the inputs.
`refusals`: why a source is not translated.
`program`: the result of a reader.
`optional_numpy`: NumPy, or None if it is not installed.
`plain_functions`: functions that NumPy lacks.
`tokens`: the tokens of matrix and index notation.
`binders`: the letters that a sum binds, and their conditions.
`source_tree`: the trees of this notation.
`trees`: how they are parsed.
`indices`: which letters are indices, and which of them a product sums.
`matrix_leaves`: the values of matrix notation, and its leaves.
`matrices`: trees to values with rows and columns.
`matrix_functions`: transposes, powers, norms of matrices.
`matrix_sums`: sums under conditions and over parts of axes.
`matrix_blocks`: block matrices.
`matrix_derivatives`: derivatives of numbers.
`matrix_calls`: functions of matrices by name.
`library_values`: the value of array code by the library's own functions.
`library_functions`: the functions that it may call.
`algebra`: lines of matrix and index notation.
`operations`: the record of an operation of array code, and the table of all.
`elementwise_operations`: operations element by element.
`axis_operations`: operations along axes.
`product_operations`: operations on several tensors.
`view_operations`: dimensions regrouped.
`code_indices`: indices and slices.
`creation_operations`: tensors made of numbers.
`selection_operations`: elements selected, sorted.
`window_operations`: windows, pieces.
`composite_operations`: losses, similarities, made of the others.
`layer_operations`: convolutions, pools, norms, made of the others.
`repetition_operations`: repetitions and padding.
`code_values`: the values of its names, and the lines that define them.
`code_expressions`: the expressions of Python's `ast` walked.
`code`: its statements.
`code_calls`: calls that are not in the table of operations.
`einsum`: letters of einsum.
`patterns`: patterns of einops.
`readers`: the readers, by notation.
`detection`: which notation a text is in.
`formula_writing`: the lines of a translation.
`checked`: the check of a translation: values beside a library, or types.
`translation`: `nt.translate`.
`torch_replacements`: functions called as others.
`torch_composites`: operations recorded as others.
`torch_trace`: a function of PyTorch run once, its operations recorded.
`torch_sizes`: which sizes it leaves free.
`torch_names`: names of its tensors.
`torch_tensors`: tensors of a trace as values, and their views.
`torch_records`: lines, declared tensors, remarks.
`torch_leaves`: the axes of declared tensors.
`torch_constants`: constants that have a form.
`torch_numbers`: numbers that depend on sizes.
`torch_graph`: a trace read by rules.
`torch_repeats`: equal layers in a trace.
`torch_shared`: modules that are called several times.
`torch_families`: equal layers read once, as families.
`torch_operations`: operations that array code has, too.
`torch_products`: products, layer norms.
`torch_indices`: elements by their index.
`torch_shapes`: views, slices, concatenation, padding, new tensors.
`torch_recurrences`: recurrent layers.
`torch_program`: a module that was read, as a program.
`torch_writing`: its text.
`torch_subject`: the module or function that is run.
`torch_module`: readings, compared with the module.
`torch_reading`: `nt.from_torch`.
`pytest_plugin`: functions that follow formulas as tests.
`offers`: the translation of a formula that failed, as a hint.

Contract: it imports programs and lower layers; it never executes the text of a user, and no translation of code differs from its library's value.
"""
