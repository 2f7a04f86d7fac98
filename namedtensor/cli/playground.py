"""The command `playground`: an interactive page, served to this machine only or written to a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..core.version import __version__
from ..files.text import InputError, read_text, save_text
from .arguments import find_exercises
from .console import Console
from .parsers import MEMORY, Argument, command

WHOLE = "playground.html"
REPOSITORY = Path(__file__).parent.parent.parent  # In an installation, this folder has no playground.html.
DISTRIBUTION = "named-tensor-notation-playground"  # the package that contains playground.html
LONGEST = 60_000  # characters of a file that the page begins with


@command(
    Argument("file", "FILE.nt", "a program or exercises to open; 'lesson 1' is part of the package", {"nargs": "?"}),
    Argument("--port", "N", "the port; 0 selects a free one (default: 8017)", {"type": int, "default": 8017}),
    Argument("--seconds", "N", "time limit of a request in seconds (default: 10)", {"type": float, "default": 10.0}),
    MEMORY,
    Argument("--site", "URL", "the address of a published page, for the links of the share button"),
    Argument("--no-browser", "", "print the address, and open no browser"),
    Argument("--save", "PATH", "write the page that needs no server to a file, and start no server"),
)
def playground_command(options: Any, console: Console) -> None:
    """Open an interactive page for formulas.

    namedtensor playground                          open the page in a browser
    namedtensor playground attention.nt             open a program, or the exercises of a file
    namedtensor playground 'lesson 1'               open the exercises of a lesson
    namedtensor playground --site https://example.org/playground.html     share links that others can open
    namedtensor playground --no-browser --port 0    print an address with a free port
    namedtensor playground --save playground.html   write the page to a file that needs no server

    Only this computer can reach the page, and the page makes no other network requests.
    """
    text = None if options.file is None else read_text(find_exercises(options.file))
    if text is not None and len(text) > LONGEST:
        raise InputError(f"{options.file} has {len(text)} characters, and the page takes {LONGEST}")
    if options.save:
        return save_page(Path(options.save), console)
    if options.site is not None and not re.fullmatch(r"https?://[^\s#?]+", options.site):
        raise InputError(f"{options.site} is not an address: write --site https://example.org/playground.html")
    limits = {"seconds": options.seconds, "memory": options.memory * 2**20, "site": options.site}
    return serve(text, options.port, not options.no_browser, console, limits)


def serve(text: str | None, port: int, opened: bool, console: Console, limits: dict[str, Any]) -> None:
    """Serve the page until the user interrupts.

    If the port is in use, serve on a free port. Raise InputError if the page is not built or the port is invalid.
    """
    from ..webpage.server import Server, page

    try:
        page()
        server = Server(port, text, **limits)
    except FileNotFoundError:
        raise InputError("the page is not built: run `node web/build.mjs` in the repository") from None
    except (OSError, OverflowError):
        if not 0 <= port < 2**16:
            raise InputError(f"a port is a number from 0 to {2**16 - 1}, not {port}") from None
        server = Server(0, text, **limits)  # the port is in use
    console.print(f"{server.address} is the playground; Ctrl-C ends it")
    console.flush()
    try:
        if opened:
            import webbrowser

            webbrowser.open(server.address)
        server.serve_forever()
    except KeyboardInterrupt:
        console.note("")
    finally:
        server.server_close()


def save_page(target: Path, console: Console) -> None:
    """Save the page that works without a server. Raise InputError if the page is not installed."""
    data, version = whole_page()
    target = target / WHOLE if target.is_dir() else target
    save_text(target, data)
    console.note(f"{target}: {len(data) / 1e6:.1f} MB; it needs no server and no network")
    if version not in (None, __version__):
        install = f"pip install {DISTRIBUTION}=={__version__}"
        console.note(f"it is of version {version}, and this is {__version__}: {install}")


def whole_page() -> tuple[bytes, str | None]:
    """Return the page that includes Python, and the version of the package that contains the page.

    If the page is from the repository, the version is None. Raise InputError if the page is not installed.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    if (REPOSITORY / WHOLE).is_file():
        return (REPOSITORY / WHOLE).read_bytes(), None
    try:
        installed = distribution(DISTRIBUTION)
        return Path(str(installed.locate_file(f"namedtensor_playground/{WHOLE}"))).read_bytes(), installed.version
    except (PackageNotFoundError, OSError):
        raise InputError(
            f"--save writes the page of the package {DISTRIBUTION}, which is not installed: pip install {DISTRIBUTION}"
        ) from None
