"""Formulas compared, exercises marked: what a class hands in, and what is said of it.

`spelling`: formulas as one text.
`values`: tensors as plain numbers, and formulas computed on them.
`random_numbers`: the same draws with NumPy and without.
`settings`: what two formulas are compared on: names, sizes, draws.
`comparison`: two values, record by record.
`differences`: how they differ, in words.
`mutants`: slips that nobody wrote down.
`equivalence`: `nt.equivalent`.
`code_differences`: where a module that was read parts from a formula.
`exercise_files`: exercises as they are written.
`references`: what answers are compared with: the model, or what a released file keeps.
`einsum`: calls of einsum as formulas.
`verdicts`: what ends the marking of an answer.
`type_answers`: answers that are types and signatures.
`marking`: an answer of each kind.
`sheets`: `nt.exercises`.
`grading`: files proved, released, marked for graders.
`magics`: `%%nt` and `%%exercise` in notebooks.

Law: it asks programs for values and never looks inside them; nothing but the command line and notebooks imports it.
"""
