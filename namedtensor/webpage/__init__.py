"""The playground: one web page and the Python functions that it calls.

`requests`: the fields of a question, parsed.
`guesses`: the least types with which a text is right.
`sizes`: sizes for axes that was not given one.
`typed`: a text with a type for all that it needs.
`marked_latex`: LaTeX with the place of each piece.
`replies`: types, errors and axes as plain data.
`check`: types of all parts.
`translate`: matrices, indices and array code in named tensor notation.
`stages`: the steps of a text, and each step's operands.
`plans`: the values of the steps as a JavaScript function.
`blackboard`: a step in symbols, in types and in numbers.
`code`: a text as loops, or as a function of other libraries.
`derive`: its derivative, and its derivation.
`exercises`: exercises, graded answers, comparison of two formulas.
`site`: where the page is published.
`examples`: the gallery.
`paragraphs`: the explanation of an error in the docs.
`complete`: possible continuations of a text.
`answers`: the questions and their answers; the protocol.
`worker`: answers in separate processes.
`server`: the page, served to this machine alone.

Contract: everything but the server needs only Python and lark, and raises nothing.
"""
