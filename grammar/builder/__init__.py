"""The builder of the syntax tree, with one class per group of grammar rules, each derived from the previous class.

`literals`: names, numbers and literals, and intermediate results of grammar rules.
`scripts`: subscripts and superscripts.
`indices`: operators over one or several index variables.
`expressions`: operations, functions, cases and conditions.
`statements`: statements and sets, and the final builder class.

Contract: for each rule of `formula.lark`, the builder has a method with the same name. It does not know what names mean.
"""
