"""Formulas as sums of products over indices, a form in which derivatives are simplified and equations are proved.

`forms`: the index normal form.
`facts`: named assumptions about tensors.
`canonical`: canonical keys, which are equal for equivalent forms, and the common coefficient of a form.
`work`: counts of applied rules, and the budget.
`matching`: occurrences of a pattern in a product, and rewrites by assumptions.
`signs`: the signs of forms, and a test for forms that are rarely 0.
`factors`: rules for the factors of one product, and known totals, such as the total of softmax.
`product_rules`: rules for one product that only proofs apply.
`algebra`: sums, products and powers, simplified on construction.
`applying`: operators applied to forms.
`fact_kinds`: recognition and proof of each kind of assumption.
`linearizing`: forward linearization for closed forms.
`matrices`: determinants and inverses of products, in proofs.
`definitions`: operators' definitions that proofs expand.
`from_terms`: translation of the typed graph to forms.
`known`: recognition of expanded functions, such as softmax, and of named subexpressions.
`factoring`: factoring, expansion of brackets, and common denominators in proofs.
`spelling`: constructors of syntax nodes, operators with a special syntax, and the length of a formula.
`product_order`: the order of the factors in a product.
`read_back`: translation of a form back to syntax nodes.
`naming`: names for repeated subexpressions.
`rewrite_rules`: the table of rules in order of application; each rule has a name, an equation and a function.

Contract: a form contains indices instead of axis names. This package does not compute values.
"""
