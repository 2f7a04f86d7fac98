"""The rules of the grammar to nodes: a class for each kind of rule, each built on the one before.

`values`: what a rule makes that is no node yet, such as a script.
`literals`: names, numbers and literals.
`scripts`: sub- and superscripts.
`indices`: operators over index variables, several at once.
`expressions`: operations, functions, cases and conditions.
`statements`: statements and sets; the builder of them all.

Law: a method for each rule of `formula.lark`, by its name; what a name means is not known here.
"""
