"""Formulas as sums of products over indices, a form in which derivatives are simplified and equations are proved.

`forms`: index normal form.
`facts`: facts about tensors, each with a name.
`canonical`: keys: equal forms have one; the number that the products of a form share.
`work`: counts of the rules used, and the budget.
`matching`: occurrences of one product's factors in another product, and facts that rewrite them.
`signs`: signs of forms, and forms that are hardly ever 0.
`factors`: rules for the factors of one product, and known totals, such as the total of softmax.
`product_rules`: rules for one product that only proofs apply.
`algebra`: sums, products, powers, simplified as they are made.
`applying`: operators of forms.
`fact_kinds`: how each kind of fact is recognized and proved.
`linearizing`: forward linearization for reading.
`matrices`: determinants and inverses of products, in proofs.
`definitions`: definitions of operators that proofs expand.
`from_terms`: typed tree to form.
`known`: recognition of functions that are written out, and of common subexpressions by name.
`factoring`: shared factors taken out; brackets multiplied out; common denominators, in proofs.
`spelling`: constructors of nodes, operators with a special syntax, and how long a formula is to read.
`product_order`: the order in which a product is written.
`read_back`: form to nodes of the notation.
`naming`: names for repeated parts.
`rewrite_rules`: the table of rules: name, equation and function, in the order of application.

Contract: a form does not contain axis names, only indices; nothing here computes a value.
"""
