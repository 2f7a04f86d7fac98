"""Display of values, formulas and explanations in terminals, on pages and as figures.

`colors`: one color for each axis.
`html`: writes formulas as HTML.
`token_classes`: classes of terminals, for highlighters.
`pygments_lexer`: a lexer for Pygments.
`highlighted`: a formula with colored axes, for every output.
`steps`: the steps of an explanation, as text and as a table.
`derivations`: the derivation of a closed form, with a rule for each equation.
`slides`: the steps as a page that shows one step at a time.
`code_libraries`: the names of operators in NumPy, PyTorch, JAX and plain Python.
`code_statements`: chooses the parts of a formula that get a separate line of code, and their names.
`code_writer`: writes the lines of a function.
`code_arrays`: writes statements as array expressions.
`code_elements`: numbers, elementwise operators and moved axes as array expressions.
`code_contractions`: contractions, reductions and matrices as array expressions, and the table of all rules.
`code_loops`: writes statements as nested loops.
`code_loop_rules`: writes one element of each operator for these loops.
`code`: writes a formula as readable code.
`pictures`: draws a tensor as a picture.
`flow_graph`: the nodes, edges and groups of a diagram.
`flow_trees`: operations on syntax trees for diagrams.
`flow_data`: finds the data in a program.
`flow`: the data flow of a program.
`diagram_layout`: computes positions for nodes.
`diagram_shapes`: the shapes, labels and styles of a drawing.
`diagram_drawing`: draws a graph as shapes.
`diagram_svg`: writes shapes as SVG.
`diagram_tikz`: writes shapes as TikZ.
`diagram_mermaid`: writes a graph as Mermaid.
`diagram_matplotlib`: writes shapes as PDF and PNG.
`diagram`: the class `Diagram`.

Contract: the package draws values, terms and formulas. It never runs a program.
"""
