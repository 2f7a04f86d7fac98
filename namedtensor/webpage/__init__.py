"""The playground: one web page, and the Python functions that it calls.

`requests`: parses the fields of a request.
`guesses`: infers the smallest types that make a formula valid.
`sizes`: chooses sizes for axes without a given size.
`typed`: gives each input of a formula a type.
`marked_latex`: LaTeX with the source position of each piece.
`replies`: converts types, errors and axes to plain data.
`check`: the types of all parts of a formula.
`translate`: translates matrices, indices and array code to named tensor notation.
`stages`: the steps of a formula, and the operands of each step.
`plans`: computes the values of the steps in a JavaScript function.
`blackboard`: shows a step in symbols, types and numbers.
`code`: writes a formula as loops or as a function of another library.
`derive`: the derivative of a formula, and its derivation.
`exercises`: exercises, the grading of answers, and the comparison of two formulas.
`site`: the address where the page is published.
`examples`: the gallery.
`paragraphs`: the explanation of an error in the docs.
`complete`: possible continuations of a formula.
`answers`: answers requests, and documents the protocol.
`worker`: answers requests in separate processes.
`server`: serves the page to this machine only.

Contract: all modules except the server need only Python and lark, and `answers.answer` raises no exceptions.
"""
