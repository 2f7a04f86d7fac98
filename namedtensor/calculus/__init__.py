"""Derivatives (paper §5), from terms to terms and from programs to programs.

`derivative`: ∂body/∂X*, forward or in reverse, whichever is smaller; perturbations for equations of differentials.
`nested`: a derivative in the body of another one, which holds the outer variable constant.
`linearize`: JVP: the differential of each term, from the record of its operator.
`products`: products over a long axis in linear memory.
`loops`: JVP and VJP of a loop, which are loops.
`transpose`: VJP: cotangents through linear terms, backwards.
`sweep`: one backward sweep for all derivatives of a number.
`selection`: masked tangents and cotangents, so that no zero is multiplied by infinity.
`finiteness`: which terms are finite.
`stars`: the stars that keep apart the axes of derivatives inside each other.
`formula`: the derivative of a program as a program.

Contract: it asks for types only through `terms.inference`, and knows neither the checker nor plans.
"""
