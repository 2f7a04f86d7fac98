"""`python -m namedtensor`: the command line."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def modules_from_elsewhere() -> None:
    """Look for modules in the working directory, which `python -m` puts first, no more; last where this package lies there.

    It may hold files of strangers, called `json.py` or `queue.py`. The command `namedtensor` does not look there at all.
    """
    if not sys.flags.safe_path and sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(os.getcwd()):
        first = sys.path.pop(0)
        if os.path.realpath(first) == ROOT:
            sys.path.append(first)


if __name__ == "__main__":
    modules_from_elsewhere()
    from .cli.commands import main

    sys.exit(main())
