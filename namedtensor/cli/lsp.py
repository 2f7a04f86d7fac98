"""The command lsp: a language server on standard input and output, for editors."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import Any

from ..files.text import InputError
from .console import Console
from .parsers import Command

LSP_EXAMPLES = """
  namedtensor lsp                        the command that an editor runs
  namedtensor lsp --delay 1              check the whole document after a pause of a second

  The page "Use it in an editor" of the docs has the settings of VS Code, Neovim, Emacs and Helix."""


def lsp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="use standard input and output (default; there is no other transport)"
    )
    parser.add_argument(
        "--delay", type=float, default=0.4, metavar="SECONDS",
        help="pause in typing before the whole document is checked (default: 0.4)",
    )  # fmt: skip


def lsp_command(options: Any, console: Console) -> None:
    if not 0 <= options.delay <= 60:
        raise InputError(f"--delay {options.delay:g} is not a pause: expected 0 to 60 seconds")
    if find_spec("pygls") is None:
        raise InputError('the language server needs pygls: pip install "named-tensor-notation[lsp]"')

    import gc  # the process is this command's own

    from .language_server import create_server

    gc.freeze()  # a collection of all that is loaded and cached takes longer than a key
    gc.set_threshold(100_000, 50, 100)
    if sys.stdin is not None and sys.stdin.isatty():
        console.note("waiting for an editor on standard input; Ctrl-C ends")
    create_server(options.delay).start_io()


COMMAND = Command("run the language server for editors", lsp_arguments, lsp_command, LSP_EXAMPLES)
