"""What the pages need besides the packages: a command of the command line, run as a reader would."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from pathlib import Path

ROOT = Path(__file__).parent.parent


def command(line: str) -> str:
    """The command and what it prints, from the folder of the repository."""
    from namedtensor.cli import main

    program, *arguments = shlex.split(line)
    assert program == "namedtensor"
    printed = io.StringIO()
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(printed):
            status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    finally:
        os.chdir(before)
    assert not status, f"{line} ended with {status}: {printed.getvalue()}"
    return f"$ {line}\n{printed.getvalue()}".rstrip("\n")


def plan(formula: str, **inputs) -> str:
    """The plan that `evaluate` makes and keeps."""
    from namedtensor.compiled import Bundle, compile_formula
    from namedtensor.limits import DEFAULT

    return str(compile_formula(formula, "auto", Bundle(formula, inputs), None, False, DEFAULT).plan)
