"""Closed forms of derivatives, with their derivations, and proofs of equations.

`least_shapes`: the smallest shapes of undeclared names for which a program has a type.
`reading`: the checker of a program whose derivatives are identified, and the statements that a formula needs.
`program_facts`: assumptions that a program declares or that its definitions prove.
`identification`: the closed form of a typed derivative.
`indices`: linear indices, such as n − t + 1, and their substitution in syntax trees.
`recurrences`: the recurrences that a derivative passes through.
`assembly`: a recurrence as two programs, one step and the part after the steps, and closed forms in both.
`adjoints`: adjoints of recurrences, that is, a backward recurrence and a sum over the steps.
`points`: random inputs that satisfy the declarations and assertions of a program.
`side_values`: the values of both sides of an equation on random inputs.
`agreement`: comparison of a closed form with its derivative at random points.
`closed_form`: the closed form as a program.
`steps`: the derivation of a closed form, in which each step is an equation that can be checked.
`orders`: the steps of derivatives of higher orders.
`differences`: finite differences, to check closed forms.
`equal_forms`: proofs by a normal form that both sides of an equation share.
`proofs`: proofs and counterexamples for equations.
`gradients`: `nt.gradient`, which computes the gradients of a scalar with respect to many parameters.

Contract: the parser can parse the resulting formulas, and evaluating a formula does not require this package.
"""
