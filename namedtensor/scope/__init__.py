"""Name resolution, which converts the statements of a program to symbols.

`names`: names with labels as keys, matching of source names and keys, and an index of names by their scripts.
`heads`: the names that a statement defines, declares or gives a signature.
`uses`: the names that expressions mention, and all that is reached from some.
`symbols`: definitions, functions, declarations, size equations, assertions, and the scope that holds them.
`distributions`: random draws, by the name of their distribution.
`shape_variables`: the axes that a calligraphic letter stands for.
`updates`: C ← … as equations.
`shifted_heads`: x^{t+1} = … as an equation for x^t.
`stated_draws`: 𝔼_x, if a statement declares the distribution of x.
`index_conditions`: ∑_{1≤i<j≤n} as nested sums.
`zero_starts`: S_0 = 0 as zeros of its family's type.
`refused_heads`: the errors of f(x)_{h(i)} = …, and of functions as arguments of functions.
`dependencies`: the definitions that names mean, and the names that expressions need.
`known_heads`: equations about names that are already defined, which are assertions.
`resized_axes`: axes that windows and slices shorten, and names that an expression uses.
`value_of_program`: the text of a program's value.
`needed_lines`: the lines of a program that some of its names need.
`statements`: classifies each statement by itself: a definition, a function, an assertion.
`ownership`: the function that each of them belongs to, and the definition or expression that is the value.
`binder`: name resolution of a whole program.
`numbers_given`: inputs that must be known integers before planning.

Contract: it converts trees to symbols, without arrays or types.
"""
