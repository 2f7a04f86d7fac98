"""The typed graph that all later stages share: equal terms are one object.

`terms`: a term, the graph that interns it, and operators on plain numbers.
`structural`: the table of terms that are not operators, and `verify`.
`environment`: name lookup.
`inference`: the interface of inference, for rules and calculus.
`builder`: smart constructors of terms.
`labels`: the labels of terms, from the labels of the inputs.
`normalized_exponentials`: exp(s) / ∑ exp(s) as softmax.
`loop_bodies`: the body of a loop: terms of one step.
`wavefront_bodies`: the body of a loop over the wavefronts of a grid.

Contract: it imports names, records and the core; it does not use checking rules, plans or array libraries.
"""
