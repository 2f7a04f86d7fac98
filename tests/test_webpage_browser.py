"""The page in a real browser: `web/test` is run by node with Chromium, and what is committed is what `web` builds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
NODE = shutil.which("node")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="node is missing"),
    pytest.mark.skipif(
        not (WEB / "node_modules").is_dir(), reason="the page's packages are missing: npm ci --prefix web"
    ),
]


def node(*words: str, limit: float, **environment: str) -> str:
    """What a script of `web` says; it must succeed."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, *words],
        cwd=WEB, env={**os.environ, "PYTHON": sys.executable, **environment},
        capture_output=True, text=True, encoding="utf-8", timeout=limit,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def test_the_page_is_what_its_sources_build():
    assert "is what web/ builds" in node("build.mjs", "--check", limit=120)
    assert (ROOT / "namedtensor" / "webpage" / "page.html").stat().st_size < 650_000


@pytest.mark.slow
def test_pieces_of_the_page():
    assert "# fail 0" in node("--test", "--test-reporter=tap", "test/pieces.test.mjs", limit=120)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing")
def test_the_page_in_a_browser():
    text = node("--test", "--test-reporter=tap", "test/page.test.mjs", limit=900, CHROMIUM=CHROMIUM or "")
    assert "# fail 0" in text
