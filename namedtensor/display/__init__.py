"""Display of values, formulas and explanations: in terminals, on pages, as figures.

`colors`: one color for each axis.
`html`: formulas for pages.
`token_classes`: classes of terminals, for highlighters.
`pygments_lexer`: a lexer for Pygments.
`highlighted`: a formula with colored axes, wherever it is shown.
`steps`: the steps of an explanation, as text and as a table.
`derivations`: the derivation of a closed form, each equation beside its rule.
`slides`: the steps as a page that steps through them.
`code_libraries`: the names of operators in NumPy, PyTorch, JAX and plain Python.
`code_statements`: which parts of a formula get a line of code, and their names.
`code_writer`: the lines of a function.
`code_arrays`: statements as expressions of arrays.
`code_elements`: numbers, elementwise operators and moved axes as array expressions.
`code_contractions`: contractions, reductions and matrices as array expressions, and the table of all rules.
`code_loops`: statements as nested loops.
`code_loop_rules`: one element of each operator, as loops compute it.
`code`: a formula as code that a person reads.
`pictures`: a tensor as a picture.
`flow_graph`: nodes, edges and groups of a diagram.
`flow_trees`: pieces of formulas in it.
`flow_data`: where data are.
`flow`: the path of each value.
`diagram_layout`: places for nodes.
`diagram_shapes`: shapes, labels and styles of a drawing.
`diagram_drawing`: a graph as shapes.
`diagram_svg`: shapes as SVG.
`diagram_tikz`: shapes as TikZ.
`diagram_mermaid`: a graph as Mermaid.
`diagram_matplotlib`: shapes as PDF and PNG.
`diagram`: Diagram.

Contract: it draws values, terms and formulas, and never runs a program.
"""
