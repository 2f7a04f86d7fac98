"""Training under sharding rules: one compiled step of a loss, its gradients and an optimizer written as a program.

Each optimizer state is placed like its parameter. Gradients can be accumulated over an axis, such as
`micro`. Each step of the accumulation loop then uses one element of this axis.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from grammar.cache import cached_property
from grammar.errors import NotationError

from ..core.suggestions import did_you_mean, near
from ..core.tensor import NamedTensor, wrap_array
from ..tensors.pytrees import jax_module, keep_language_errors
from .device_cost import DeviceCost, device_cost
from .placement import ComputePlacement
from .sharding import Sharding

# Adam (D. P. Kingma, J. Ba, Adam: A Method for Stochastic Optimization, 2015, Algorithm 1)
ADAM = """
M = β_1 m + (1 − β_1) g
S = β_2 s + (1 − β_2) g ⊙ g
W = θ − α (M / (1 − β_1^t)) / (√(S / (1 − β_2^t)) + ε)
"""
RATES = {"α": 1e-3, "β_1": 0.9, "β_2": 0.999, "ε": 1e-8}
PARAMETER, NEXT, GRADIENT, STEP = "θ", "W", "g", "t"
State = dict[str, Any]


class Training:
    """The training step of a sharded program. `begin` returns the first state, and `step` the next state and the loss.

    `update` is a program for one parameter θ with its gradient g at step t, and W is the next value of θ. A capital
    letter such as M at one step becomes m at the next step. A state contains the parameters under θ and the step number
    under t. For each other letter, it contains a tensor for each parameter.
    """

    sharded: Any
    loss: str
    update: Any
    rates: dict[str, float]
    accumulate: str | None
    sizes: Mapping[str, int] | None
    constants: dict[str, float]
    entry: Any

    def __init__(
        self, sharded: Any, loss: str, update: Any, rates: Mapping[str, float] | None = None,
        accumulate: str | None = None, sizes: Mapping[str, int] | None = None, constants: Mapping[str, float] | None = None,
    ):  # fmt: skip
        self.sharded, self.loss, self.update = sharded, loss, update
        self.rates = {**RATES, **(rates or {})}
        self.accumulate, self.sizes, self.constants = accumulate, sizes, dict(constants or {})
        self.entry = sharded[loss]
        self._stored = ComputePlacement(Sharding(sharded.sharding.rules, sharded.mesh), (), {})
        defined = [str(name) for name in update.names]
        if NEXT not in defined:
            raise NotationError(
                201, f"the update does not define {NEXT}, the next value of a parameter {PARAMETER}",
                hint=f"write {NEXT} = {PARAMETER} − α {GRADIENT}",
            )  # fmt: skip
        self.states: dict[str, str] = {name.lower(): name for name in defined if name != NEXT and name != name.lower()}

    # ------------------------------------------------------------------------------------------------------- the state
    def begin(self, parameters: Mapping[str, Any]) -> State:
        """Return the initial state: the parameters on the devices, and zeros for the state of the optimizer."""
        jax = jax_module()
        placed = {
            name: value for name, value in self.sharded.place(parameters).items() if isinstance(value, NamedTensor)
        }
        numbers = {name: value for name, value in parameters.items() if name not in placed}
        if numbers:
            self.constants |= numbers
        return {
            PARAMETER: placed,
            **{name: {key: _zeros(value) for key, value in placed.items()} for name in self.states},
            STEP: jax.numpy.zeros((), "int32"),
        }

    def abstract_state(self, parameters: Mapping[str, Any]) -> State:
        """Return the initial state for parameters without values. No array of numbers is created."""
        jax = jax_module()
        placed = self.sharded.place(parameters)
        whole = jax.sharding.NamedSharding(self.sharded.mesh, jax.sharding.PartitionSpec())
        return {
            PARAMETER: placed,
            **{name: dict(placed) for name in self.states},
            STEP: jax.ShapeDtypeStruct((), "int32", sharding=whole),
        }

    def save(self, folder: Any, state: State, keep: int = 2) -> None:
        """Write a checkpoint of a state. Each process writes its own shards. The last `keep` checkpoints are kept."""
        from .checkpoints import flat_state, save_step

        save_step(folder, int(state[STEP]), flat_state(state, STEP), keep)

    def load(self, folder: Any) -> State | None:
        """Load the last complete checkpoint in a folder onto this mesh and return its state, or None if there is none.

        A different mesh may have written the checkpoint.
        """
        from .checkpoints import load_last, nest_state

        last = load_last(folder, self.sharded.sharding)
        return None if last is None else nest_state(last[1], STEP)

    # -------------------------------------------------------------------------------------------------------- one step
    def step(self, state: State, **inputs: Any) -> tuple[State, Any]:
        """Run one step. Return the next state, which reuses the memory of `state`, and the loss before the step."""
        with keep_language_errors():
            return self._compiled(state, self._place_inputs(inputs))

    def traced(self, state: State, **inputs: Any) -> Any:
        """Return the step as `jax.stages.Traced`. The state and inputs can be shapes, as in `Sharded`."""
        with keep_language_errors():
            return self._compiled.trace(state, self._place_inputs(inputs))

    def cost(self, state: State, **inputs: Any) -> DeviceCost:
        """Return the cost of a step on each device. The step is compiled but not run."""
        return device_cost(self.traced(state, **inputs).lower().compile(), self.sharded.mesh)

    def _place_inputs(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        abstract = self.sharded.abstract_input
        result = {
            name: abstract(value) if isinstance(value, (str, Mapping)) else value for name, value in inputs.items()
        }
        if self.accumulate is not None and not any(self.accumulate in value.axes for value in result.values()):
            axes = sorted({axis for value in result.values() for axis in value.axes})
            raise NotationError(
                201, f"gradients are accumulated over {self.accumulate}, but no input has this axis",
                notes=(f"they have {', '.join(axes) or 'none'}",),
                hint=did_you_mean(near(self.accumulate, axes)) or f"give an input the axis {self.accumulate}",
            )  # fmt: skip
        return self.sharded.place_inputs(result)

    @cached_property
    def _compiled(self) -> Any:
        return jax_module().jit(self.function, donate_argnums=0)

    def function(self, state: State, inputs: Mapping[str, Any]) -> tuple[State, Any]:
        """Return the next state and the loss for a state and inputs on the devices. JAX can transform this method."""
        jax = jax_module()
        parameters = state[PARAMETER]
        error, slopes = self._accumulate_gradients(jax.value_and_grad(self._error), parameters, inputs)
        number = state[STEP] + 1
        result: State = {STEP: number}
        result |= {name: dict[str, Any]() for name in (PARAMETER, *self.states)}
        names = (NEXT, *self.states.values())
        for name, value in parameters.items():
            given = {PARAMETER: value, GRADIENT: slopes[name], **{key: state[key][name] for key in self.states}}
            given[STEP] = wrap_array(number.astype(value.array.dtype), ())
            values = self.update[names]._run_placed((), {**self.rates, **given}, {}, self._stored)
            for key, after in zip((PARAMETER, *self.states), values):
                result[key][name] = self._match_parameter(name, after, value)
        return result, error

    def _match_parameter(self, name: str, after: NamedTensor, before: NamedTensor) -> NamedTensor:
        """Return a parameter's new value, with the axis order, dtype and placement of its old value."""
        array = after.array.transpose([after.axes.index(axis) for axis in before.axes]).astype(before.array.dtype)
        return self.sharded.sharding.constrain_placement(name, wrap_array(array, before.axes))

    def _error(self, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> Any:
        """Return the loss for these parameters and inputs, averaged over any axes that the loss is lifted over."""
        value = self.entry(values={**parameters, **self.constants}, sizes=self.sizes, **inputs)
        return jax_module().numpy.mean(value.array.astype("float32"))

    def _accumulate_gradients(
        self, of: Callable[..., Any], parameters: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Return the loss and its gradients, averaged over the accumulation axis and computed one part at a time."""
        if self.accumulate is None:
            return of(parameters, inputs)
        jax, axis = jax_module(), self.accumulate
        same = {name: value for name, value in inputs.items() if axis not in value.axes}
        orders = {name: tuple(a for a in value.axes if a != axis) for name, value in inputs.items() if name not in same}
        along = {name: inputs[name].to_array((axis, *order)) for name, order in orders.items()}

        def one(total: Any, arrays: Mapping[str, Any]) -> tuple[Any, None]:
            parts = {name: wrap_array(array, orders[name]) for name, array in arrays.items()}
            return jax.tree.map(jax.numpy.add, total, of(parameters, same | parts)), None

        count = next(iter(along.values())).shape[0]
        zero = jax.numpy.zeros((), "float32"), jax.tree.map(jax.numpy.zeros_like, parameters)
        total, _ = jax.lax.scan(one, zero, along)
        return jax.tree.map(partial(_divide_batch, count), total)


def _divide_batch(count: int, array: Any) -> Any:
    return array / count


def _zeros(tensor: NamedTensor) -> NamedTensor:
    """Return zeros with a tensor's axes, dtype and placement. Each process creates only its own part."""
    jax = jax_module()
    like = tensor.array
    make = jax.jit(lambda: jax.numpy.zeros(like.shape, like.dtype), out_shardings=like.sharding)
    return wrap_array(make(), tensor.axes)
