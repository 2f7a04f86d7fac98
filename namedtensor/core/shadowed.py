"""Detect user files that shadow a package of this project."""

import sys
from os import getcwd
from os.path import abspath, dirname, join, realpath

HOME = dirname(dirname(dirname(abspath(__file__))))


def hiding(package: str) -> str | None:
    """Return the file that Python imports as `package` in place of this project's package, or None if no file hides it.

    >>> hiding("grammar") is None
    True
    """
    module = sys.modules.get(package)
    try:
        file = module.__file__ if module is not None else _location(package)
    except (AttributeError, ValueError):
        return None
    return file if file and dirname(realpath(file)) != realpath(join(HOME, package)) else None


def _location(package: str) -> str | None:
    """Return the file of a package that has not been imported yet.

    `importlib.util.find_spec` would return the same file, but its module is slow to import.
    """
    specs = (finder.find_spec(package, None) for finder in sys.meta_path)
    return next((spec.origin for spec in specs if spec is not None), None)


def sentence(package: str) -> str | None:
    """Return a sentence that explains how to fix a file that hides `package`, or None if no file hides it."""
    file = hiding(package)
    return file and f"{file} hides the package {package} that comes with namedtensor: give that file another name"


def warn_if_hidden(package: str) -> None:
    text = sentence(package)
    if text is not None:
        import warnings

        warnings.warn(text, stacklevel=3)


def ignore_working_directory() -> None:
    """Prevent `python -m namedtensor` from importing modules in the working directory, such as a user's `json.py`.

    If the working directory contains this package, search it last. Otherwise, do not search it at all. The command
    `namedtensor` never searches the working directory.
    """
    is_command = sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)].removeprefix("-m") == "namedtensor"
    if is_command and not sys.flags.safe_path and sys.path and realpath(sys.path[0]) == realpath(getcwd()):
        first = sys.path.pop(0)
        if realpath(first) == realpath(HOME):
            sys.path.append(first)
