"""Backends: a plan as source text and as a function of arrays, for NumPy, PyTorch, JAX, other libraries and JavaScript.

`source`: a plan to text, one line a step.
`lines`: the lines that libraries share, a text while it is written, and generated text as functions.
`entry_checks`: the lines that check the inputs of exported source.
`numpy`: NumPy's table of lines.
`numpy_kernels`: the small functions that they call.
`numpy_threads`: kernels that compute blocks, on one core or several.
`error_function`: erf for NumPy, which has none.
`torch`: PyTorch's.
`torch_products`: its products by a matrix, by the faster of the libraries that it has.
`torch_modules`: plans as methods of its modules.
`jax`: JAX's.
`jax_loops`: its loops.
`standard`: kernels of any library of the Python Array API.
`javascript`: the table of JavaScript and the writer of its modules; javascript_runtime.js has the functions that they
call.
`absent`: targets that are not installed, for which text is written all the same.
`function`: the backend of a name or of a namespace of arrays; the function of a plan, run without warnings.

Contract: it knows plans, and no term and no node but as the origin of a step.
"""
