"""Reading and writing of arrays in tensor files.

`text`: the text and JSON of a file, input errors, and atomic writing.
`versions`: reading a single version of a file that may be replaced or changed meanwhile.
`safetensors`: many named tensors in one file.
`contents`: the contents of a file.
`csv_tables`: text tables with their headers and labels.
`large_tables`: large text tables, read by pandas.
`formats`: the table of all formats with their readers and writers.
`data_files`: Parquet, NetCDF and Zarr files, read by other libraries.
`tensor_files`: one tensor in a file, from Python.
`streams`: a tensor that is read from a pipe.

Contract: this package handles arrays and their axes. It does not depend on formulas or on its callers.
"""
