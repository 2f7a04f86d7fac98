"""Build the site: the docs, the lessons and the playground with Python inside, as static files that need no server.

    python docs/site.py site/

It needs node, and what the extra `dev` installs; the packages of the page and KaTeX are installed where they are missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"


def run(folder: Path, *command: str, **environment: str) -> None:
    inputs = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT), **environment}
    subprocess.run(command, cwd=folder, env=inputs, check=True)


def main(target: Path) -> None:
    if not (WEB / "node_modules").is_dir():
        run(WEB, "npm", "ci", "--no-audit", "--no-fund")
    run(WEB, "node", "build.mjs", "--whole")
    run(
        ROOT, sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(ROOT / "docs"), str(target),
        NODE_PATH=str(WEB / "node_modules"),
    )  # fmt: skip
    (target / ".nojekyll").touch()
    if chromium := shutil.which("chromium"):  # how the page looks on a desktop, a projector and a phone, light and dark
        page = str(ROOT / "playground.html")
        run(WEB, "node", "test/screens.mjs", str(target / "_screens"), "first", PLAYGROUND_FILE=page, CHROMIUM=chromium)
    print(f"{target}: open {target / 'index.html'} or {target / 'playground.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve())
