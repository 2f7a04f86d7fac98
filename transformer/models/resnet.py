"""The image model ResNet and the names of its weights in checkpoints."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, cast

import namedtensor as nt
from namedtensor.initializers import Constant, Normal

from ..pretrained.model import Model
from ..pretrained.weights import WeightEntry, linear

NORM = {"γ": "weight", "β": "bias", "μ": "running_mean", "v": "running_var"}
REDUCTION = 4  # a bottleneck's output has this many times the channels of its inner convolution
READ = {  # inputs H^l and I^l of a block's convolutions: from all elements, or from every second element
    "H": ("unroll_{height, kh} unroll_{width, kw} padded(Y^{l,1})", "Every_{kh,kw}(padded(Y^{l,1}))"),
    "I": ("X^{l-1}", "Second(X^{l-1})"),
}
MAPPED = "Norm([W^{{l,R}} ⊙_{{chans}} {read}]_{{out→chans}}; γ^{{l,R}}, β^{{l,R}}, μ^{{l,R}}, v^{{l,R}})"


class Block(NamedTuple):
    """A block of a stage: the prefix of its arrays' names, its channels, and whether it halves the image size."""

    prefix: str
    inside: int  # channels of the input
    outside: int  # channels of the output
    halves: bool

    @property
    def is_mapped(self) -> bool:
        """Whether the shortcut changes the channels or the size of its input before the addition."""
        return self.halves or self.inside != self.outside


def blocks(config: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of all stages. Raise NotationError if config.json has invalid sizes or depths."""
    sizes, depths = (cast(list[Any], config[key]) for key in ("hidden_sizes", "depths"))
    are_lists = all(isinstance(listed, list) for listed in cast(tuple[object, ...], (sizes, depths)))
    if not are_lists or not sizes or len(sizes) != len(depths) or not all(map(is_positive, (*sizes, *depths))):
        raise nt.NotationError(
            409, f"config.json has hidden_sizes = {sizes!r} and depths = {depths!r}; expected a positive integer of each "
            "for every stage",
        )  # fmt: skip
    result: list[Block] = []
    inside = config["embedding_size"]
    for stage, (outside, depth) in enumerate(zip(sizes, depths)):
        for layer in range(depth):
            halves = layer == 0 and (stage > 0 or bool(config.get("downsample_in_first_stage", False)))
            result.append(Block(f"encoder.stages.{stage}.layers.{layer}", inside, outside, halves))
            inside = outside
    return result


def is_positive(number: Any) -> bool:
    """Return whether a value is a positive integer."""
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


def is_basic(config: Mapping[str, Any]) -> bool:
    """Return whether blocks have two convolutions instead of three. Raise NotationError for another kind of block."""
    kind = config.get("layer_type", "bottleneck")
    if kind not in ("basic", "bottleneck"):
        raise nt.NotationError(
            409, f"config.json has layer_type = {kind!r}, which the formulas of ResNet do not support",
            hint="supported: basic, bottleneck",
        )  # fmt: skip
    return kind == "basic"


def convolution(label: str, tensor: str, axes: str, **part: int) -> Iterator[WeightEntry]:
    """Yield the weight entries of a convolution and of the norm after it."""
    name = f"^{{{label}}}" if label else ""
    chans = axes.split()[0].replace("out", "chans")
    yield WeightEntry(f"W{name}", f"{tensor}.convolution.weight", axes, **part)
    for letter, array in NORM.items():
        yield WeightEntry(f"{letter}{name}", f"{tensor}.normalization.{array}", chans)


def convolutions(label: int, block: Block, basic: bool) -> Iterator[WeightEntry]:
    """Yield the weight entries of all convolutions and norms in a block."""
    layer, inside, outside = f"{block.prefix}.layer", block.inside, block.outside
    one: dict[str, Any] = {"kh": 0, "kw": 0}
    if basic:
        yield from convolution(f"{label},2", f"{layer}.0", f"out[{outside}] chans[{inside}] kh[3] kw[3]")
        yield from convolution(f"{label},3", f"{layer}.1", f"out[{outside}] chans[{outside}] kh[3] kw[3]")
    else:
        fewer = outside // REDUCTION
        yield from convolution(f"{label},1", f"{layer}.0", f"out[{fewer}] chans[{inside}] kh[1] kw[1]", **one)
        yield from convolution(f"{label},2", f"{layer}.1", f"out[{fewer}] chans[{fewer}] kh[3] kw[3]")
        yield from convolution(f"{label},3", f"{layer}.2", f"out[{outside}] chans[{fewer}] kh[1] kw[1]", **one)
    if block.is_mapped:
        axes = f"out[{outside}] chans[{inside}] kh[1] kw[1]"
        yield from convolution(f"{label},R", f"{block.prefix}.shortcut", axes, **one)


def ranges(name: str, formulas: Sequence[str]) -> Iterator[str]:
    """Yield the equations that define a family with these formulas.

    Consecutive members with equal formulas share one equation with a range.
    """
    first = 1
    for formula, group in groupby(formulas):
        last = first + len(list(group)) - 1
        yield f"{name} = {formula} for l = {first}, …, {last}"
        first = last + 1


class ResNet(Model):
    """ResNet, with residual blocks that apply convolutions to an image in ℝ^{color × height × width}.

    `pooled` is the mean of `states` over the image. `logits` requires a checkpoint with a classifier.
    """

    citation = "He, Zhang, Ren, Sun, Deep Residual Learning for Image Recognition, 2016"
    file = "resnet.nt"
    output = "states"
    inputs = ("pixels",)
    model_types = ("resnet",)
    initializers = {"W": Normal("√(2 / fan_in)"), "b": Constant(0.0), "γ": Constant(1.0), "v": Constant(1.0), "μ": Constant(0.0),
            "β": Constant(0.0)}  # fmt: skip
    default_sizes = {"height": 64, "width": 64}
    config_sizes = {"L": lambda config: len(blocks(config)), "color": "num_channels"}
    activation = "hidden_act"
    base_model_prefix = "resnet."
    ignored_weights = ("*.num_batches_tracked",)
    ignored_heads = ("classifier.*",)
    optional_weights = {"logits": linear("class", "classifier.1", "class chans")}

    @classmethod
    def table(cls, config: Mapping[str, Any]) -> tuple[WeightEntry, ...]:
        stem = f"out[{config['embedding_size']}] color rows[7] columns[7]"
        basic = is_basic(config)
        rows = [row for label, block in enumerate(blocks(config), 1) for row in convolutions(label, block, basic)]
        return (*convolution("", "embedder.embedder", stem), *rows)

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        stages, basic = blocks(config), is_basic(config)
        halving = "I" if config.get("downsample_in_bottleneck") and not basic else "H"
        lines = [super().config_definitions(config)]
        lines += [inspect.cleandoc(cls.file_text("resnet_basic.nt"))] if basic else []
        for name, (whole, half) in READ.items():
            lines += ranges(f"{name}^l", [half if name == halving and block.halves else whole for block in stages])
        whole, half = READ["I"]
        read = [half if block.halves else whole for block in stages]
        mapped = [MAPPED.format(read=text) if block.is_mapped else text for text, block in zip(read, stages)]
        return "\n".join(filter(None, (*lines, *ranges("R^l", mapped))))
