"""Animations: a frame for each step, its piece of the source marked; GIF, MP4 and slides."""

import io
import os
import re
import stat
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.display.frames import MAX_SOURCE_LINES, axis_columns, source_lines, wrapped

pytest.importorskip("matplotlib", reason="matplotlib draws the pictures")
from PIL import Image

SOURCE = "Y = softmax_{seq} X ⊙_{seq} W\nW = 2 X"
X = nt.tensor(np.random.default_rng(1).normal(size=(3, 2)), "seq chans")
STEPS = nt.explain(SOURCE, X=X)


def text_of(figure):
    return [text.get_text() for text in figure.texts]


def figures(animation):
    for figure in animation._figures():
        yield SimpleNamespace(
            texts=text_of(figure), images=[np.asarray(a.images[0].get_array()) for a in figure.axes if a.images]
        )


def test_each_step_is_a_frame_with_its_value():
    frames = list(figures(nt.animate(STEPS, title="A title")))
    assert len(frames) == len(STEPS)
    for index, (frame, step) in enumerate(zip(frames, STEPS), 1):
        assert f"{index} of {len(STEPS)}" in frame.texts and "A title" in frame.texts
        np.testing.assert_allclose(frame.images[0].squeeze(), step.value.to_array(step.value.axes))
        shown = "".join(frame.texts).replace(" ", "")
        assert f"{step.text}:{step.type}".replace(" ", "") in shown


@pytest.mark.parametrize("step", list(STEPS), ids=lambda step: step.text)
def test_the_piece_of_a_step_is_marked_in_the_source(step):
    lines, marked = source_lines(SOURCE, step)
    assert lines == SOURCE.split("\n")
    pieces = [line[slice(*columns)] for line, columns in zip(lines, marked) if columns]
    assert pieces == [step.text]


def test_of_a_long_source_the_lines_near_the_step_are_shown():
    source = "\n".join(f"x_{n} = x_{n - 1} + 1" for n in range(1, 40))
    step = SimpleNamespace(node=SimpleNamespace(span=(source.index("x_20 ="), source.index("x_20 =") + 4)))
    lines, marked = source_lines(source, step)
    assert len(lines) == MAX_SOURCE_LINES and lines[marked.index((0, 4))].startswith("x_20 =")


def test_long_lines_are_wrapped_with_their_mark():
    pieces = wrapped("a" * 200, (80, 90))
    assert [len(text) for text, _ in pieces] == [84, 84, 32] and [columns for _, columns in pieces] == [
        (80, 84),
        (0, 6),
        None,
    ]


@pytest.mark.parametrize(
    "text, names",
    [
        ("softmax_{seq}(Q ⊙_{key} K / √|key|)", ["seq", "key", "key"]),
        ("seq : ℝ^{seq[3] × key}", ["seq", "key"]),
        ("seq + key", []),
        ("X_{seq→key}", ["seq", "key"]),
    ],
)
def test_axis_names_are_colored_where_they_are_axes(text, names):
    assert [text[start:end] for start, end in axis_columns(text, {"seq", "key"})] == names


@pytest.mark.parametrize("value", [nt.tensor(3.0, ()), nt.tensor([1.0, 2.0], "a"), nt.tensor(np.zeros((2, 6, 3, 4)), "a b c d"), nt.tensor([True, False], "a"), nt.tensor([np.nan, np.inf], "a"), nt.tensor([1j], "a")])  # fmt: skip
def test_values_of_every_kind_are_drawn(value):
    frames = list(nt.animate(nt.explain("X", X=value)).frames())
    assert len(frames) == 1 and Image.open(io.BytesIO(frames[0])).size == (960, 540)


@pytest.mark.slow
def test_a_gif_has_all_frames(tmp_path):
    nt.animate(STEPS, seconds=0.5).save(tmp_path / "steps.gif")
    picture = Image.open(tmp_path / "steps.gif")
    times = []
    for frame in range(picture.n_frames):
        picture.seek(frame)
        times.append(picture.info["duration"])
    assert picture.n_frames == len(STEPS) and times[:-1] == [500] * (len(STEPS) - 1) and times[-1] == 1250
    assert "base64" in nt.animate(STEPS)._repr_html_()


@pytest.mark.slow
def test_slides_of_reveal(tmp_path):
    nt.animate(STEPS, title="T <1>").save(tmp_path / "steps.html", reveal="../reveal/dist/")
    page = (tmp_path / "steps.html").read_text(encoding="utf-8")
    assert page.count("<section") == len(STEPS) == page.count("<svg")
    assert 'src="../reveal/dist/reveal.js"' in page and "<title>T &lt;1&gt;</title>" in page
    assert re.findall("<mark>(.+?)</mark>", page) == [step.text for step in STEPS]


FFMPEG = """#!{python}
import pathlib, sys
data = sys.stdin.buffer.read()
if {fails}:
    sys.exit("no such encoder")
pathlib.Path(sys.argv[-1]).write_bytes(b"video of %d frames" % (len(data) // (960 * 540 * 4)))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the stand-in for ffmpeg is a script")
def test_mp4_is_made_by_ffmpeg(tmp_path, monkeypatch):
    script = tmp_path / "ffmpeg"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(nt.NotationError, match="ffmpeg is not installed"):
        nt.animate(STEPS).save(tmp_path / "steps.mp4")
    for fails in (False, True):
        script.write_text(FFMPEG.format(python=sys.executable, fails=fails))
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
        if fails:
            with pytest.raises(nt.NotationError, match="ffmpeg failed: "):
                nt.animate(STEPS).save(tmp_path / "other.mp4")
            assert not (tmp_path / "other.mp4").exists()
        else:
            nt.animate(STEPS).save(tmp_path / "steps.mp4")
            assert (tmp_path / "steps.mp4").read_bytes() == b"video of %d frames" % len(STEPS)


@pytest.mark.parametrize("arguments, options, message", [
    (("∑_{a} X",), {}, "write nt.animate(nt.explain"),
    ((STEPS,), {"seconds": 0}, "seconds="),
    ((STEPS,), {"seconds": "fast"}, "seconds="),
])  # fmt: skip
def test_wrong_arguments(arguments, options, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.animate(*arguments, **options)
    assert message in str(caught.value)


@pytest.mark.slow
def test_too_many_steps_and_unknown_formats(tmp_path):
    steps = nt.explain("x^0 = 1\nx^t = x^{t-1} + t for t = 1, …, 60\ny = x^{60}")
    with pytest.raises(nt.NotationError, match="the limit is 120"):
        nt.animate(steps)
    for name in ("steps.txt", "steps"):
        with pytest.raises(nt.NotationError, match="unknown format"):
            nt.animate(STEPS).save(tmp_path / name)
    with pytest.raises(nt.NotationError, match="cannot write"):
        nt.animate(STEPS).save(tmp_path / "missing" / "steps.gif")
