"""A transformer over characters, trained by formulas alone: the model is characters.nt, the optimizer adam.nt.

    python docs/examples/characters.py --steps 2000 --save play.safetensors --curve loss.svg
    python docs/examples/characters.py --steps 4000 --resume play.safetensors --save play.safetensors

This file has the batches, the training loop, checkpoints and the command line.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import namedtensor as nt

HERE = Path(__file__).parent
PLAY = (HERE / "as_you_like_it.txt").read_text(encoding="ascii")
LETTERS = sorted(set(PLAY))
MODEL = nt.load_program(HERE / "characters.nt")
ADAM = nt.load_program(HERE / "adam.nt")
SIZES = {
    "L": 2,
    "chans": 64,
    "heads": 4,
    "key": 16,
    "val": 16,
    "hidden": 256,
    "vocab": len(LETTERS),
    "batch": 16,
    "seq": 64,
}
RATES = {"α": 1e-3, "β_1": 0.9, "β_2": 0.999, "ε": 1e-8}
Tensors = Mapping[str, nt.NamedTensor]


class State(NamedTuple):
    """The state of training: the parameters, the moments of Adam, and the number of steps so far."""

    parameters: Tensors
    m: Tensors
    s: Tensors
    step: int = 0


# ------------------------------------------------------------------------------------------------------------- the data
def batch(step: int, sizes: Mapping[str, int] = SIZES, seed: int = 0) -> dict[str, nt.NamedTensor]:
    """Return pieces of the play, and the same pieces one character later, for a step and a seed. Letters count from 1."""
    starts = np.random.default_rng([seed, step]).integers(0, len(PLAY) - sizes["seq"], sizes["batch"])
    at = starts[:, None] + np.arange(sizes["seq"])
    return {"ids": nt.tensor(CODES[at], "batch seq"), "next": nt.tensor(CODES[at + 1], "batch seq")}


CODES = np.array([LETTERS.index(letter) + 1 for letter in PLAY])


# -------------------------------------------------------------------------------------------------------------- a step
def start(sizes: Mapping[str, int] = SIZES, seed: int = 0) -> State:
    """Return initial parameters and empty moments."""
    shape = f"[{sizes['vocab']}]^{{batch[{sizes['batch']}] × seq[{sizes['seq']}]}}"
    local = {name: size for name, size in sizes.items() if name not in ("batch", "seq")}
    parameters = MODEL.init(seed=seed, sizes=local, dtype="float32", ids=shape, next=shape)
    nothing = {name: 0 * parameter for name, parameter in parameters.items()}
    return State(parameters, nothing, nothing)


class Trainer:
    """One training step: a call for the loss and all gradients, and a call for all results of Adam."""

    def __init__(self, names: Sequence[str], layers: int):
        self.names, self.layers = tuple(names), layers
        self.gradient = nt.gradient(MODEL, "loss", self.names, return_value=True)
        self.update = ADAM[tuple(f"{letter}^{k}" for letter in "WMS" for k in range(1, len(self.names) + 1))]

    def __call__(self, state: State, data: Tensors) -> tuple[float, State]:
        """Return the loss and the next state."""
        loss, gradients = self.gradient(values={**state.parameters, **data}, sizes={"L": self.layers})
        inputs: dict[str, Any] = {**RATES, "t": state.step + 1}
        for letter, tensors in {"θ": state.parameters, "g": gradients, "m": state.m, "s": state.s}.items():
            inputs |= {f"{letter}^{k}": tensors[name] for k, name in enumerate(self.names, 1)}
        result = iter(self.update(values=inputs, sizes={"n": len(self.names)}))
        parameters, m, s = ({name: next(result) for name in self.names} for _ in range(3))
        return float(loss), State(parameters, m, s, state.step + 1)


def train(state: State, steps: int, sizes: Mapping[str, int] = SIZES, seed: int = 0) -> tuple[State, list[float]]:
    """Train until a state has this number of steps; return it and the losses. A terminal shows the progress."""
    trainer, losses = Trainer([*state.parameters], sizes["L"]), []
    with Progress(steps, sizes["batch"] * sizes["seq"]) as progress:
        while state.step < steps:
            loss, state = trainer(state, batch(state.step, sizes, seed))
            losses.append(loss)
            progress.show(state.step, loss)
    return state, losses


class Progress:
    """One line in a terminal that shows the progress; nothing if the output is not a terminal."""

    def __init__(self, steps: int, characters: int):
        self.steps, self.characters, self.shown = steps, characters, sys.stderr.isatty()

    def __enter__(self) -> Progress:
        self.before, self.done = time.perf_counter(), 0
        return self

    def show(self, step: int, loss: float) -> None:
        self.done += 1
        if self.shown:
            rate = self.done * self.characters / (time.perf_counter() - self.before)
            sys.stderr.write(f"\rstep {step:,} of {self.steps:,}: loss {loss:.3f}, {rate:,.0f} characters a second ")
            sys.stderr.flush()

    def __exit__(self, *problem: object) -> None:
        if self.shown and self.done:
            sys.stderr.write("\n")


# --------------------------------------------------------------------------------------------------------------- files
def save(path: str | Path, state: State) -> None:
    """Write a state as safetensors, with the step in its metadata."""
    moments = {f"{letter} of {name}": value for letter in "ms" for name, value in getattr(state, letter).items()}
    nt.save_tensors(path, {**state.parameters, **moments, "step": nt.tensor(state.step, ())})


def resume(path: str | Path) -> State:
    """Return the state of such a file; a resumed run gives bit for bit the same losses."""
    tensors = nt.load_tensors(path)
    step, m, s = int(tensors.pop("step")), {}, {}
    for letter, group in (("m", m), ("s", s)):
        group |= {
            name.removeprefix(f"{letter} of "): tensor
            for name, tensor in tensors.items()
            if name.startswith(f"{letter} of ")
        }
    return State({name: tensor for name, tensor in tensors.items() if name in m}, m, s, step)


# ------------------------------------------------------------------------------------------------------- what is shown
class Curve:
    """The loss of each step as an SVG picture; a notebook shows it."""

    def __init__(self, losses: Sequence[float], width: int = 560, height: int = 200):
        low, high = min(losses), max(losses)
        across, up = (width - 60) / max(1, len(losses) - 1), (height - 50) / (high - low or 1)
        points = " ".join(
            f"{50 + n * across:.1f},{height - 30 - (loss - low) * up:.1f}" for n, loss in enumerate(losses)
        )
        words = [(46, 24, "end", f"{high:.2f}"), (46, height - 26, "end", f"{low:.2f}"), (50, height - 8, "start", "step 1"),
                 (width - 10, height - 8, "end", f"step {len(losses):,}"), (54, 16, "start", "loss")]  # fmt: skip
        labels = "".join(f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>' for x, y, anchor, text in words)
        self.svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" font-size="12" '
            f'font-family="sans-serif" fill="currentColor"><path d="M50 20V{height - 30}H{width - 10}" fill="none" '
            f'stroke="currentColor" stroke-opacity="0.4"/><polyline points="{points}" fill="none" stroke="#146fd1" '
            f'stroke-width="1.5" stroke-linejoin="round"/>{labels}</svg>'
        )

    def _repr_html_(self) -> str:
        return self.svg


def written(
    parameters: Tensors, text: str, count: int, sizes: Mapping[str, int] = SIZES, seed: int = 0
) -> Iterator[str]:
    """Return characters that follow a text at least as long as a piece, sampled from the model."""
    logits, draw = MODEL["logits"], np.random.default_rng(seed)
    for _ in range(count):
        ids = nt.tensor([[LETTERS.index(letter) + 1 for letter in text[-sizes["seq"] :]]], "batch seq")
        last = logits(values={**parameters, "ids": ids}, sizes={"L": sizes["L"]})[{"batch": 0, "seq": -1}]
        chances = last.softmax(axis="vocab").to_array("vocab").astype("float64")
        letter = LETTERS[draw.choice(len(LETTERS), p=chances / chances.sum())]
        yield letter
        text += letter


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train a transformer over the characters of a play.")
    parser.add_argument("--steps", type=int, default=500, help="how many steps there are to be in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", metavar="FILE", help="a file that --save wrote")
    parser.add_argument("--save", metavar="FILE", help="where the state is written after the last step")
    parser.add_argument("--curve", metavar="FILE", help="where the losses are drawn, as SVG")
    args = parser.parse_args(arguments)
    state = resume(args.resume) if args.resume else start(seed=args.seed)
    state, losses = train(state, args.steps, seed=args.seed)
    if args.save:
        save(args.save, state)
    if args.curve and losses:
        Path(args.curve).write_text(Curve(losses).svg, encoding="utf-8")
    if losses:
        print(f"step {state.step}: loss {losses[-1]:.3f}")
        print("".join(written(state.parameters, PLAY[:64], 200)))


if __name__ == "__main__":
    main()
