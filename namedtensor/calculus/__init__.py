"""Derivatives (paper §5), which convert terms to terms, and programs to programs.

`derivative`: ∂body/∂X* in forward or reverse mode, and perturbations for equations of differentials.
`nested`: derivatives inside derivatives, which hold the outer variable constant.
`record_formulas`: formulas from operators' records and definitions, typed for one call.
`linearize`: JVP, with differentials from the operators' records or from their definitions in the prelude.
`products`: products over a long axis, in linear memory.
`loops`: JVP and VJP of a loop, which are also loops.
`transpose`: VJP, which propagates cotangents backward through linear terms.
`sweep`: a single backward sweep for all derivatives of a number.
`selection`: masked tangents and cotangents, which avoid products of zero and infinity.
`finiteness`: analysis of the finiteness and signs of terms.
`stars`: the stars that distinguish the axes of nested derivatives.
`formula`: the derivative of a program as a program.

Contract: the package infers types only through `terms.inference` and does not depend on the checker or on plans.
"""
