"""The command `namedtensor`: evaluates, checks, converts and explains formulas.

`console`: the output of commands, in an encoding that can show it.
`inputs`: tensors and numbers from NAME=VALUE.
`arguments`: the formula, tensors, sizes and limits of a command.
`parsers`: commands, and the tables of their arguments.
`formula_commands`: the commands eval, explain, diagram and to-code.
`formats`: findings for other programs, and a baseline of findings that are known already.
`check_documents`: the command check on documents.
`check`: the command check.
`devices`: the command devices.
`render`: the command render.
`derive`: the command derive.
`translate`: the command translate.
`read`: the command read.
`exercise_acts`: exercises validated, released and graded.
`exercises`: the command exercises.
`playground`: the command playground.
`language_server`: the Language Server Protocol over the package `editor`.
`mcp_tools`: the tools of the command mcp, bounded, over the Model Context Protocol.
`servers`: the commands lsp and mcp.
`help`: the command help.
`repl`: the prompt, whose formulas extend one program.
`commands`: the table of commands, and `main`.

Contract: only here are a user's arguments, streams and files read; nothing imports it.
"""

from .commands import main

__all__ = ["main"]
