"""The builder of the syntax tree: one class per group of grammar rules, each derived from the previous class.

`literals`: intermediate values of rules, such as scripts; names, numbers and literals.
`scripts`: sub- and superscripts.
`indices`: operators over index variables, several at once.
`expressions`: operations, functions, cases and conditions.
`statements`: statements and sets; the builder of them all.

Contract: a method for each rule of `formula.lark`, by its name; the builder does not know the meaning of names.
"""
