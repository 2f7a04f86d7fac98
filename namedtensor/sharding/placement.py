"""Placement of values during computation: of parameters, of named values, and of values in loop steps.

A parameter that is stored in parts is gathered before a formula uses it. Inside a loop, each step gathers only its own
member, and scatters the gradient of this member. The steps of such loops are recomputed for their gradients, except for
the values that `save` names. Therefore, a step does not keep gathered parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..tensors.pytrees import jax_module
from ..terms.environment import source_name
from ..terms.terms import Term
from .sharding import Sharding

Place = Callable[[Any], Any]


class ComputePlacement:
    """The `Placement` for a plan that follows the rules of `sharding`.

    `parameters` contains the names of the tensors that are stored by the rules. `values` maps source spans to the names
    of values that have rules or are saved.
    """

    def __init__(self, sharding: Sharding, parameters: Collection[str], values: Mapping[Any, str]):
        self.sharding, self.parameters, self.values = sharding, parameters, values
        self.spread: Mapping[str, int] = sharding.computed.spread
        self.kernels: dict[str, Any] = {"loop": loop_that_saves(sharding.save)} if sharding.computes_again else {}

    def of_input(self, name: str, sizes: Mapping[str, int]) -> Place | None:
        """Return the function that moves a parameter to its placement for computation, or None if no move is needed."""
        if name not in self.parameters:
            return None
        axes, extent = tuple(sizes), tuple(sizes.values())
        stored = self.sharding.placed_as(name, axes, extent)
        computed = self.sharding.computed.placed_as(name, axes, extent)
        return None if stored == computed else make_gather(stored, computed)

    def of_value(self, term: Term, sizes: Mapping[str, int]) -> Place | None:
        """Return the function that places a named value or a product, or None if it is neither placed nor saved."""
        name = self.values.get(term.node.span)
        if name is None:
            return self._place_product(term, sizes) if self.sharding.of_values else None
        rules = self.sharding.of_values.get(name)
        placed = None if rules is None else rules.placed_as(name, tuple(sizes), tuple(sizes.values()))
        return make_saved_name(name if name in self.sharding.save else None, placed)

    def _place_product(self, term: Term, sizes: Mapping[str, int]) -> Place | None:
        """Return the function that places a matrix product by the rules of computation.

        Later products therefore do not inherit the rules of a named value. Return None if the term is not a product, if
        a summed axis is sharded, or if a mesh axis in the rules of named values does not shard the result.
        """
        is_product = bool(term.axes) and term.operator in ("⊙", "∑")
        if not is_product or not self.spread.keys().isdisjoint(map(source_name, term.axes)):
            return None
        computed = self.sharding.computed
        meshed = {over for axis in sizes for over in computed.rules.get(axis, ())}
        missing = {
            over for placed in self.sharding.of_values.values() for rule in placed.rules.values() for over in rule
        } - meshed
        return (
            None
            if missing
            else make_saved_name(None, computed.placed_as("a product", tuple(sizes), tuple(sizes.values())))
        )


def make_gather(stored: Any, computed: Any) -> Place:
    """Return the function that moves an array from its stored placement to its placement for computation.

    In the backward pass, the function sums the gradient along the axes of computation, and scatters it.
    """
    constrain = jax_module().lax.with_sharding_constraint
    return lambda array: constrain(constrain(array, stored), computed)


def make_saved_name(saved: str | None, placed: Any) -> Place:
    """Return a function that moves a value to the placement `placed` and gives it the name `saved`.

    If an argument is None, the function omits this action.
    """
    jax = jax_module()
    from jax.ad_checkpoint import checkpoint_name  # type: ignore[import-not-found]

    def mark(array: Any) -> Any:
        if placed is not None:
            array = jax.lax.with_sharding_constraint(array, placed)
        return array if saved is None else checkpoint_name(array, saved)

    return mark


def loop_that_saves(names: Sequence[str]) -> Callable[..., Any]:
    """Return a function that runs a loop as a scan. For gradients, it saves only the states and the named values."""
    jax = jax_module()
    policy = jax.checkpoint_policies.save_only_these_names(*names)

    def loop(
        step: Callable[..., Any], states: Any, slices: Any, given: Any, steps: int, members: Any, listed: Any = ()
    ) -> Any:
        along = [jax.numpy.stack(part) if isinstance(part, list) else part for part in slices]

        def once(states: Any, elements: Any) -> Any:
            states = step(*states, *elements, *given)
            return states, tuple(states[number] for number in (*members, *listed))

        one = jax.checkpoint(once, prevent_cse=False, policy=policy)
        states, through = jax.lax.scan(one, tuple(jax.numpy.asarray(state) for state in states), along, steps)
        return (*states, *through)

    return loop
