"""Papers checked where they stand: formulas of LaTeX and Markdown documents, with errors at their lines.

`maths`: the sections of a document, its maths and its macros.
`report`: what a check found and what it skipped.
`assembled`: formulas as one program, and the way back to the document.
`notation`: which maths is of this notation.
`sections`: each section checked as a scope.
`included_files`: a document with all the files that it includes.
`markdown`: Markdown as such a document.

Law: it checks and never computes; nothing is skipped without a reason in the report.
"""
