"""Programs run: the only room that goes the whole way, from a text and what it is given to a value.

Read in this order: `arguments` (what a call was given), `parsed` (a program as a value, and its checker), `entries` (what it
can be asked for: its value, a name, several), `executable` (checked, planned, made a function, its claims judged),
`call_cache` (how a repeated call finds its executable), `evaluate` (the value of a text) and `explained` (every step to it);
`parameters`, `initialisation`, `checks`, `compiled`, `diagrams`, `variants`, `torch_module` (what else is done with one),
`program_names`; and the façade: `verbs`, `program` (Program, Formula, EntryPoint), `api` (the functions of `namedtensor`).

Law: everything above speaks to this room, and nothing below knows of it; `parsed` alone makes checkers, the façade alone
knows Program, and whatever lies below it takes a ParsedProgram, what is asked of it, or a callable.
"""
