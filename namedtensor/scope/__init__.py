"""Name resolution, which converts the statements of a program to symbols.

`names`: keys of names with labels, matching of source names and keys, and an index of names by their scripts.
`heads`: the names that a statement defines, declares or gives a signature.
`uses`: the names in expressions, and a search over a graph.
`symbols`: definitions, functions, declarations, size equations, assertions, and the scope that contains them.
`distributions`: distributions by name, and the formulas for their samples.
`shape_variables`: the axes that a calligraphic letter represents.
`updates`: conversion of updates, such as C ← …, to equations.
`shifted_heads`: rewriting of x^{t+1} = … as an equation for x^t.
`index_conditions`: conversion of ∑_{1≤i<j≤n} to nested sums.
`zero_starts`: conversion of S_0 = 0 to zeros with the family's type.
`refused_heads`: errors for f(x)_{h(i)} = …, and for z^t ∼ N(0, 1) without a range.
`dependencies`: the definition of each name, and the names that each expression needs.
`known_heads`: recognition of assertions, which are equations about names that are already defined.
`resized_axes`: axes that windows and slices resize, and a search for the names in an expression.
`value_of_program`: the value of a program, as a name or an expression.
`needed_lines`: the lines of a program that define given names.
`statements`: classification of single statements as definitions, functions or assertions.
`ownership`: assignment of statements to functions, and selection of the program's value.
`binder`: name resolution of a whole program.
`numbers_given`: inputs whose integer values planning needs.

Contract: the package converts trees to symbols and does not use arrays or types.
"""
