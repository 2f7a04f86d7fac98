"""The tokenizer of a checkpoint, loaded from a folder with tokenizer.json or from a GGUF file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import namedtensor as nt

from .gguf_files import SUFFIX, GGUFFile

FILE = "tokenizer.json"
CONTROL, USER_DEFINED = 3, 4  # tokenizer.ggml.token_type
# How texts are split before their bytes are merged, by tokenizer.ggml.pre: a pattern, or digits apart from all else
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}"
    r"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = {"llama-bpe": WORDS.format(digits="{1,3}"), "qwen2": WORDS.format(digits="")}
DIGITS_APART = ("smollm",)
PLAIN = ("default", "gpt-2")


def tokenizer(path: str | os.PathLike[str]) -> Any:
    """Load the tokenizer of a checkpoint.

    Parameters
    ----------
    path : str or path
        A folder with tokenizer.json, or a GGUF file.

    Returns
    -------
    tokenizers.Tokenizer
        The tokenizer. `encode(text).ids` returns the tokens of a text, and `decode(ids)` returns the text of tokens.

    Raises
    ------
    NotationError
        If the file cannot be read or has a tokenizer of another kind (409), or `tokenizers` is not installed (408).

    Examples
    --------
    >>> import transformer
    >>> tokenizer = transformer.tokenizer("SmolLM2-135M-Instruct.Q4_1.gguf")  # doctest: +SKIP
    >>> tokenizer.encode("Hello").ids  # doctest: +SKIP
    [19556]
    """
    path = Path(path)
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise nt.NotationError(
            408, "tokenizers is not installed; it converts text to tokens", hint="pip install tokenizers"
        ) from None
    if path.suffix == SUFFIX:
        return _tokenizer_of_gguf(GGUFFile(path))
    try:
        return Tokenizer.from_buffer((path / FILE).read_bytes())
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise nt.NotationError(409, f"cannot read {path / FILE}: {reason[:1].lower() + reason[1:]}") from None
    except Exception as problem:  # tokenizers raises nothing narrower
        raise nt.NotationError(409, f"cannot read {path / FILE}: {problem}") from None


def _tokenizer_of_gguf(file: GGUFFile) -> Any:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    kind, splitting = file.field("tokenizer.ggml.model"), file.field("tokenizer.ggml.pre", "default")
    if kind != "gpt2" or splitting not in (*PATTERNS, *DIGITS_APART, *PLAIN):
        name = splitting if kind == "gpt2" else kind
        raise nt.NotationError(
            409, f"{file.path}: unsupported tokenizer {name!r}",
            notes=(f"supported: {', '.join((*PATTERNS, *DIGITS_APART, *PLAIN))}",),
            hint="load the original checkpoint's tokenizer: transformer.tokenizer(folder)",
        )  # fmt: skip
    tokens, merges = file.field("tokenizer.ggml.tokens"), file.field("tokenizer.ggml.merges", [])
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer: Any = Tokenizer(models.BPE(vocabulary, [tuple(merge.split(" ", 1)) for merge in merges]))
    before: list[Any] = []
    if splitting in PATTERNS:
        before.append(pre_tokenizers.Split(Regex(PATTERNS[splitting]), "isolated"))
    if splitting in DIGITS_APART:
        before.append(pre_tokenizers.Digits(individual_digits=True))
    before.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=splitting not in PATTERNS))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(before)
    tokenizer.decoder = decoders.ByteLevel()
    kinds = file.field("tokenizer.ggml.token_type", [])
    special = {token for token, number in zip(tokens, kinds) if number == CONTROL}
    added = {token for token, number in zip(tokens, kinds) if number == USER_DEFINED}
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in tokens if token in special])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in tokens if token in added])
    return tokenizer
