"""The typed graph, which all that comes after checking shares: equal terms are one object.

`terms`: a term, and the graph that interns it.
`structural`: the table of terms that are no operators, and `verify`.
`environment`: where a name is looked up.
`inference`: the interface of inference, for rules and calculus.
`builder`: smart constructors of terms.
`normalized_exponentials`: exp(s) / ∑ exp(s) as softmax.
`folding`: operators on plain numbers.
`loop_bodies`: the body of a loop: terms of one step.
`wavefront_bodies`: that of a loop over the fronts of a grid.

Law: it imports names, records and the core; it knows no rule of checking, no plan and no library of arrays.
"""
