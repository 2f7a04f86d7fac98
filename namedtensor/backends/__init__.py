"""Backends: a plan becomes source text and a function of arrays, for NumPy, PyTorch, JAX or any other of the standard;
or a module of JavaScript.

In the order in which they are read:

    source                   a plan to text, one line a step, and the text to a function
    lines                    the lines that libraries share
    numpy, numpy_kernels, error_function, torch, jax, standard       a table of lines each, and the small functions they call
    javascript               the table of JavaScript and what writes its modules; javascript_runtime.js is what they call
    libraries                which of them is meant: by name, or by the namespace of arrays
    absent                   a library that is not installed, for which text is written all the same
    function                 the function of a plan: run without warnings, its failures told of the formula

Its law: it knows plans, and no term and no node but as the origin of a step.
"""
