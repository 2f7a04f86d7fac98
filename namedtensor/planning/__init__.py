"""The planner, which converts terms to a plan of primitive steps on positional arrays for one library.

`plan`: values, steps, plans.
`primitives`: the table of primitive steps, and the invariants of plans.
`target`: a library as plans see it.
`optimizations`: the optimizations, each with its rewrite identity.
`intervals`: bounds of integers.
`whole_numbers`: promotion of integers, and when floats replace them.
`dtypes`: the dtype of each step.
`sums_as_products`: sums that a product computes.
`step_builder`: creates steps, sharing equal ones; constants and casts; the guarded fast path and its fallback.
`builder`: converts named operations to steps.
`failures`: converts errors of libraries to errors of the formula.
`lowering`: the state of rules and rewrites.
`slice_update`: the update of one slice of an array.
`structural`: one rule for each structural term.
`loop_steps`: a loop as one step.
`contraction_order`: the cheapest order of a chain of products.
`fused_kernels`: expressions with a kernel in the library.
`scaled_integers`: products and elements of integers with a scale.
`merged_projections`: one product for several weights.
`online_softmax`: softmax over a long axis, slice by slice.
`regions`: expressions that can be tiled.
`core_use`: the number of cores for a region.
`blocking`: a tiled region as one step.
`planner`: the tables of rules, rewrites and analyses, and make_plan, which applies them.
`memory`: reuse in place, workspaces, last uses.
`cost`: the cost of a plan.

Contract: it uses nodes only for spans and libraries only by `Target`; rules and rewrites take `Lowering`, never the planner.
"""
