"""Which name means what: the statements of a program to symbols.

`names`: names with labels as keys, and whether a spelling means a key.
`script_index`: an index of names by their scripts.
`mentions`: free names of expressions.
`symbols`: definitions, functions, declarations, equations of sizes, claims, and the scope of them all.
`distributions`: how draws are computed, by the name of their distribution.
`shape_variables`: which axes a calligraphic letter stands for.
`updates`: C ← … as equations.
`shifted_heads`: x^{t+1} = … as an equation for x^t.
`stated_draws`: 𝔼_x, where a statement says what x is drawn from.
`index_conditions`: ∑_{1≤i<j≤n} as one sum in another.
`zero_starts`: S_0 = 0 as zeros of its family's type.
`elements_of_functions`: f(x)_{h(i)} = … as two equations.
`function_arguments`: functions that are given to functions.
`where_clauses`: which definitions belong to a function.
`head_usage`: whether a script of a head is an axis, an index or a label.
`known_heads`: equations about what is known already, which are claims.
`resized_axes`: axes that windows and slices make shorter, and names that an expression uses.
`value_of_program`: which definition or expression is the value.
`statements`: what each statement is by itself: a definition, a function, a claim.
`ownership`: which function each of them belongs to.
`binder`: all of that put together.
`numbers_given`: which inputs are needed as whole numbers before planning.

Law: grammar in, symbols out; no array and no type is known here.
"""
