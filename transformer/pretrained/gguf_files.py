"""GGUF files of llama.cpp, which contain the configuration, the weights and the tokens of a model.

Weights are stored as numbers with few bits, and with a scale for each block. The package `gguf` reads the format and
the blocks. This module converts the names in the file to the names of a Hugging Face checkpoint.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, ClassVar, cast

import namedtensor as nt

SUFFIX = ".gguf"
MAGIC = b"GGUF"  # the first bytes of a file
# values of general.architecture in the file, and of model_type in config.json
ARCHITECTURES = ("llama", "qwen2", "qwen3")
SIZES = {  # keys of config.json, and the file's keys after the architecture
    "num_hidden_layers": "block_count",
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
}
OPTIONS = {
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "max_position_embeddings": "context_length",
    "rope_theta": "rope.freq_base",
}
TOKENS = {"bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "padding_token_id"}
NAMES = {  # the arrays of the file, without .weight or .bias, and the arrays of a checkpoint
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
INTERLEAVED = {  # arrays of llama with rotated pairs stored side by side, and the config key for their heads
    "self_attn.q_proj": "num_attention_heads",
    "self_attn.k_proj": "num_key_value_heads",
}


class GGUFFile(Mapping[str, Any]):
    """The arrays of a GGUF file by their names in a Hugging Face checkpoint. Each is converted to float32 on access.

    `config` contains the entries that config.json would have.

    Raises NotationError (409) if the file cannot be read, or if its architecture or a number format is not supported.
    """

    doubles: ClassVar[list[str]] = []

    def __init__(self, path: Path):
        self.path = path
        reader, self.version = reader_of(path)
        self.fields: Mapping[str, Any] = reader.fields
        self.tensors = {rename_array(tensor.name): tensor for tensor in reader.tensors}
        self.config = self._config()

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __getitem__(self, name: str) -> Any:
        from gguf.quants import dequantize

        self._check_version()
        tensor = self.tensors[name]
        try:
            numbers = dequantize(tensor.data, tensor.tensor_type)
        except (NotImplementedError, ValueError):
            raise nt.NotationError(
                409, f"{self.path}: {tensor.name} has numbers of type {tensor.tensor_type.name}, which cannot be read",
                hint="convert the file with llama-quantize, for example to Q8_0",
            ) from None  # fmt: skip
        numbers = numbers.reshape(self.shape(name))
        heads = INTERLEAVED.get(re.sub(r"layers\.\d+\.|\.\w+$", "", name))
        if heads is None or self.config["model_type"] != "llama":
            return numbers
        pairs = numbers.reshape(self.config[heads], -1, 2, *numbers.shape[1:])
        return pairs.swapaxes(1, 2).reshape(numbers.shape)

    def _check_version(self) -> None:
        """Raise NotationError if the file was changed in place since it was opened. Replacing the file is allowed."""
        version = version_of(self.path) if self.path.exists() else self.version
        if version != self.version and version[:2] == self.version[:2]:
            raise nt.NotationError(
                409, f"{self.path} was changed in place after it was opened",
                hint="load it again; to replace a file that is open, write a new file and rename it",
            )  # fmt: skip

    def own(self, name: str) -> str:
        """Return the name under which the file stores an array."""
        return self.tensors[name].name

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of the array with this name."""
        return tuple(map(int, reversed(self.tensors[name].shape)))

    def field(self, key: str, default: Any = None) -> Any:
        """Return the value of a key in the file's metadata, or `default` if the key is missing."""
        return self.fields[key].contents() if key in self.fields else default

    def _config(self) -> dict[str, Any]:
        """Return the entries that config.json would contain for the model in the file."""
        architecture = self.field("general.architecture")
        if architecture not in ARCHITECTURES:
            raise nt.NotationError(
                409, f"{self.path}: unsupported architecture {architecture!r}",
                notes=(f"supported: {', '.join(ARCHITECTURES)}",),
                hint="load the original checkpoint: transformer.load(folder)",
            )  # fmt: skip
        missing = [f"{architecture}.{key}" for key in SIZES.values() if f"{architecture}.{key}" not in self.fields]
        missing += [name for name in ("embed_tokens.weight",) if name not in self]
        if missing:
            raise nt.NotationError(409, f"{self.path} has no {missing[0]}")
        stated = {key: self.field(f"{architecture}.{name}") for key, name in (SIZES | OPTIONS).items()}
        tokens = {key: self.field(f"tokenizer.ggml.{name}") for key, name in TOKENS.items()}
        config = {key: value for key, value in (stated | tokens).items() if value is not None}
        config.setdefault("num_key_value_heads", config["num_attention_heads"])
        scaling = self.field(f"{architecture}.rope.scaling.type", "none")
        if scaling != "none":
            config["rope_scaling"] = {"rope_type": scaling, "factor": self.field(f"{architecture}.rope.scaling.factor")}
        return config | {
            "model_type": architecture,
            "vocab_size": self.shape("embed_tokens.weight")[0],
            "tie_word_embeddings": "lm_head.weight" not in self,
        }


def version_of(file: Path | int) -> tuple[int, ...]:
    """Return the device, inode, size and modification time of a file. They differ if the file was changed."""
    status = os.stat(file)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def reader_of(path: Path) -> tuple[Any, tuple[int, ...]]:
    """Open a file with the package `gguf`, and return its reader and its version. No weights are read."""
    try:
        with path.open("rb") as file:
            return reader_of_open(path, file), version_of(file.fileno())
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise nt.NotationError(409, f"cannot read {path}: {reason[:1].lower() + reason[1:]}") from None


def reader_of_open(path: Path, file: IO[bytes]) -> Any:
    """Return the reader of an open file. Raise NotationError if it is not a GGUF file."""
    if file.read(len(MAGIC)) != MAGIC:
        raise nt.NotationError(
            409, f"cannot read {path}: it is not a GGUF file", hint="load a folder with config.json, or a GGUF file"
        )
    try:
        from gguf import GGUFReader
    except ImportError:
        raise nt.NotationError(
            408, "gguf is not installed; it reads files of llama.cpp", hint="pip install '.[gguf]'"
        ) from None
    try:
        return GGUFReader(cast("Any", file))
    except (OSError, ValueError, LookupError, ArithmeticError, TypeError):
        raise nt.NotationError(
            409, f"cannot read {path}: the file is cut short or damaged", hint="download or copy it again"
        ) from None


def rename_array(name: str) -> str:
    """Return the name that a checkpoint uses for an array of the file. If the array is unknown, its name is kept."""
    layer = re.match(r"blk\.(\d+)\.", name)
    stem, _, kind = name[layer.end() if layer else 0 :].rpartition(".")
    if stem not in NAMES:
        return name
    return f"layers.{layer[1]}.{NAMES[stem]}.{kind}" if layer else f"{NAMES[stem]}.{kind}"
