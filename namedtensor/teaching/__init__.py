"""Comparison of formulas, and grading of exercises.

`spelling`: converts formulas to one normalized format.
`values`: computes formulas on plain numbers.
`settings`: the names, sizes and random inputs of a comparison.
`comparison`: compares two values element by element.
`differences`: describes how two values differ.
`mutants`: generates versions of a solution with one common mistake.
`judgment`: judges values against expected values.
`equivalence`: `nt.equivalent`.
`code_differences`: finds the first difference between a PyTorch module and a formula.
`function_tests`: random tests of functions.
`follows`: `nt.follows`.
`exercise_files`: the format of exercise files.
`references`: reference answers from a solution, or from the data of a released file.
`einsum`: translates einsum calls to formulas.
`verdicts`: exceptions that end the grading of an answer.
`type_answers`: grades answers that are types or signatures.
`forbidden`: finds operators that an exercise forbids.
`grading`: grades answers by exercise type.
`drawings`: small inputs, expected values and answers, for display.
`course`: the exercises of the lessons, `lessons/*.nt`.
`sheets`: `nt.exercises`.
`sheet_files`: validates and releases exercise files.
`submissions`: reads submitted files with their students and answers.
`class_grades`: the grades of a class.
`grade_formats`: writes grades for Moodle, Gradescope, nbgrader, spreadsheets and programs.
`class_report`: reports the most common mistakes of a class.
`magics`: `%%nt` and `%%exercise` in notebooks.

Contract: the package uses programs only through their values. Only the command line, the playground and notebooks
import it.
"""
