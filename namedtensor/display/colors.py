"""The color of each axis, which is the same in all formulas, diagrams, types and other views.

The colors are legible as text on white (with a contrast of 4.5), and a second version is legible on black. Readers with
any type of color blindness can distinguish them. No information depends on color alone, because the names are written
too. From the ninth axis on, the colors repeat with an underline.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Color(NamedTuple):
    """A color for light pages, a color for dark pages, and a number in the 256-color terminal palette."""

    light: str
    dark: str
    terminal: int


COLORS = (
    Color("#0b80a6", "#75d4fd", 38),
    Color("#a04902", "#f68f52", 172),
    Color("#3b38c5", "#7380c9", 69),
    Color("#23734b", "#55c48a", 71),
    Color("#85112d", "#f7355f", 161),
    Color("#8850eb", "#b59cfa", 141),
    Color("#a8597b", "#c27796", 175),
    Color("#654780", "#b455fb", 134),
)


class Tint(NamedTuple):
    """The color of an axis. Axes that share a color differ in whether they are underlined."""

    number: int
    underlined: bool

    @property
    def color(self) -> Color:
        return COLORS[self.number]

    @property
    def escape(self) -> str:
        """The terminal escape sequence that begins this color."""
        return f"\x1b[{'4;' if self.underlined else ''}38;5;{self.color.terminal}m"


def tints(axes: Iterable[str]) -> dict[str, Tint]:
    """Return a color for each axis. Colors are assigned in the order of the axes.

    >>> tints(["seq", "key"])["key"].color.light
    '#a04902'
    """
    return {axis: Tint(n % len(COLORS), n >= len(COLORS)) for n, axis in enumerate(dict.fromkeys(axes))}


def supports_color(stream: Any) -> bool:
    """Return whether a stream is a terminal that displays colors. The variable NO_COLOR disables them."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("", "dumb"):
        return False
    return bool(getattr(stream, "isatty", lambda: False)())


# -------------------------------------------------------------------------------------------------------------- pages
PAGES = ("[data-theme=dark]", "[data-jp-theme-light=false]", ".vscode-dark", ".theme-dark")  # selectors of dark pages
BRIGHT = ("[data-theme=light]", "[data-jp-theme-light=true]", ".vscode-light")


def rules(light: Mapping[str, str], dark: Mapping[str, str]) -> str:
    """Return CSS rules, given the declarations of each selector for light pages and for dark pages."""
    text = "".join(f"{selector}{{{text}}}" for selector, text in light.items())
    for page in PAGES:
        text += "".join(f"{page} {selector}{{{text}}}" for selector, text in dark.items())
    unsaid = "".join(f":not({page})" for page in BRIGHT)
    asked = "".join(f"body{unsaid} {selector}{{{text}}}" for selector, text in dark.items())
    return f"{text}@media (prefers-color-scheme:dark){{{asked}}}"


def axis_rules() -> str:
    """Return the CSS rules for the classes nt-0, nt-1 and so on, one for each color, and for the underline."""
    light = {f".nt-{n}": f"color:{color.light};fill:{color.light}" for n, color in enumerate(COLORS)}
    dark = {f".nt-{n}": f"color:{color.dark};fill:{color.dark}" for n, color in enumerate(COLORS)}
    return rules(light, dark) + ".nt-more{text-decoration:underline dotted}"


def classes(tint: Tint) -> str:
    return f"nt-{tint.number}" + (" nt-more" if tint.underlined else "")
