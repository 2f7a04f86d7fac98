"""The small named-axis tensor core: names, sizes, arrays; no operator.

Read in this order: `axes` (named shapes, signatures, the lifting rule, names of axes), `sizes` (size variables and their
unification), `arrays` (which library an array is of, names of dtypes), `hooks` (what rooms above do when something is first there), `layout` (all of a tensor but its numbers,
interned), `tensor` (NamedTensor: data, construction, conversion, comparison), `kinds` (what an argument of a Python
function is to be), `suggestions` (did you mean), `limits` (limits, and headroom for deep trees), `shadowed` (a file that
hides a package).

Law: imports `grammar.errors`, `grammar.lengths` and `grammar.text.fold`, and nothing of the other rooms.
"""
