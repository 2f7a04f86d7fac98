"""Formulas as they are found in the field, translated and compared with the same in named axes."""

import re

import pytest
from positional_pairs import PAIRS, REFUSED

import namedtensor as nt

RENAMED = {"K_*": "K_{star}"}
SIZE = re.compile(r"(\w+)\[(\d+)\]")


def inputs(text: str) -> dict[str, tuple[str, str]]:
    """The shape of each input, and the axis that it is an index of."""
    parts = (piece.partition(":") for piece in text.split(";") if piece.strip())
    return {name.strip(): (shape.partition("<")[0].strip(), shape.partition("<")[2]) for name, _, shape in parts}


def shapes(text: str) -> dict[str, str]:
    return {name: SIZE.sub(r"\1", shape) for name, (shape, _) in inputs(text).items()}


def types(text: str) -> dict[str, str]:
    """The sets of the inputs; an index counts from 0, so it is one less than the formula's."""
    sets: dict[str, str] = {}
    for name, (shape, along) in inputs(text).items():
        axes: list[str] = []
        for axis in SIZE.sub(r"\1", shape).split():
            axes.append(axis + "'" * axes.count(axis))
        size = SIZE.search(along)
        domain = f"[{int(size[2]) - 1 if size else 2}]" if along else "ℝ"
        sets[RENAMED.get(name, name)] = domain + (f"^{{{' × '.join(axes)}}}" if axes else "")
    return sets


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.source)
def test_positional_pair_is_the_formula_in_named_axes(pair):
    translation = nt.translate(pair.source, shapes(pair.shapes), reading=pair.reading)
    assert translation.checked.startswith(
        ("equal to", "the types are checked", "not compared: PyTorch is not", "not compared: einops is not")
    )
    sizes = {
        axis: size for shape, along in inputs(pair.shapes).values() if not along for axis, size in SIZE.findall(shape)
    }
    text = "\n".join(f"|{axis}| = {size}" for axis, size in sizes.items())
    same = nt.equivalent(translation.formula, pair.formula, given=text, **types(pair.shapes))
    assert same, f"{translation.formula}: {same}"


@pytest.mark.parametrize(("source", "text", "message"), REFUSED)
def test_positional_pair_is_refused_in_words(source, text, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, shapes(text))
    assert caught.value.message.startswith(message)


def test_positional_pairs_are_many_and_few_are_refused():
    assert len(PAIRS) >= 150
    assert len(REFUSED) <= 0.05 * (len(PAIRS) + len(REFUSED))
