"""The command `namedtensor`, which evaluates, checks, converts and explains formulas.

`console`: writes output in an encoding that the terminal supports.
`inputs`: reads tensors and numbers from NAME=VALUE.
`arguments`: reads the formula, tensors, sizes and limits of a command.
`parsers`: commands, and the tables of their arguments.
`formula_commands`: the commands eval, explain, diagram and to-code.
`formats`: writes findings for other programs, and a baseline of known findings.
`check_documents`: the command check for documents.
`check`: the command check.
`devices`: the command devices.
`render`: the command render.
`derive`: the command derive.
`translate`: the command translate.
`read`: the command read.
`exercise_acts`: validates, releases and grades exercises.
`exercises`: the command exercises.
`playground`: the command playground.
`language_server`: the Language Server Protocol for the package `editor`.
`mcp_tools`: the tools of the command mcp, with limits, for the Model Context Protocol.
`servers`: the commands lsp and mcp.
`help`: the command help.
`repl`: the prompt, whose formulas extend one program.
`commands`: the table of commands, and `main`.

Contract: only this package reads the user's arguments, streams and files. No other package imports it.
"""

from .commands import main

__all__ = ["main"]
