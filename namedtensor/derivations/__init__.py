"""Closed forms of derivatives, with their derivations, and proofs of equations.

`least_shapes`: the smallest shapes of undeclared names for which a program has a type.
`reading`: the checker for programs whose derivatives are identified, and program slicing.
`program_facts`: assumptions that a program declares or that follow from its definitions.
`identification`: the closed form of a typed derivative.
`indices`: linear indices, such as n − t + 1, and their substitution in syntax trees.
`recurrences`: recurrences in a program whose derivative is taken.
`assembly`: the split of a recurrence into one program for a single step and one for the rest, and their closed forms.
`adjoints`: the derivative of a recurrence as a backward recurrence of adjoints and a sum over the steps.
`points`: random inputs that satisfy the declarations and assertions of a program.
`side_values`: the values of both sides of an equation on random inputs.
`agreement`: comparison of a closed form with the derivative at random points.
`closed_form`: the closed form as a program.
`steps`: the derivation of a closed form. Each step is an equation that can be checked.
`orders`: the steps of derivatives of higher orders.
`differences`: finite differences, to check closed forms.
`equal_forms`: proofs by a common normal form of both sides.
`proofs`: proofs and counterexamples for equations.
`gradients`: `nt.gradient`, which computes the gradients of a scalar with respect to many parameters.

Contract: the parser can parse the resulting formulas, and evaluating a formula does not require this package.
"""
