"""The command `mcp`: functions of this package as tools for language models."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..files.text import InputError
from .console import Console
from .parsers import Command


def mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="N", help="time limit of a request in seconds (default: 20)"
    )
    parser.add_argument(
        "--memory", type=int, default=4096, metavar="N",
        help="memory limit in megabytes, where the system supports it; 0 for no limit (default: 4096)",
    )  # fmt: skip
    parser.add_argument(
        "--code", metavar="FOLDER", help="allow the tool read to run the Python files in this folder (default: none)"
    )


def mcp_command(options: Any, console: Console) -> None:
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


MCP_EXAMPLES = """
  namedtensor mcp                        serve the tools check, evaluate, equivalent, derive, translate and read
  namedtensor mcp --seconds 5 --code .   the same; the tool read may run the Python files in this folder

  The server uses the Model Context Protocol on standard input and output. Configure a client with:
  {"mcpServers": {"namedtensor": {"command": "namedtensor", "args": ["mcp"]}}}
"""
COMMAND = Command("run the MCP server for language models", mcp_arguments, mcp_command, MCP_EXAMPLES)
