"""Closed forms of derivatives, with their derivations, and proofs of equations.

`least_shapes`: the least shapes of undeclared names, and the types of programs with them.
`reading`: the checker of a program whose derivatives are identified, and the statements that a formula needs.
`program_facts`: the facts that a program declares, and those that its definitions prove.
`identification`: the closed form of a typed derivative.
`indices`: linear indices of families, substituted in trees.
`recurrences`: the recurrences that a derivative passes through.
`assembly`: one step of recurrences as a program, and closed forms in it.
`adjoints`: adjoints of recurrences: a backward recurrence, and a sum over the steps.
`points`: random inputs of a program, which satisfy what it declares and states.
`agreement`: whether a closed form has the value of its derivative at such points.
`closed_form`: the closed form as a program.
`steps`: its derivation, each step an equation that can be checked.
`orders`: the steps of derivatives of higher orders.
`differences`: finite differences, to check closed forms.
`equal_forms`: whether both sides of an equation have one normal form, which proves it.
`proofs`: an equation is proved, disproved or not disproved.
`gradients`: `nt.gradient`, with respect to all parameters.

Contract: its results are formulas of the notation that the parser reads back; running a formula needs none of it.
"""
