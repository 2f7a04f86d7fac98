"""Derivatives (paper §5): terms to terms, and programs to programs.

`derivative`: ∂body/∂X*, forward or in reverse, whichever is smaller; perturbations for equations of differentials.
`nested`: a derivative in the body of another, which holds fixed what that one is taken by.
`linearize`: JVP: the differential of each term, from the record of its operator.
`loops`: the differential of a loop, and the way back through it: loops as well.
`transpose`: VJP: linear pieces carried back from cotangents.
`sweep`: one number by several names, all at once.
`selection`: cotangents beside the cases that they count in, so that nothing meets infinity.
`finiteness`: which terms are finite.
`formula`: the derivative of a program as a program.

Law: it asks for types only through `terms.inference`, and knows neither the checker nor plans.
"""
