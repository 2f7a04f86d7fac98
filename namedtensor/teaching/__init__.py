"""Comparison of formulas and grading of exercises.

`spelling`: formulas in one normalized format.
`values`: formulas computed on plain numbers.
`settings`: the inputs that two formulas are compared on: names, sizes, random inputs.
`comparison`: compares two values element by element.
`differences`: describes how they differ.
`mutants`: generated common mistakes.
`judgment`: values compared with expected values.
`equivalence`: `nt.equivalent`.
`code_differences`: the first difference of a PyTorch module from a formula.
`function_tests`: the random tests of functions.
`follows`: `nt.follows`.
`exercise_files`: the format of exercise files.
`references`: the references of answers: the reference solution, or the data of a released file.
`einsum`: calls of einsum as formulas.
`verdicts`: exceptions that end the grading of an answer.
`type_answers`: answers that are types and signatures.
`grading`: grades answers by exercise type.
`drawings`: inputs, the expected value and the answer's value, for display.
`course`: the exercises of the lessons, `lessons/*.nt`.
`sheets`: `nt.exercises`.
`sheet_files`: validates and releases files.
`submissions`: submitted files, their students and their answers.
`class_grades`: the grades of a class.
`grade_formats`: grades for Moodle, Gradescope, nbgrader, spreadsheets and programs.
`class_report`: the commonest mistakes of a class.
`magics`: `%%nt` and `%%exercise` in notebooks.

Contract: it uses programs only by their values; only the command line, the playground and notebooks import it.
"""
