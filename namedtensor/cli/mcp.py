"""The command mcp: the verbs as tools for language models."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..files.text import InputError
from .console import FINE, Console


def mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="N", help="seconds that an answer may take (default: 20)"
    )
    parser.add_argument(
        "--memory", type=int, default=4096, metavar="N",
        help="memory limit in megabytes, where the system supports it; 0 for no limit (default: 4096)",
    )  # fmt: skip
    parser.add_argument(
        "--code", metavar="FOLDER", help="allow the tool read to run the Python files in this folder (default: none)"
    )


def mcp_command(options: Any, console: Console) -> int:
    if options.code is not None and not Path(options.code).is_dir():
        raise InputError(f"{options.code} is not a folder")
    if options.seconds <= 0 or options.memory < 0:
        raise InputError("--seconds is above 0, and --memory at least 0")
    from .mcp_server import BoundedTools, server_of

    tools = BoundedTools(options.seconds, options.memory * 2**20, options.code)
    server = server_of(tools)
    try:
        server.run("stdio")
    finally:
        tools.close()
    return FINE


MCP_EXAMPLES = """
  namedtensor mcp                        serve the tools check, evaluate, equivalent, derive, translate and read
  namedtensor mcp --seconds 5 --code .   the same; read may run the Python files of this folder

  It speaks the Model Context Protocol over standard input and output. In the configuration of a client:
  {"mcpServers": {"namedtensor": {"command": "namedtensor", "args": ["mcp"]}}}
"""
