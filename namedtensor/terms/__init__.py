"""The typed graph that all later stages share, in which equal terms are the same object.

`terms`: terms, the graph that interns them, and operators on plain numbers.
`structural`: the table of terms that are not operators, and `verify`.
`environment`: environments, which map names to their values.
`inference`: the interface for type inference, which rules and calculus use.
`builder`: smart constructors of terms.
`labels`: inference of labels from the labels of inputs.
`normalized_exponentials`: recognition of exp(s) / ∑ exp(s) as softmax.
`loop_bodies`: the body of a loop, which contains the terms of one step.
`wavefront_bodies`: the body of a loop over the wavefronts of a grid.

Contract: the package imports names, records and the core; it does not use checking rules or plans. Only `labels`
uses an array library: it computes the positions of an index with NumPy.
"""
