"""Terms become a plan, primitive steps on positional arrays, for one library.

`plan`: values, steps, plans.
`primitives`: the table of what a plan is made of, and what holds for every plan.
`target`: a library as plans see it.
`optimizations`: what makes plans faster, each with its law.
`intervals`: bounds of whole numbers.
`whole_numbers`: where they fit, and where floats take over.
`dtypes`: the dtype of each step.
`sums_as_products`: sums that a product computes.
`fast_path`: the guarded fast path and its fallback.
`step_builder`: steps, equal ones once; constants and casts.
`builder`: named operations become steps.
`failures`: errors of libraries, as errors of the formula.
`lowering`: the state that rules and rewrites take.
`slice_update`: the update of one slice of an array.
`structural`: one rule for each structural term.
`loop_steps`: a loop as one step.
`rewrites`: the table of rewrites, in order.
`contraction_order`: chains of products in their cheapest order.
`fused_kernels`: what a library has a kernel for.
`merged_projections`: one product for several weights.
`online_softmax`: softmax over a long axis, slice by slice.
`regions`: what can be computed in tiles.
`core_use`: how many cores compute it.
`blocking`: a region as one step.
`planner`: make_plan: the tables put together.
`memory`: reuse in place, workspaces, last uses.
`cost`: what a plan costs.

Law: it knows no node but as a span and no library but by `Target`; rules and rewrites take `Lowering`, never the planner.
"""
