"""Planning: terms become a plan, primitive steps on positional arrays, for one library.

In the order in which they are read:

    plan, primitives                 the plan; the table of its primitives, and what holds for every plan
    target, optimisations            a library as plans see it; what makes plans faster, each with its law
    intervals, whole_numbers, dtypes, sums_as_products, fast_path, builder     named operations become steps
    failures, lowering, structural, loop_steps      terms become values: the state, a rule for each structural term
    rewrites                         a term by another plan, in order: contraction_order, fused_kernels,
                                     merged_projections, online_softmax
    regions, blocking                what can be computed in tiles, and a region as one step
    planner                          make_plan: the tables put together
    memory, cost                     reuse in place, workspaces, last uses; what a plan costs

Its law: it knows no node but as a span, and no library but by `Target`. Rules and rewrites take `Lowering`, never the planner.
"""
