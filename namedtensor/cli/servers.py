"""The commands `lsp` and `mcp`: servers on standard input and output, for editors and for language models."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..files.text import InputError
from .console import Console
from .parsers import MEMORY, Argument, command

PAUSE = "pause in typing before the whole document is checked (default: 0.4)"


@command(
    Argument("--stdio", "", "use standard input and output (default; there is no other transport)"),
    Argument("--delay", "SECONDS", PAUSE, {"type": float, "default": 0.4}),
)
def lsp_command(options: Any, console: Console) -> None:
    """Run the language server for editors.

    namedtensor lsp                        the command that an editor runs
    namedtensor lsp --delay 1              check the whole document after a pause of a second

    The docs page "Use it in an editor" contains the settings for VS Code, Neovim, Emacs and Helix.
    """
    if not 0 <= options.delay <= 60:
        raise InputError(f"--delay {options.delay:g} is not a pause: expected 0 to 60 seconds")
    if find_spec("pygls") is None:
        raise InputError("the language server needs pygls; pip install '.[lsp]'")

    import gc

    from .language_server import create_server

    gc.freeze()  # A collection of all loaded and cached objects takes longer than a key.
    gc.set_threshold(100_000, 50, 100)
    if sys.stdin is not None and sys.stdin.isatty():
        console.note("waiting for an editor on standard input; Ctrl-C ends")
    create_server(options.delay).start_io()


@command(
    Argument("--seconds", "N", "time limit of a request in seconds (default: 20)", {"type": float, "default": 20.0}),
    MEMORY,
    Argument("--code", "FOLDER", "allow the tool read to run the Python files in this folder (default: none)"),
)
def mcp_command(options: Any, console: Console) -> None:
    """Run the MCP server for language models.

    namedtensor mcp                        serve the tools check, evaluate, equivalent, derive, translate and read
    namedtensor mcp --seconds 5 --code .   the same; the tool read may run the Python files in this folder

    The server uses the Model Context Protocol on standard input and output. Configure a client with:
    {"mcpServers": {"namedtensor": {"command": "namedtensor", "args": ["mcp"]}}}
    """
    if options.code is not None and not Path(options.code).is_dir():
        raise InputError(f"{options.code} is not a folder")
    if options.seconds <= 0 or options.memory < 0:
        raise InputError("--seconds is above 0, and --memory at least 0")
    from .mcp_tools import BoundedTools, server_of

    tools = BoundedTools(options.seconds, options.memory * 2**20, options.code)
    server = server_of(tools)
    try:
        server.run("stdio")
    finally:
        tools.close()
