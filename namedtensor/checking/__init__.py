"""From nodes to terms: every name, axis and size found, or an error that teaches.

Files, as they are read: `checker` has the table of rules, one for each kind of node; `report` checks a whole program.

    declarations, given_names, given_sizes      what is given, against what is declared and spoken of
    lookup, families, unknown_names             what a name stands for; members of families; what may have been meant
    calls, lifting, hygiene                     which function a use means; its body typed for its arguments
    application, diagnostics                    operators on typed operands; shapes that do not fit, in words
    elements, indexing, sums, cases, renames, literals     the other rules
    loops, counting, along                      recurrences typed once, as loops; members along an axis
    size_solver, size_facts, made_sizes, axis_sizes        |ax| and n of seq[n]
    claims                                      what a program states

Law: a rule knows an `Inference` (`terms.inference`), and other files only downward; no planning, no library of arrays.
"""
