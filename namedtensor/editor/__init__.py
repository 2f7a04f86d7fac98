"""Editor support: findings during typing, types, completions, renaming, definitions and fixes.

`positions`: converts between offsets and lines with columns.
`parts`: the pieces of a formula, with their types.
`repairs`: edits that fix an error and are checked before they are offered.
`statements`: splits the text of a program into statements.
`text_programs`: a program that is checked during editing.
`analysis`: a document of any type, with all its findings.
`occurrences`: the mentions of names and axes in a formula.
`renaming`: renames an axis or a name.
`descriptions`: hover texts, definitions, and types after statements.
`completions`: suggests the next words.
`fixes`: quick fixes.

Contract: the results depend only on the given texts. The package uses no protocol and no processes, and it reads files
only through `read`.
"""
