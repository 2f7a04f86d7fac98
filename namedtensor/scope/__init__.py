"""Name resolution, which converts the statements of a program to symbols.

`names`: keys of names with labels, matching of source names and keys, and an index of names by their scripts.
`heads`: the names that a statement defines, declares or gives a signature.
`uses`: the names that expressions mention, and a search for everything reachable from given values.
`symbols`: definitions, functions, declarations, size equations, assertions, and the scope that contains them.
`distributions`: distributions by name, with the computation of samples.
`shape_variables`: the axes that a calligraphic letter represents.
`updates`: conversion of updates, such as C ← …, to equations.
`shifted_heads`: rewriting of x^{t+1} = … as an equation for x^t.
`index_conditions`: conversion of ∑_{1≤i<j≤n} to nested sums.
`zero_starts`: replacement of S_0 = 0 with zeros of the family's type.
`refused_heads`: errors for f(x)_{h(i)} = …, and for z^t ∼ N(0, 1) without a range.
`dependencies`: the definitions that names refer to, and the names that expressions need.
`known_heads`: the recognition of assertions, that is, equations about names that are already defined.
`resized_axes`: axes that windows and slices shorten, and names that an expression uses.
`value_of_program`: the name or expression that is a program's value.
`needed_lines`: the lines of a program that given names depend on.
`statements`: classification of single statements as definitions, functions or assertions.
`ownership`: assignment of statements to functions, and selection of the program's value.
`binder`: name resolution of a whole program.
`numbers_given`: inputs that must be known integers before planning.

Contract: the package converts trees to symbols and does not use arrays or types.
"""
