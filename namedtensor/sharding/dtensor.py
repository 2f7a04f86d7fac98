"""DTensor placements for PyTorch, by axis names and with the same rules as `Sharding`.

mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,), mesh_dim_names=("model",))
placed = distribute({"hidden": "model"}, mesh, {"W_1": W_1, "b_1": b_1})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grammar.errors import NotationError

from ..core.array_data import concrete
from ..core.axes import check_axis, names_of, show
from ..core.suggestions import did_you_mean, near
from ..tensors.values import convert_value


def placements(rules: Mapping[str, Any], mesh: Any, axes: str | Sequence[str], sizes: Sequence[int] = ()) -> list[Any]:
    """Return the placements of an array with these axes. There is one for each dimension of a PyTorch DeviceMesh.

    As for `Sharding`, a rule names the mesh dimensions that shard an axis. The other dimensions replicate the axis.

    Raises
    ------
    NotationError
        If a mesh dimension is unknown (201), two axes use one dimension (303), or a size is not divisible (310).
    """
    from torch.distributed.tensor import Replicate, Shard

    names = tuple(mesh.mesh_dim_names or ())
    order = names_of(axes)
    result: list[Any] = [Replicate()] * len(names)
    for axis, rule in rules.items():
        for over in () if rule is None else (rule,) if isinstance(rule, str) else rule:
            if over not in names:
                raise NotationError(
                    201, f"the mesh has no axis {over}, required by the rule of axis {axis}",
                    hint=did_you_mean(near(over, names)) or f"write {' or '.join(names) or 'a mesh with mesh_dim_names'}",
                )  # fmt: skip
            if check_axis(axis) not in order:
                continue
            at = names.index(over)
            if not isinstance(result[at], Replicate):
                raise NotationError(
                    303, f"the rules shard both axes {order[result[at].dim]} and {axis} over {over}",
                    hint="shard one of them over another mesh axis, or remove it from the rules",
                )  # fmt: skip
            if sizes and sizes[order.index(axis)] % mesh.size(at):
                raise NotationError(
                    310, f"axis {axis} has size {sizes[order.index(axis)]}, not divisible by mesh axis {over} ({mesh.size(at)})",
                    notes=(show(dict(zip(order, sizes))),), hint=f"make the size a multiple of {mesh.size(at)}",
                )  # fmt: skip
            result[at] = Shard(order.index(axis))
    return result


def distribute(rules: Mapping[str, Any], mesh: Any, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of named tensors, by name, as DTensors that the rules place on a DeviceMesh.

    Raise NotationError if a rule is for an axis that no tensor has.
    """
    import torch
    from torch.distributed.tensor import distribute_tensor

    unknown = set(rules) - {axis for tensor in tensors.values() for axis in getattr(tensor, "axes", ())}
    if unknown:
        axis, known = min(unknown), sorted({axis for tensor in tensors.values() for axis in tensor.axes})
        raise NotationError(
            201, f"sharding rule for unknown axis {axis}: not in the tensors", notes=(f"they have {', '.join(known)}",),
            hint=did_you_mean(near(axis, known)) or f"remove {axis} from the rules",
        )  # fmt: skip
    result: dict[str, Any] = {}
    for name, value in tensors.items():
        tensor = convert_value(value, name)
        array = tensor.array if isinstance(tensor.array, torch.Tensor) else torch.as_tensor(concrete(tensor.array))
        result[name] = distribute_tensor(array, mesh, placements(rules, mesh, tensor.axes, tuple(array.shape)))
    return result
