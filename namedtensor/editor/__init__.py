"""An editor's view of a document, with findings during typing, types, completions, renaming, definitions and fixes.

`positions`: places in a text as lines and columns.
`parts`: the pieces of a formula with their types.
`repairs`: edits that fix an error, each checked.
`statements`: where the statements of a text begin and end.
`contexts`: the dependencies of a statement on its program.
`text_programs`: a program that is checked while it is edited.
`analysis`: a document of any kind with all that was found in it.
`occurrences`: the names and axes that a formula mentions.
`renaming`: rename an axis or a name.
`descriptions`: hover texts, types after statements, definitions.
`completions`: the possible next words.
`fixes`: quick fixes.

Contract: pure functions of texts; no protocol, no process, no file that `read` does not give.
"""
