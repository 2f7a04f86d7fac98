"""python -m benchmarks [--json FILE]: every figure, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import platform
from importlib import metadata

from . import compiled, eager, start


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in ("numpy", "lark")}


def table(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        bar = "" if row["bar"] is None else f"  (at most {row['bar']:g})"
        lines.append(f"{row['figure']:<58} {row['value']:>9.3f} {row['unit']}{bar}")
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--json", help="write the figures to this file")
    chosen = options.parse_args()
    rows = start.rows() + eager.rows() + compiled.rows()
    print(table(rows))
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump({"versions": versions(), "rows": rows}, file, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()
