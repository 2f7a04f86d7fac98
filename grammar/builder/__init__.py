"""The rules of the grammar to nodes.

`expressions`: one method for each rule, its children to what it stands for.

Law: a method has the name of its rule in `formula.lark`; it knows how a formula is written, not what a name means.
"""
