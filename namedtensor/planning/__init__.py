"""The planner, which converts terms to a plan of primitive steps on positional arrays for one library.

`plan`: values, steps and plans.
`primitives`: the table of primitive steps, and the invariants of plans.
`target`: the properties of a library that plans use.
`optimizations`: the optimizations, each with the identity that it relies on.
`intervals`: bounds of integers.
`whole_numbers`: promotion of integers, including the cases in which floats replace them.
`dtypes`: the dtype of each step.
`sums_as_products`: sums that are computed by a product.
`step_builder`: construction of steps, constants and casts, and the guarded fast path with its fallback.
`builder`: translation of named operations to steps.
`failures`: conversion of library exceptions to errors that show the failing part of the formula.
`lowering`: the state that rules and rewrites share.
`slice_update`: the update of one slice of an array.
`structural`: one rule for each structural term.
`loop_steps`: lowering of a loop to one step.
`contraction_order`: the cheapest order for a chain of products.
`fused_kernels`: expressions for which the library has a kernel.
`scaled_integers`: products with scaled 8-bit integers, and single elements of scaled integers.
`online_softmax`: softmax over a long axis, computed one slice at a time.
`regions`: expressions that can be tiled.
`core_use`: the number of cores for a region.
`blocking`: a tiled region as one step.
`planner`: the tables of rules, rewrites and analyses, and `make_plan`, which applies them.
`memory`: in-place reuse, workspaces, and the last use of each value.
`cost`: the cost of a plan.

Contract: this package uses nodes only for spans, and libraries only through `Target`. The modules of rules and rewrites
import `lowering`, but not `planner`.
"""
