"""The subject of a translation, which is a module or function, called with its parameters and inputs by name."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.func import functional_call
from torch.utils import _pytree as pytree

from grammar.errors import NotationError

from .torch_replacements import Masks
from .torch_trace import Subject

NN = torch.nn
DROPOUT = (NN.Dropout, NN.Dropout1d, NN.Dropout2d, NN.Dropout3d, NN.AlphaDropout, NN.FeatureAlphaDropout)
OF_TRAINING = (*DROPOUT, NN.BatchNorm1d, NN.BatchNorm2d, NN.BatchNorm3d, NN.SyncBatchNorm)


def subject_of(
    module: Any, inputs: Sequence[Any], named: Mapping[str, Any], training: bool = False
) -> tuple[Subject, dict[str, torch.Tensor]]:
    """Return the subject of the translation, and its input tensors by parameter name."""
    if not callable(module):
        raise NotationError(208, f"from_torch takes a module or a function, not {type(module).__name__}")
    function = module.forward if isinstance(module, torch.nn.Module) else module
    listed = arguments_of(function, inputs, named)
    if missing := find_missing(function, listed):
        inputs_shown = ", ".join(f"{name}=torch.randn(2, 3)" for name in missing)
        raise NotationError(
            405,
            f"no example input for {', '.join(missing)}",
            hint=f"pass one, such as nt.from_torch(…, {inputs_shown})",
        )
    leaves, tree = pytree.tree_flatten_with_path(listed)
    tensors = {name_tree_path(path): leaf for path, leaf in leaves if isinstance(leaf, torch.Tensor)}

    def arguments(values: Mapping[str, torch.Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        again = pytree.tree_unflatten([values.get(name_tree_path(path), leaf) for path, leaf in leaves], tree)
        words = list(listed)
        positional = tuple(again[word] for word in words[: len(inputs)])
        return positional, {word: again[word] for word in words[len(inputs) :]}

    if not isinstance(module, torch.nn.Module):

        def call(_: Any, values: Mapping[str, torch.Tensor]) -> Any:
            positional, keywords = arguments(values)
            return module(*positional, **keywords)

        return Subject(call, {}, {}, {}, masks=Masks() if training else None), tensors
    copied = copy.deepcopy(module).train(training)

    def forward(state: Any, values: Mapping[str, torch.Tensor]) -> Any:
        return functional_call(copied, state, *arguments(values))

    paths = {id(part): name for name, part in copied.named_modules()}
    parameters = {name: parameter.detach() for name, parameter in copied.named_parameters()}
    notes, masks = (notes_on_training(copied), Masks()) if training else (notes_on(module), None)
    return Subject(forward, parameters, dict(copied.named_buffers()), paths, notes, masks), tensors


def notes_on_training(module: torch.nn.Module) -> tuple[str, ...]:
    """Return notes on the layers that act differently in training."""
    kinds = {
        isinstance(part, DROPOUT): type(part).__name__
        for part in module.modules()
        if isinstance(part, OF_TRAINING) and getattr(part, "p", 1)
    }
    notes = {
        False: "read in training mode; {} takes the statistics of the batch, and its running statistics are left as they are",
        True: "read in training mode; {} multiplies by a mask of 0 and 1, which is an input, and divides by 1 - p",
    }
    return tuple(notes[random].format(kind) for random, kind in sorted(kinds.items()))


def notes_on(module: torch.nn.Module) -> tuple[str, ...]:
    """Return a note for a module in training mode if some of its layers act differently in evaluation mode."""
    kinds = [type(part).__name__ for part in module.modules() if part.training and isinstance(part, OF_TRAINING)]
    text = f"read in evaluation mode; in training {', '.join(dict.fromkeys(kinds))} would act differently"
    return (text,) if kinds else ()


def find_missing(function: Callable[..., Any], listed: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that have no default and for which no input was given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.name not in listed
    ]


def arguments_of(function: Callable[..., Any], inputs: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping from the names of the function's parameters to the inputs."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    spelled_names = [plain[at] if at < len(plain) else f"x_{at + 1}" for at in range(len(inputs))]
    return {**dict(zip(spelled_names, inputs)), **named}


def name_tree_path(path: Any) -> str:
    """Convert the path of a tensor in nested inputs to a name such as x or state_1."""
    words = re.findall(r"\w+", "".join(map(str, path)))
    return "_".join(str(int(word) + 1) if word.isdigit() else word for word in words)
