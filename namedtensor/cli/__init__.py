"""The command `namedtensor`: evaluates, checks, converts and explains formulas.

`console`: what is written, in an encoding that can show it.
`inputs`: NAME=VALUE to tensors.
`arguments`: what a command is given: formula, tensors, sizes, limits.
`parsers`: the parser and the arguments that commands share.
`evaluate`: the value of a formula.
`formats`: findings as other programs read them.
`baseline`: the findings that are known already.
`check_documents`: the command check on documents.
`check`: the command check.
`devices`: the command devices.
`tree`: a syntax tree to look at.
`render`: the command render.
`derive`: the command derive.
`translate`: the command translate.
`read`: the command read.
`formula_commands`: the commands eval, explain, diagram and to-code.
`grade_class`: `exercises grade` of a folder.
`exercise_acts`: exercises validated, released and graded.
`exercises`: the command exercises.
`playground`: the command playground.
`language_server`: the Language Server Protocol over the package `editor`.
`lsp`: the command lsp.
`mcp_tools`: what the tools of the command mcp answer.
`mcp_server`: these tools, bounded, over the Model Context Protocol.
`mcp`: the command mcp.
`help`: the command help.
`repl`: the prompt, whose formulas extend one program.
`commands`: the table of commands, and `main`.

Contract: only here are a user's arguments, streams and files read; nothing imports it.
"""

from .commands import main

__all__ = ["main"]
