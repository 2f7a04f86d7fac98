"""The syntax of formulas: parsing text and LaTeX to a syntax tree, and printing the tree.

`locks`: the locks of a process, for which a fork waits.
`cache`: caches that threads share, with a limit each.
`errors`: the one family of errors, its catalogue, and the caret.
`symbols`: the vocabulary: maps input symbols to terminals.
`nodes`: the syntax tree.
`traversal`: the nodes below a node, and a tree rebuilt with others in their places.
`lengths`: how long a text may be.
`tokens`: the tokens that both lexers produce, and names with scripts.
`customary_forms`: customary forms that the grammar has in one form only.
`bars`: which bars open, and which close.
`draws`: which letters are expectations, and which names distributions.
`function_names`: which names are functions.
`ambiguous_powers`: powers that two readers take differently.
`stray_characters`: the likely intent of a character that the notation does not have.
`partials`: derivatives written as operators, ∂/∂X*.
`text_tables`: tables of words, symbols and characters of the text syntax.
`where_parts`: definitions after `where` in a line of text.
`import_lines`: the tokens of a line that imports.
`folding`: one form for the spellings of a name.
`text`: the text syntax to tokens.
`latex`: the LaTeX syntax to the same tokens.
`plain_text`: text in ASCII, for streams that cannot show the notation.
`builder`: the rules of the grammar to nodes.
`continued_lines`: the error of a line that begins with a sign below a complete equation.
`syntax_errors`: why a token is not valid at its position.
`parser`: parses either syntax to a tree, by Lark's parser of `formula.lark`.
`composed`: text that is put together from several files.
`completion`: the tokens that may follow while a user types.
`printer`: a tree back to text, ASCII, LaTeX, colors.

Contract: it imports lark and nothing else; it does not know the meaning of names.
"""
