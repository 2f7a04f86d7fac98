"""Backends, which convert a plan to source text and a function for NumPy, PyTorch, JAX, other libraries and JavaScript.

`source`: generation of source text from a plan, with one line per step.
`lines`: lines that libraries share, source text under construction, and functions compiled from source text.
`entry_checks`: the lines that check the inputs of exported source.
`numpy`: the table of NumPy lines.
`numpy_kernels`: the small functions that NumPy lines call.
`range_checks`: kernels that check whether their result is in range and, if not, compute the formula as written.
`numpy_threads`: kernels that compute blocks on one or more cores.
`error_function`: coefficients of erf for libraries that lack this function, such as NumPy.
`torch`: the table of PyTorch lines.
`torch_modules`: plans as methods of PyTorch modules.
`jax`: the table of JAX lines.
`jax_loops`: loops for JAX.
`standard`: the table of lines for any other library that implements the Python Array API, and its kernels.
`javascript`: the table of JavaScript lines, and the writer of modules that call javascript_runtime.js.
`absent`: targets for libraries that are not installed, for which source text is generated but not run.
`function`: backends by name or array namespace, and the function of a plan, which runs without warnings.

Contract: this package depends on plans. It uses a term or node only as the origin of a step.
"""
