"""Checker of documents: formulas in LaTeX, Markdown, notebooks and HTML, with errors at their lines.

`directives`: directives in comments.
`document`: the data of a document: its sections, their formulas, its macros.
`shown_axes`: whether a formula shows a named axis.
`maths`: locates the formulas and macros of a document.
`rows`: the rows of a display, and which of them to skip.
`verdicts`: results of random tests of assertions.
`report`: the findings of a check, and the skipped formulas.
`assembled`: formulas as one program, with a map to the document.
`shapes_alone`: shapes and types in running text.
`notation`: which formulas use this notation.
`claims`: the assertions of a program, each with the statements that it needs.
`assumptions`: assumptions of an assertion.
`random_values`: random sizes and sets of declared tensors, and estimates of assertions on random draws.
`trial`: random tests of assertions.
`conflicts`: formulas as one program, redefined names, and the statements that hold no more.
`inherited`: the statements that a section inherits from earlier sections.
`built_ins`: definitions that equal built-in functions.
`suffixes`: the file suffixes of documents.
`restructured_text`: formulas of reStructuredText.
`sections`: each section checked as a scope.
`unused`: names that are declared and not used.
`included_files`: a document with the files that it includes.
`root`: the document that includes a chapter, and its macros.
`reader`: the base of the readers of other formats.
`markdown`: converts Markdown, and the Markdown of a notebook, to such a document.
`hypertext`: converts HTML to such a document.
`loaded`: a document as a program, a formula by its label, and a file of assumptions before a document.
`load`: `nt.load_program`.
`python_source`: the formulas in a Python file.
`formula_checks`: the check of one formula of a file.
`findings`: the findings of a report, with their positions in a file.
`page`: a report for browsers.
`check_files`: `nt.check_document`.

Contract: it checks, and computes only to test assertions; whatever it skips is in the report with a reason.
"""
