"""Positional tensor notation (matrices, indices, einsum, array code) read into named tensor notation.

`axes`: axes as variables, and which of them are one.
`naming`: the names of axes that have none.
`values`: nodes of the notation with the axes of each dimension.
`inputs`: what is known of the inputs.
`refusals`: why a source is not translated.
`program`: what a reader gives.
`plain_functions`: functions that NumPy lacks.
`tokens`: the tokens of matrix and index notation.
`trees`: their trees.
`indices`: which letters are indices, and what a product sums.
`matrix_leaves`: the values of matrix notation, and its leaves.
`matrices`: trees to values with rows and columns.
`matrix_functions`: transposes, powers, norms of matrices.
`matrix_calls`: functions of matrices by name.
`oracle`: the source's own value of a tree.
`algebra`: lines of matrix and index notation.
`operations`: the record of an operation of array code, and the table of all.
`elementwise_operations`: those element by element.
`axis_operations`: those on axes.
`product_operations`: those on several tensors.
`views`: dimensions regrouped.
`code_domains`: what array code is walked over.
`code`: Python's `ast` walked.
`code_calls`: calls that are not in the table of operations.
`einsum`: letters: einsum strings and einops patterns.
`readers`: the readers, by notation.
`detection`: which notation a text is in.
`checked`: a translation compared with its source.
`translation`: `nt.translate`.
`offers`: the translation of a formula that failed, as a hint.

Law: it imports programs and what is below them; no text of a user is run as code, and no translation is given that differs from its source.
"""
