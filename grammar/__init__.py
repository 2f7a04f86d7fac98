"""Text and LaTeX to a syntax tree, and back.

`errors`: the one family of errors, its catalogue, and the caret.
`symbols`: the vocabulary: which spelling is which terminal.
`nodes`: the syntax tree.
`traversal`: the nodes below a node.
`lengths`: how long a text may be.
`spellings`: names with their scripts, before there is a tree.
`tokens`: what both lexers make.
`draws`: which letters are expectations, and which names distributions.
`function_names`: which names are functions.
`stray_characters`: what may have been meant by a character that is none of the notation's.
`partials`: derivatives written as operators, ∂/∂X*.
`text_tables`: what words, signs and characters are to the text spelling.
`text`: the text spelling to tokens.
`latex`: the LaTeX spelling to the same tokens.
`automaton`: the LALR tables of `formula.lark`, kept.
`builder`: the rules of the grammar to nodes.
`syntax_errors`: why a token cannot stand where it stands.
`parser`: the whole way, from either spelling to a tree.
`completion`: what may come next while one types.
`printer`: a tree back to text, ASCII, LaTeX, colours.

Law: it imports lark and nothing else; what a name means is not known here.
"""
