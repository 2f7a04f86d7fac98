"""Translation of positional notation (matrices, indices, einsum, array code, PyTorch modules) to named tensor notation.

`axes`: axis variables, and the unification of axes.
`naming`: names for unnamed axes.
`values`: nodes of the notation with the axes of each dimension.
`inputs`: the known axes of the inputs.
`refusals`: errors and questions that explain why a source is not translated.
`tokens`: the tokens of matrix and index notation.
`source_tree`: the syntax tree of matrix and index notation, and the letters and limits that a sum binds.
`trees`: the parser for this tree.
`indices`: the letters that are indices, and the letters that a product sums.
`backward_indices`: indices that count backward.
`matrix_leaves`: the values of matrix notation, and the leaves of its trees.
`matrices`: translation of trees to values with rows and columns.
`matrix_functions`: transposes, powers and norms of matrices.
`matrix_sums`: sums with conditions, and sums over parts of axes.
`matrix_calls`: named functions of matrices, block matrices and derivatives.
`algebra`: lines of matrix and index notation.
`operations`: the record of an operation of array code, and the table of all operations.
`elementwise_operations`: elementwise operations.
`axis_operations`: operations along axes.
`product_operations`: operations on several tensors.
`view_operations`: operations that regroup dimensions.
`code_indices`: indices and slices.
`creation_operations`: operations that create, repeat or pad tensors.
`selection_operations`: operations that select or sort elements, form windows, or split dimensions.
`composite_operations`: losses and similarities, composed of other operations.
`layer_operations`: convolutions, pooling and norms, composed of other operations.
`library_functions`: the library functions that `library_values` may call, and functions that NumPy lacks.
`library_values`: values of array code, computed by the library's own functions.
`code_values`: the values of names in array code, and the lines that define them.
`code_expressions`: translation of expressions in Python's `ast`.
`code`: translation of statements in Python's `ast`, and calls that are not in the table of operations.
`einsum`: einsum subscripts and einops patterns.
`detection`: detection of a source's notation.
`formula_writing`: the translated program that a reader returns, and the text of its formula.
`checked`: checks that compare translated code with its library, and type checks of other formulas.
`translation`: the function `nt.translate`.
`torch_replacements`: functions and operations that are replaced while a module is recorded.
`torch_trace`: one run of a PyTorch function, with its recorded operations.
`torch_sizes`: the sizes that a module leaves free.
`torch_names`: names of a module's tensors, and the axes of declared tensors.
`torch_tensors`: tensors of a trace as values, and their views.
`torch_records`: lines, declared tensors and remarks.
`torch_numbers`: constants with a recognizable form, and numbers that depend on sizes.
`torch_graph`: translation of a trace by rules.
`torch_repeats`: equal layers in a trace, and modules that are called several times.
`torch_families`: equal layers, translated once as families.
`torch_operations`: operations shared with array code, products, and layer norms.
`torch_shapes`: views, slices, concatenation, padding, new tensors and indexed elements.
`torch_recurrences`: recurrent layers.
`torch_program`: the program that `nt.from_torch` returns, and the writer of its text.
`torch_module`: the translation of a module, and the comparison of the program's values with the module's values.
`torch_reading`: the function `nt.from_torch`.
`pytest_plugin`: tests of functions that follow formulas.
`offers`: hints that suggest a translation for a formula with an error.

Contract: this package imports programs and lower layers. It never executes source text, but runs the modules and
functions that are passed to it. Translated code has the same values as the original code.
"""
