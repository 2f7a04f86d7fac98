"""Conversion between files of tensors and arrays.

`text`: the text and JSON of a file, errors of inputs, and atomic writing.
`versions`: one version of a file, although it is replaced or changed.
`safetensors`: many named tensors in one file.
`contents`: the contents of a file.
`csv_tables`: tables of text, their headers and labels.
`large_tables`: the same of large files, by pandas.
`formats`: the table of all formats, with how each is read and written.
`data_files`: Parquet, NetCDF and Zarr, by other libraries.
`tensor_files`: one tensor in a file, from Python.
`streams`: a tensor that comes through a pipe.

Contract: it knows arrays and their axes; no formula, and nothing of who asks.
"""
