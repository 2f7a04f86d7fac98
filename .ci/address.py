"""Set the address of the published playground, which public links contain: python .ci/address.py URL."""

import re
import sys
from pathlib import Path

FILE = Path(__file__).parent.parent / "namedtensor" / "webpage" / "site.py"
SETTING = re.compile(r"^SITE: str \| None = .*$", re.MULTILINE)


def with_address(text: str, address: str) -> str:
    """Return the file's text with another address. Raise ValueError if it is not the address of a page."""
    if not re.fullmatch(r"https?://[^\s#?\"\\]+", address):
        raise ValueError(f"{address!r} is not the address of a page, such as https://example.org/playground.html")
    text, count = SETTING.subn(lambda _: f'SITE: str | None = "{address}"', text)
    assert count == 1, FILE
    return text


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        FILE.write_text(with_address(FILE.read_text(encoding="utf-8"), sys.argv[1]), encoding="utf-8")
    except ValueError as problem:
        sys.exit(str(problem))
