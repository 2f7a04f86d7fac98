"""Checker for formulas in LaTeX, Markdown, notebooks and HTML, which reports each error at its line.

`directives`: directives in comments.
`document`: the data of a document: its sections, formulas and macros, and the findings about them.
`shown_axes`: detects named axes in formulas.
`maths`: locates the formulas and macros of a document.
`rows`: splits a display into rows and finds the rows to skip.
`verdicts`: results of random tests of assertions.
`assembled`: joins formulas into one program and maps its positions to the document.
`shapes_alone`: shapes and types in running text.
`notation`: selects the formulas that use this notation.
`claims`: splits a program into its assertions, each with the statements that it needs.
`assumptions`: assumptions that an assertion makes.
`random_values`: random sizes and sets for declared tensors, and estimates of assertions on random draws.
`trial`: random tests of assertions.
`conflicts`: finds redefined names, and drops the statements that a redefinition invalidates.
`inherited`: finds the statements that a section inherits from earlier sections.
`built_ins`: recognizes definitions that equal built-in functions.
`suffixes`: the file suffixes of documents.
`restructured_text`: converts reStructuredText to LaTeX.
`sections`: checks each section as a scope.
`unused`: finds names that are declared but not used.
`included_files`: inserts included files into a document.
`root`: finds the document that includes a chapter, and its macros.
`reader`: the base class of the readers for Markdown, HTML and reStructuredText.
`markdown`: converts Markdown files and notebooks to LaTeX.
`hypertext`: converts HTML to LaTeX.
`loaded`: reads a document as a program, finds a formula by its label, and adds assumptions from a file.
`load`: `nt.load_program`.
`python_source`: finds the formulas in a Python file.
`formula_checks`: checks one formula of a file.
`findings`: maps the findings of a report to positions in files.
`page`: writes a report as an HTML page.
`check_files`: `nt.check_document`.

Contract: the package checks formulas. It computes values only to test assertions, and it reports a reason for each
formula that it skips.
"""
