r"""A diagram for papers: the shapes of its SVG as TikZ, and by matplotlib as PDF or PNG.

\draw[…] (12bp,-30bp) -- (12bp,-44bp);        a line of the SVG; up is down in TikZ
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

from grammar.errors import NotationError
from grammar.printer.latex import LETTERS, Latex

NAMESPACE = "{http://www.w3.org/2000/svg}"
STYLE = re.compile(r"\.(nt-[\w-]+)\{([^}]*)\}")
STEP = re.compile(r"([MLHVCQ])([^MLHVCQ]*)")
INK = "#1b1f24"
Point = tuple[float, float]


class Look(NamedTuple):
    """How a shape is drawn."""

    fill: str | None
    stroke: str | None
    width: float
    dashed: bool
    arrow: bool = False


class Rectangle(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    corner: float
    look: Look


class Line(NamedTuple):
    """Points from one to the next: one for a straight piece, two or three for a curve."""

    start: Point
    pieces: list[tuple[Point, ...]]
    look: Look


class Span(NamedTuple):
    """Characters of one style, on the baseline (0), above (1) or below it (-1)."""

    text: str
    level: int
    color: str
    axis: bool
    slanted: bool
    size: float
    shift: float


class Words(NamedTuple):
    x: float
    y: float
    spans: list[Span]


Shape = Rectangle | Line | Words


class Drawing(NamedTuple):
    width: float
    height: float
    shapes: list[Shape]


def read(svg: str) -> Drawing:
    """The shapes of a diagram's SVG."""
    root = ElementTree.fromstring(svg)
    styles = {name: dict(each.split(":", 1) for each in text.split(";") if ":" in each)
              for name, text in STYLE.findall(root.findtext(f"{NAMESPACE}style") or "")}  # fmt: skip
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    return Drawing(width, height, [shape for each in root for shape in _shape(each, styles)])


def _shape(element: ElementTree.Element, styles: Mapping[str, Mapping[str, str]]) -> Iterator[Shape]:
    given, kind = element.attrib, element.tag.removeprefix(NAMESPACE)
    if kind == "rect":
        x, y, width, height, corner = (float(given[name]) for name in ("x", "y", "width", "height", "rx"))
        yield Rectangle(x, y, width, height, corner, _look(given, styles))
    elif kind == "path":
        yield _line(given["d"], _look(given, styles))
    elif kind == "text":
        yield Words(float(given["x"]), float(given["y"]), list(_spans(element, styles)))


def _look(given: Mapping[str, str], styles: Mapping[str, Mapping[str, str]]) -> Look:
    said: dict[str, str] = {}
    for name in given.get("class", "").split():
        said |= styles.get(name, {})
    fill, stroke = (None if said.get(name, "none") == "none" else said[name] for name in ("fill", "stroke"))
    return Look(fill, stroke, float(said.get("stroke-width", 1)), "stroke-dasharray" in said, "marker-end" in given)


def _line(text: str, look: Look) -> Line:
    start = at = (0.0, 0.0)
    pieces: list[tuple[Point, ...]] = []
    for sign, rest in STEP.findall(text):
        numbers = [float(each) for each in rest.replace(",", " ").split()]
        if sign == "M":
            start = at = (numbers[0], numbers[1])
            continue
        if sign in "HV":
            points = [(numbers[0], at[1]) if sign == "H" else (at[0], numbers[0])]
        else:
            points = list(zip(numbers[::2], numbers[1::2], strict=True))
        pieces.append(tuple(points))
        at = points[-1]
    return Line(start, pieces, look)


def _spans(element: ElementTree.Element, styles: Mapping[str, Mapping[str, str]]) -> Iterator[Span]:
    size, height = float(element.attrib["font-size"]), 0.0
    usual = next(
        (styles[name]["fill"] for name in element.attrib["class"].split() if "fill" in styles.get(name, {})), INK
    )
    for each in element:
        height += float(each.attrib.get("dy", 0))
        names = each.attrib.get("class", "").split()
        color = next((styles[name]["fill"] for name in names if "fill" in styles.get(name, {})), usual)
        level = 0 if abs(height) < 0.5 else -1 if height > 0 else 1
        letters = float(each.attrib.get("font-size", size))
        yield Span(each.text or "", level, color, "nt-axis" in names, "nt-slanted" in names, letters, height)


# ---------------------------------------------------------------------------------------------------------------- TikZ
MACROS = (
    {sign: macro for sign, macro in Latex.signs.items() if len(sign) == 1}
    | LETTERS
    | {
        "ℝ": r"\mathbb{R}",
        "·": r"\cdot",
        "→": r"\rightarrow",
        "×": r"\times",
        "−": "-",
        "…": r"\ldots",
        "•": r"\bullet",
        "√": r"\surd",
    }
)
ESCAPED = {"_": r"\_", "#": r"\#", "%": r"\%", "&": r"\&", "$": r"\$", "{": r"\{", "}": r"\}", " ": r"\ "}
PIECES = re.compile(r"[A-Za-z]+|.", re.DOTALL)


def tikz(svg: str) -> str:
    """A `tikzpicture` for the packages tikz, amsmath and amssymb."""
    drawing = read(svg)
    body = "\n".join(f"  {TIKZ[type(shape)](shape)}" for shape in drawing.shapes)
    return f"\\begin{{tikzpicture}}[x=1bp, y=-1bp, >=stealth]\n{body}\n\\end{{tikzpicture}}\n"


def _options(look: Look, *more: str) -> str:
    words = list(more)
    for name, color in (("fill", look.fill), ("draw", look.stroke)):
        if color:
            red, green, blue, opacity = _parts(color)
            words.append(f"{name}={{rgb,255:red,{red};green,{green};blue,{blue}}}")
            words += [f"{name} opacity={opacity:.2f}"] if opacity < 1 else []
    words += [f"line width={look.width:g}bp"] if look.stroke else []
    words += ["dashed"] if look.dashed else []
    words += ["->"] if look.arrow else []
    return ", ".join(words)


def _parts(color: str) -> tuple[int, int, int, float]:
    numbers = [int(color[at : at + 2], 16) for at in range(1, len(color), 2)]
    return numbers[0], numbers[1], numbers[2], numbers[3] / 255 if len(numbers) > 3 else 1.0


def _at(point: Point) -> str:
    return f"({point[0]:.1f},{point[1]:.1f})"


def _tikz_rectangle(shape: Rectangle) -> str:
    corner = min(shape.corner, shape.width / 2, shape.height / 2)
    options = _options(shape.look, f"rounded corners={corner:g}bp")
    return (
        rf"\path[{options}] {_at((shape.x, shape.y))} rectangle {_at((shape.x + shape.width, shape.y + shape.height))};"
    )


def _tikz_line(shape: Line) -> str:
    text, last = _at(shape.start), shape.start
    for points in shape.pieces:
        if len(points) == 1:
            text += f" -- {_at(points[0])}"
        else:
            first, second = points[:2] if len(points) == 3 else cubic(last, *points)
            text += f" .. controls {_at(first)} and {_at(second)} .. {_at(points[-1])}"
        last = points[-1]
    return rf"\draw[{_options(shape.look)}] {text};"


def cubic(start: Point, control: Point, end: Point) -> tuple[Point, Point]:
    """The two controls of the cubic curve that a quadratic one is."""
    return tuple(  # type: ignore[return-value]
        tuple(one + 2 / 3 * (between - one) for one, between in zip(of, control, strict=True)) for of in (start, end)
    )


def _tikz_words(shape: Words) -> str:
    size = shape.spans[0].size if shape.spans else 10.0
    base = max((each.size for each in shape.spans if each.level == 0), default=size)
    return (
        rf"\node[anchor=base, inner sep=0pt, font=\fontsize{{{0.75 * base:.1f}}}{{{base:.1f}}}\selectfont] at {_at((shape.x, shape.y))} "
        rf"{{${maths(shape.spans)}$}};"
    )


def maths(spans: list[Span]) -> str:
    r"""Spans as LaTeX, scripts as scripts.

    >>> maths([Span("X", 0, INK, False, True, 15, 0), Span("seq", -1, INK, True, False, 11, 4)])
    'X_{\\mathsf{seq}}'
    """
    text, at = "", 0
    while at < len(spans):
        level, following = spans[at].level, at
        while following < len(spans) and spans[following].level == level:
            following += 1
        inside = "".join(map(_maths, spans[at:following]))
        text += inside if level == 0 else ("^" if level > 0 else "_") + f"{{{inside}}}"
        at = following
    return f"{{}}{text}" if text.startswith(("_", "^")) else text


def _maths(span: Span) -> str:
    if span.axis:
        name = "".join(ESCAPED.get(letter, letter) for letter in span.text)
        inside = rf"\mathsf{{{name}}}"
        return inside if span.color == INK else rf"\textcolor[HTML]{{{span.color.lstrip('#').upper()}}}{{{inside}}}"
    return "".join(_letters(piece, span.slanted) for piece in PIECES.findall(span.text))


def _letters(piece: str, slanted: bool) -> str:
    if piece.isascii() and piece.isalpha():
        return piece if slanted or len(piece) == 1 else rf"\mathrm{{{piece}}}"
    macro = MACROS.get(piece, ESCAPED.get(piece, piece))
    if macro.isascii():
        return macro + " " * macro[-1:].isalpha()
    return rf"\text{{{macro}}}"


TIKZ: dict[type, Callable[[Any], str]] = {Rectangle: _tikz_rectangle, Line: _tikz_line, Words: _tikz_words}


# ---------------------------------------------------------------------------------------------------------- matplotlib
def painted(svg: str, format: str) -> bytes:
    """The drawing as PDF or PNG. Raises NotationError (408) where matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # type: ignore[import-not-found]
        from matplotlib.figure import Figure  # type: ignore[import-not-found]
    except ImportError:
        hint = "pip install '.[pictures]'; or use a name that ends in .svg or .tikz"
        raise NotationError(408, f"writing a diagram as {format.upper()} needs matplotlib", hint=hint) from None
    drawing = read(svg)
    figure: Any = Figure(figsize=(drawing.width / 72, drawing.height / 72))
    FigureCanvasAgg(figure)
    canvas = figure.add_axes((0, 0, 1, 1), xlim=(0, drawing.width), ylim=(drawing.height, 0))
    canvas.set_axis_off()
    for order, shape in enumerate(drawing.shapes):
        PAINT[type(shape)](canvas, shape, order)
    found = io.BytesIO()
    dated = {"CreationDate": None} if format == "pdf" else {}
    figure.savefig(found, format=format, dpi=200, metadata=dated)
    return found.getvalue()


def _paint_rectangle(canvas: Any, shape: Rectangle, order: int) -> None:
    from matplotlib.patches import FancyBboxPatch  # type: ignore[import-not-found]

    corner = min(shape.corner, shape.width / 2, shape.height / 2)
    style = f"round,pad=0,rounding_size={corner}"
    canvas.add_patch(
        FancyBboxPatch((shape.x, shape.y), shape.width, shape.height, boxstyle=style, **_paint(shape.look, order))
    )


def _paint_line(canvas: Any, shape: Line, order: int) -> None:
    from matplotlib.patches import FancyArrowPatch, PathPatch  # type: ignore[import-not-found]
    from matplotlib.path import Path  # type: ignore[import-not-found]

    codes, points = [Path.MOVETO], [shape.start]
    for piece in shape.pieces:
        codes += [(Path.LINETO, Path.CURVE3, Path.CURVE4)[len(piece) - 1]] * len(piece)
        points += piece
    path, look = Path(points, codes), _paint(shape.look._replace(fill=None), order)
    canvas.add_patch(PathPatch(path, **look))
    if shape.look.arrow:
        tip, before = points[-1], points[-2]
        arrow = FancyArrowPatch(before, tip, arrowstyle="-|>", mutation_scale=8, shrinkA=0, shrinkB=0, linewidth=0,
                                color=shape.look.stroke, zorder=order)  # fmt: skip
        canvas.add_patch(arrow)


def _paint(look: Look, order: int) -> dict[str, Any]:
    return {"facecolor": look.fill or "none", "edgecolor": look.stroke or "none", "linewidth": look.width if look.stroke else 0,
            "linestyle": "--" if look.dashed else "-", "zorder": order}  # fmt: skip


def _paint_words(canvas: Any, shape: Words, order: int) -> None:
    """Letters side by side, as broad as the layout takes them."""
    from matplotlib.font_manager import FontProperties  # type: ignore[import-not-found]
    from matplotlib.textpath import TextPath  # type: ignore[import-not-found]

    def written(span: Span) -> tuple[Any, float]:
        font = FontProperties(family="DejaVu Sans" if span.axis else "DejaVu Serif", size=span.size,
                              style="italic" if span.slanted else "normal")  # fmt: skip
        whole: Any = TextPath((0, 0), f"{span.text}|", prop=font)
        blank: Any = TextPath((0, 0), "|", prop=font)
        return font, whole.get_extents().x1 - blank.get_extents().x1

    widths = [written(span) for span in shape.spans]
    x = shape.x - sum(width for _, width in widths) / 2
    for span, (font, width) in zip(shape.spans, widths, strict=True):
        canvas.text(x, shape.y + span.shift, span.text, fontproperties=font, color=span.color, zorder=order,
                    va="baseline", ha="left", parse_math=False)  # fmt: skip
        x += width


PAINT: dict[type, Callable[[Any, Any, int], None]] = {
    Rectangle: _paint_rectangle,
    Line: _paint_line,
    Words: _paint_words,
}
