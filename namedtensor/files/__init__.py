"""Files of tensors: bytes to arrays and back.

`text`: text and JSON of a file, what is wrong with an input, and writing a file whole or not at all.
`safetensors`: many named tensors in one file.
`csv_tables`: tables of text, their headers and labels.
`formats`: the table of all formats, with how each is read and written.
`memory`: the tensors of a file in one piece of memory.
`streams`: a tensor that comes through a pipe.

Contract: it knows arrays and their axes; no formula, and nothing of who asks.
"""
