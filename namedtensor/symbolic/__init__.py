"""Symbolic: formulas as sums of products over indices, where derivatives get a closed form and equations a proof.

Read in this order: `forms` (index normal form), `canonical` (keys: equal forms have one), `work` (laws counted, the limit),
`signs` (what is never negative, or hardly ever 0), `algebra` (sums, products, powers, simplified as they are made), `applying`
(operators of forms), `linearizing` (derivatives in typed trees, as they are read), `from_terms` (typed tree to form),
`known` and `folding` (written-out functions, and parts that are a name's, by their names), `factoring`, `spelling` and `read_back` (form to
nodes of the notation), `naming` (names for what repeats), `lengths` (how long a formula is to read), `laws` (each by its
name and as an equation that is tested).

Law: a form never knows the names of axes, only indices; nothing here computes a value.
"""
