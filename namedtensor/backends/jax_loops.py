"""Loops in JAX source: scans with their derivatives, or single steps if these are faster or check integers."""

from __future__ import annotations

from .lines import LOOP

CHECKED_LOOP = '''
def checked_loop(step, states, slices, given, steps, kept, listed=()):
    """Run a loop over integers: step by step if the values are concrete and can be checked, or else traced by JAX."""
    run = loop_in_turn if all(map(is_concrete, jax.tree.leaves((states, slices, given)))) else loop
    return run(step, states, slices, given, steps, kept, listed)
'''
SCANNED = '''
def scan(step, states, slices, given, steps, kept, listed):
    """Run a step for each slice. Return the final states, and the `kept` states after each step."""
    return looked_up(step, steps, (*kept, *listed), states, tuple(slices), given)


scan = jax.jit(scan, static_argnums=(0, 4, 5, 6))


def loop(step, states, slices, given, steps, kept, listed=()):
    """Run all steps as one scan, or with one call each if a scan would copy very large arrays of the steps."""
    states, given = tuple(map(jnp.asarray, states)), tuple(map(jnp.asarray, given))
    if has_vast(slices) and all(map(is_concrete, jax.tree.leaves((states, slices, given)))):
        return loop_in_turn(jax.jit(step), states, slices, given, steps, kept, listed)
    return scan(step, states, slices, given, steps, kept, listed)
'''
SCANNED_FROM = 24  # steps with vast tensors: fewer steps are written out if a derivative is taken
VAST = 2**17  # elements of a tensor whose copy for a step takes longer than XLA's work for a step that is written out
LARGE = 2**14  # elements of a tensor that is looked up in its step; smaller ones are put together, which costs little
LOOKED_UP = f'''
def in_steps(once, steps, is_large, states, slices, others=()):
    """Return a function that scans `once` over all steps. Each call of `once` receives the states, and the elements of
    the slices and of `others` for its step. In a list of tensors, each step looks up a large tensor; small tensors are
    stacked before the scan."""
    large = [isinstance(each, list) and is_large(each[0]) for each in slices]
    turns = [*zip(*(each for each, own in zip(slices, large) if own))]
    along = [None if own else jnp.stack(each) if isinstance(each, list) else each for each, own in zip(slices, large)]

    def one(states, at):
        number, elements, further = at
        own = iter(jax.lax.switch(number, [lambda turn=turn: turn for turn in turns]) if turns else ())
        return once(states, [next(own) if each is None else each for each in elements], further)

    def scan(wrapped=lambda each: each):
        return jax.lax.scan(wrapped(one), states, (jnp.arange(steps), along, others), steps)

    return scan


def scanned(step, steps, kept, is_large, states, slices, given, wrapped=lambda each: each):
    """Run all steps as a scan. Return the final states, and the `kept` states after each step."""

    def once(states, elements, further):
        states = step(*states, *elements, *given)
        return states, tuple(states[number] for number in kept)

    states, through = in_steps(once, steps, is_large, states, slices)(wrapped)
    return (*states, *through)


def without_copies(one):
    """Return a step whose derivative stores no reshaped copies of its weights, but reshapes the weights again."""
    again = ("reshape", "transpose", "convert_element_type", "squeeze", "broadcast_in_dim")
    return jax.checkpoint(one, prevent_cse=False, policy=lambda primitive, *_, **__: primitive.name not in again)


def is_looked_up(each):
    """Return whether a tensor in a list is large enough that its step looks it up."""
    return each.size >= {LARGE}


def looked_up(step, steps, kept, states, slices, given):
    """Run the steps in the fastest way without a derivative. A GPU looks up no tensors, because it would have to wait."""
    waits = jax.default_backend() == "gpu"
    if waits and few(steps, slices):
        return loop_in_turn(jax.jit(step), states, slices, given, steps, kept)
    return scanned(step, steps, kept, lambda each: not waits and is_looked_up(each), states, slices, given)


def differentiated(step, steps, kept, values, changes):
    """Return the results of `looked_up` and their differentials."""
    leaves, tree = jax.tree.flatten(values)
    changes = jax.tree.leaves(changes, is_leaf=is_constant)
    if is_worth_steps(steps, *values[:2]):
        return step_by_step(step, steps, kept, values, jax.tree.unflatten(tree, changes))
    places = [place for place, each in enumerate(changes) if not is_constant(each)]

    def of(*moving):
        found = [*leaves]
        for place, each in zip(places, moving):
            found[place] = each
        states, slices, given = jax.tree.unflatten(tree, found)
        if few(steps, slices):
            return loop_in_turn(jax.jit(step), states, slices, given, steps, kept)
        return scanned(step, steps, kept, lambda each: False, states, slices, given, without_copies)

    return jax.jvp(of, [leaves[place] for place in places], [changes[place] for place in places])


def is_worth_steps(steps, states, slices):
    """Return whether a differential looks up tensors, which requires many steps and differentiable states."""
    own = any(isinstance(each, list) and is_looked_up(each[0]) for each in slices) and not few(steps, slices)
    return own and jax.default_backend() != "gpu" and all(jnp.issubdtype(each.dtype, jnp.inexact) for each in states)


def step_by_step(step, steps, kept, values, changes):
    """Return the results of `differentiated` for tensors that are looked up. A second scan receives the states before
    each step and recomputes the step, so that no step stores a copy of its tensors. Only differentials are stacked."""
    states, slices, given = values
    count = len(states)
    found = looked_up(step, steps, (*range(count),), states, slices, given)
    before = [jnp.concatenate([first[None], each[:-1]]) for first, each in zip(states, found[count:])]
    moved = [together(*pair) for pair in zip(slices, changes[1])]
    which = [each is not None for each in moved]
    also = [not is_constant(each) for each in changes[2]]

    def once(changes_of_states, elements, further):
        states, moved = further

        def of(states, moving, more):
            moving, more = iter(moving), iter(more)
            own = [next(moving) if each else element for each, element in zip(which, elements)]
            same = [next(more) if each else value for each, value in zip(also, given)]
            return step(*states, *own, *same)

        own = [element for element, each in zip(elements, which) if each]
        same = [value for value, each in zip(given, also) if each]
        more = [change for change, each in zip(changes[2], also) if each]
        _, after = jax.jvp(of, (states, own, same), (list(changes_of_states), moved, more))
        return after, tuple(after[number] for number in kept)

    first = tuple(jnp.zeros_like(state) if is_constant(each) else each for state, each in zip(states, changes[0]))
    others = before, [each for each in moved if each is not None]
    scan = in_steps(once, steps, is_looked_up, first, slices, others)
    after, through = scan(lambda one: jax.checkpoint(one, prevent_cse=False))
    return (*found[:count], *(found[count + number] for number in kept)), (*after, *through)


def together(own, changes):
    """Return the differentials of a slice, stacked along the axis of the steps, or None if the slice is constant."""
    if not isinstance(own, list):
        return None if is_constant(changes) else changes
    if all(map(is_constant, changes)):
        return None
    return jnp.stack([jnp.zeros_like(each) if is_constant(change) else change for each, change in zip(own, changes)])


def has_vast(slices):
    """Return whether the steps have very large tensors in separate arrays."""
    return any(isinstance(each, list) and each[0].size >= {VAST} for each in slices)


def few(steps, slices):
    """Return whether so few steps have very large tensors that a derivative is faster if the steps are written out."""
    return steps < {SCANNED_FROM} and has_vast(slices)


def is_constant(change):
    """Return whether a differential is the differential of a constant."""
    return isinstance(change, jax.custom_derivatives.SymbolicZero)


looked_up = jax.custom_jvp(looked_up, nondiff_argnums=(0, 1, 2))
looked_up.defjvp(differentiated, symbolic_zeros=True)
'''
IN_TURN = LOOP.replace("def loop", "def loop_in_turn").replace("stacked", "jnp.stack")
