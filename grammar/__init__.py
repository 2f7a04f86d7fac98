"""The syntax of formulas, with a parser from text and LaTeX to a syntax tree, and a printer for the tree.

`locks`: locks for shared caches. A process acquires them before it forks.
`cache`: size-limited caches that threads share.
`errors`: the error class, the catalogue of error codes, and the caret display.
`symbols`: the symbols of the notation and their terminals.
`nodes`: the syntax tree.
`traversal`: traversal of a tree, and rebuilding of a tree with replaced nodes.
`lengths`: limits on the length of a source.
`tokens`: the tokens that both lexers produce, and names with scripts.
`customary_forms`: conversion of customary forms to the form that the grammar accepts.
`bars`: the pairing of opening and closing bars.
`draws`: recognition of expectations and distributions.
`function_names`: recognition of function names.
`ambiguous_powers`: errors for powers with two interpretations.
`stray_characters`: hints for characters that are not part of the notation.
`partials`: derivatives written as operators, such as ∂/∂X*.
`text_tables`: tables of words, symbols and characters of the text syntax.
`where_parts`: definitions after `where` in a line of text.
`import_lines`: the tokens of an import line.
`folding`: conversion of a name's spellings to one form.
`text`: the lexer of the text syntax.
`latex`: the lexer of the LaTeX syntax, which produces the same tokens.
`plain_text`: conversion to ASCII, for streams that cannot display the notation.
`builder`: the functions that build a node for each grammar rule.
`continued_lines`: the error for a line that begins with + or − after a complete equation.
`syntax_errors`: explanations of unexpected tokens.
`parser`: the parser of both syntaxes, which runs Lark on `formula.lark`.
`composed`: text joined from several files.
`completion`: completion of a partly typed formula.
`printer`: conversion of a tree to text, ASCII or LaTeX, with optional colors.

Contract: the package imports only Lark and the standard library; it does not know the meaning of names.
"""
