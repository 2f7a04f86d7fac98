"""`python -m namedtensor`: the command line."""

import sys

if __name__ == "__main__":
    from .cli.commands import main

    sys.exit(main())
