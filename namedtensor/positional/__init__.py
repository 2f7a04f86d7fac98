"""Positional tensor notation (matrices, indices, einsum, array code) read into named tensor notation.

`axes`: axes as variables, and which of them are one.
`naming`: the names of axes that have none.
`values`: nodes of the notation with the axes of each dimension.

Law: it imports programs and what is below them; no text of a user is run as code, and no translation is given that differs from its source.
"""
