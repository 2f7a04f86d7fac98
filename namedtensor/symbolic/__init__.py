"""Formulas as sums of products over indices, where derivatives get a closed form and equations a proof.

`forms`: index normal form.
`canonical`: keys: equal forms have one.
`work`: laws counted, and the limit.
`signs`: what is never negative, or hardly ever 0.
`sums`: sums that an operator's meaning says.
`factors`: laws among the factors of one product.
`algebra`: sums, products, powers, simplified as they are made.
`applying`: operators of forms.
`linearizing`: derivatives in typed trees, as they are read.
`written_out`: operators that a proof writes out.
`from_terms`: typed tree to form.
`known`: written-out functions by their names.
`folding`: parts that are a name's, by that name.
`factoring`: what terms share, taken out.
`spelling`: nodes put together of names and numbers.
`parts`: what a product is written from.
`own_spellings`: operators that are written in a way of their own.
`read_back`: form to nodes of the notation.
`naming`: names for what repeats.
`lengths`: how long a formula is to read.
`laws`: each by its name, as an equation that is tested, in the order in which they are tried.

Law: a form never knows the names of axes, only indices; nothing here computes a value.
"""
