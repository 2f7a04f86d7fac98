"""A derivative worked out to its closed form, step by step, and equations proved.

`needed`: which statements of a program a formula needs.
`least_shapes`: shapes that nobody gave.
`reading`: the checker of a program whose derivatives are read.
`identification`: the closed form of a typed derivative.
`indices`: linear indices of families, substituted in trees.
`recurrences`: which recurrences a derivative goes through.
`assembly`: closed forms in programs of parts, and the lines that have them.
`step_programs`: one step of recurrences as a program.
`adjoints`: adjoints of recurrences: a recurrence back, and a sum over the steps.
`sensitivities`: forward sensitivities of any families: beside each member its derivative.
`families`: derivatives of families to any order, by one of these two.
`closed_form`: the closed form as a program.
`steps`: the steps to it, each an equation that can be checked.
`orders`: the steps of derivatives of higher orders.
`differences`: a derivative by differences, which a closed form is held against.
`equal_forms`: whether both sides of an equation have one normal form, which proves it.
`proofs`: proved, false, or holding on what was tried.
`gradients`: `nt.gradient`, by all parameters at once.

Law: what is declared here is a formula of the notation that its own parser reads back; none of it is needed to run one.
"""
