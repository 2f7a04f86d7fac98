"""A formula as a moving picture: each step of an explanation is a frame, with its piece of the source marked.

source, the piece marked          softmax_{seq}([Q ⊙_{key} K] / √|key|)
the piece and its type            Q ⊙_{key} K : ℝ^{seq[3]}
the value                         a heat map, with numbers where it is small
"""

from __future__ import annotations

import base64
import html
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grammar.errors import NotationError

from ..core.kinds import as_number, as_path, wrong
from ..files.text import save
from .frames import SIZE_INCHES, draw_text, draw_value, marked_html, source_lines
from .pictures import blank, without_warnings
from .steps import Explanation

MAX_FRAMES = 120
DPI = 100


@dataclass(frozen=True)
class Animation:
    """The steps of an explanation as frames; `nt.animate` creates it, notebooks show it, and `save` writes a file."""

    explanation: Explanation
    seconds: float
    title: str

    def __len__(self) -> int:
        return len(self.explanation)

    def __repr__(self) -> str:
        return f"Animation of {len(self)} steps: a notebook shows it, and save('x.gif') writes it"

    def _repr_html_(self) -> str:
        data = base64.b64encode(self._gif()).decode()
        return f'<img alt="{html.escape(self.alternative)}" style="max-width:100%" src="data:image/gif;base64,{data}">'

    @property
    def alternative(self) -> str:
        """What the picture shows, in words."""
        return f"the {len(self)} steps of {' '.join(self.explanation.source.split())[:200]}"

    def save(self, path: str | os.PathLike[str], *, reveal: str = "reveal.js/dist") -> None:
        """Write it to a file.

        Parameters
        ----------
        path : str or path
            The extension sets the format: .gif, .mp4 (needs ffmpeg) or .html (slides of reveal.js, a step each).
        reveal : str
            Folder or address of the files of reveal.js, for .html (default: "reveal.js/dist").

        Raises
        ------
        NotationError
            If the format is unknown or the file cannot be written (409), or ffmpeg is not installed (408).
        """
        position = as_path(path)
        makers = {".gif": self._gif, ".mp4": self._mp4, ".html": lambda: self.to_reveal(reveal)}
        make = makers.get(position.suffix.lower())
        if make is None:
            raise NotationError(
                409, f"unknown format {position.suffix or position.name!r}", hint=f"available: {', '.join(makers)}"
            )
        save(position, make())

    def frames(self) -> Iterator[bytes]:
        """Each frame as a PNG file."""
        for figure in self._figures():
            file = io.BytesIO()
            with without_warnings():
                figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
            yield file.getvalue()

    def to_reveal(self, reveal: str = "reveal.js/dist") -> str:
        """Return a page of reveal.js: one slide a step, with the source and the type as text and the value as SVG.

        Parameters
        ----------
        reveal : str
            Folder or address of the files of reveal.js (default: "reveal.js/dist").
        """
        base = html.escape(reveal.rstrip("/"))
        slides = "\n".join(f"<section data-auto-animate>{slide}</section>" for slide in self._slides())
        return REVEAL.format(title=html.escape(self.title or self.alternative), base=base, slides=slides)

    def _slides(self) -> Iterator[str]:
        for index, (step, figure) in enumerate(zip(self.explanation, self._figures(with_text=False)), 1):
            file = io.StringIO()
            with without_warnings():
                figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
            svg = file.getvalue()
            lines, marked = source_lines(self.explanation.source, step)
            shown = "\n".join(marked_html(line, span) for line, span in zip(lines, marked))
            yield (
                f'<pre data-id="source">{shown}</pre><p data-id="type"><code>{html.escape(step.text)} : {html.escape(step.type)}</code>'
                f"</p>{svg[svg.index('<svg') :]}<p><small>{index} of {len(self)}</small></p>"
            )

    def _figures(self, with_text: bool = True) -> Iterator[Any]:
        """The figure, cleared and drawn for each step."""
        figure: Any = blank()
        figure.set_layout_engine("none")
        figure.set_dpi(DPI)
        figure.set_size_inches(SIZE_INCHES if with_text else (SIZE_INCHES[0], SIZE_INCHES[1] * 0.6))
        for index, step in enumerate(self.explanation, 1):
            figure.clear()
            bottom, top = (
                (0.12, draw_text(figure, self.explanation, index, step, self.title)) if with_text else (0.17, 0.93)
            )
            draw_value(figure, self.explanation, step, (0.10, bottom, 0.80, top - bottom))
            yield figure

    def _gif(self) -> bytes:
        from PIL import Image  # type: ignore[import-not-found]  # which matplotlib needs, too

        pictures = [Image.open(io.BytesIO(frame)).convert("RGB") for frame in self.frames()]
        palette = [picture.quantize(128) for picture in pictures]
        file = io.BytesIO()
        times = [round(1000 * self.seconds)] * (len(palette) - 1) + [round(2500 * self.seconds)]
        palette[0].save(file, "GIF", save_all=True, append_images=palette[1:], duration=times, loop=0, optimize=True)
        return file.getvalue()

    def _mp4(self) -> bytes:
        import tempfile

        from matplotlib.animation import FFMpegWriter  # type: ignore[import-not-found]

        if not FFMpegWriter.isAvailable():
            hint = "install ffmpeg, or save a .gif file"
            raise NotationError(408, "ffmpeg is not installed, and an MP4 file needs it", hint=hint)
        rate: Any = 1 / self.seconds  # frames a second
        writer: Any = FFMpegWriter(fps=rate, extra_args=["-r", "25", "-pix_fmt", "yuv420p"])
        figures = self._figures()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "steps.mp4")
            try:
                with writer.saving(next(figures), str(path), DPI), without_warnings():
                    writer.grab_frame()
                    for _ in figures:
                        writer.grab_frame()
                return path.read_bytes()
            except Exception as problem:  # what the process raises
                reason = str(problem).partition("\n")[0][:200]
                raise NotationError(408, f"ffmpeg failed: {reason}", hint="save a .gif file") from None


def animate(explanation: Explanation, *, seconds: float = 1.5, title: str = "") -> Animation:
    """Animate the steps of a formula: each is a frame with its piece of the source marked, its type and its value.

    Parameters
    ----------
    explanation : Explanation
        The steps, of `nt.explain` or the method `explain`; `steps.inside("FFN")` has those of one definition.
    seconds : float
        Seconds that a step is shown (default: 1.5).
    title : str
        Title above the source (default: none).

    Returns
    -------
    Animation
        Shown by notebooks; `save` writes a GIF, MP4 or HTML file.

    Raises
    ------
    NotationError
        If there are more steps than 120 (404), or matplotlib is missing (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> X = nt.tensor([[1.0, 2.0], [3.0, 1.0]], "seq chans")
    >>> animation = nt.animate(nt.explain("softmax_{seq} X ⊙_{seq} X", X=X))
    >>> animation.save("steps.gif")  # doctest: +SKIP
    """
    given: Any = explanation
    if not isinstance(given, Explanation):
        raise wrong(given, "the first argument", "an explanation", "write nt.animate(nt.explain(formula, X=X))")
    seconds = as_number(seconds, "seconds=", 0.02, "write seconds=1.5")
    if len(explanation) > MAX_FRAMES:
        raise NotationError(
            404, f"the animation has {len(explanation)} steps; the limit is {MAX_FRAMES}",
            hint='animate the steps of one definition: nt.animate(steps.inside("FFN"))',
        )  # fmt: skip
    blank()  # which says whether matplotlib is installed
    return Animation(explanation, seconds, title)


REVEAL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="{base}/reset.css">
<link rel="stylesheet" href="{base}/reveal.css">
<link rel="stylesheet" href="{base}/theme/white.css">
<style>
.reveal pre {{ box-shadow: none; font-size: .5em; line-height: 1.5; width: 100%; white-space: pre-wrap; }}
.reveal mark {{ background: #ffe08a; color: inherit; border-radius: .15em; }}
.reveal svg {{ max-height: 60vh; max-width: 100%; height: auto; }}
.reveal p {{ font-size: .55em; margin: .3em 0; }}
</style>
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script src="{base}/reveal.js"></script>
<script>Reveal.initialize({{ hash: true, controls: true, progress: true }});</script>
</body>
</html>
"""
