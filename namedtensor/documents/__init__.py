"""Papers checked where they stand: formulas of LaTeX, Markdown, notebooks and HTML, with errors at their lines.

`remarks`: comments that speak to the checker.
`document`: a document as data, its sections, their maths and its macros.
`shown_axes`: which maths shows a named axis.
`maths`: where the maths of a document stands, and its macros.
`rows`: the rows of a display, and which of them to leave out.
`verdicts`: what comes of claims that are tried.
`report`: what a check found and what it skipped.
`assembled`: formulas as one program, and the way back to the document.
`shapes_alone`: shapes and types in running text.
`notation`: which maths is of this notation.
`estimates`: claims about what draws estimate.
`claims`: the claims of a program, each with what it needs.
`typed_programs`: claims, and what they need, typed.
`fitting_shapes`: the least shapes of what nothing says.
`suppositions`: what a claim takes for granted.
`trial`: claims tried on random tensors.
`superseded`: statements that hold no more.
`conflicts`: formulas as one program, and names that are defined again.
`inherited`: what a section has from those before it.
`sections`: each section checked as a scope.
`included_files`: a document with all the files that it includes.
`root`: the document that includes a chapter, and its macros.
`markdown`: Markdown as such a document.
`notebook`: the Markdown of a notebook.
`hypertext`: HTML as such a document.
`loaded`: a document as a program.
`labels`: a formula by its label.
`stated_facts`: a file of facts before a document.
`findings`: what a report says, each finding at its place in a file.
`page`: a report for browsers.

Law: it checks, and computes only where claims are tried; nothing is skipped without a reason in the report.
"""
