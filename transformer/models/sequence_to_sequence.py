"""The shared parts of encoder-decoder models, which generate a target sequence from a source sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import namedtensor as nt

from ..pretrained.generation import LanguageModel, generate, stream, variant


class SequenceToSequence(LanguageModel):
    """An encoder for a source sequence and a decoder for a target sequence.

    A call with `source` and the target's `ids` returns the logits of each next token (teacher forcing).
    """

    inputs = ("source", "ids")
    optional_inputs = ("source_mask", "mask")
    first_token: ClassVar[str] = "0 max_{source}(source) + start"  # a formula of the source
    fixed = ("K^{cross,l}", "V^{cross,l}")
    cached = """
        past^{l,K} ∈ ℝ^{memory × heads × key}
        past^{l,V} ∈ ℝ^{memory × heads × val}
        K^{cross,l} ∈ ℝ^{source × heads × key}
        V^{cross,l} ∈ ℝ^{source × heads × val}
    """

    def generate(
        self,
        source: nt.NamedTensor,
        max_new_tokens: int = 20,
        source_mask: nt.NamedTensor | None = None,
        start: int | None = None,
        **options: Any,
    ) -> nt.NamedTensor:
        """Return the target for a source. Tokens are generated one by one from `start` or `decoder_start_token_id`.

        The encoder runs once. The `options` are the options of a language model's `generate`.

        Raises NotationError (304) if the first token of a target is unknown.

        >>> from transformer import EncoderDecoder
        >>> sizes = {"N": 1, "L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9}
        >>> source = nt.tensor([[1, 2, 3], [4, 5, 6]], "batch source")
        >>> EncoderDecoder.init(0, sizes).generate(source, max_new_tokens=5, start=0).sizes
        {'seq': 5, 'batch': 2}
        """
        ids = self._begin_targets(source, start)
        return generate(self, ids, max_new_tokens, **self._source(source, source_mask), **options)

    def stream(
        self,
        source: nt.NamedTensor,
        max_new_tokens: int = 20,
        source_mask: nt.NamedTensor | None = None,
        start: int | None = None,
        **options: Any,
    ) -> Iterator[nt.NamedTensor]:
        """Yield the tokens that `generate` returns, one at a time.

        >>> from transformer import EncoderDecoder
        >>> sizes = {"N": 1, "L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9}
        >>> model = EncoderDecoder.init(0, sizes)
        >>> len(list(model.stream(nt.tensor([1, 2, 3], "source"), max_new_tokens=2, start=0)))
        2
        """
        ids = self._begin_targets(source, start)
        return stream(self, ids, max_new_tokens, **self._source(source, source_mask), **options)

    def _program(self, named: Mapping[str, Any]) -> nt.Program:
        """Return the program for a call.

        Some task heads define the target as the shifted source. A target in the call replaces this definition.
        """
        target, program = self.inputs[-1], super()._program(named)
        return variant(program, "", frozenset({target})) if target in named and target in program else program

    def _source(self, source: nt.NamedTensor, mask: nt.NamedTensor | None) -> dict[str, Any]:
        return {self.inputs[0]: source, **({} if mask is None else {"source_mask": mask})}

    def _begin_targets(self, source: nt.NamedTensor, start: int | None) -> nt.NamedTensor:
        """Return the start token of each target, with which generation begins."""
        start = self.config.get("decoder_start_token_id") if start is None else start
        if start is None:
            raise nt.NotationError(304, "the start token of the target is missing", hint="pass it: start=…, a token")
        first = nt.evaluate(self.first_token, source=source, start=start)
        return nt.stack(first, axis="seq")
