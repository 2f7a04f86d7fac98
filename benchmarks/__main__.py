"""python -m benchmarks [names…] [--json FILE] [--quick]: every figure, or those of some groups or works."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path

from .peers import load, machine, versions
from .turns import QUICK, Effort, left_out, measure, rows_of
from .works import GROUPS, HERE, WORKS, chosen


def verdict(row: dict) -> str:
    """Whether a row meets its bar, where it has one."""
    if row["bar"] is None or row["value"] is None:
        return ""
    return "met" if row["value"] <= row["bar"] else "missed"


def line(row: dict) -> str:
    value = "—" if row["value"] is None else f"{row['value']:.3f}"
    least = f"  {row['least']:>8.3f} at best" if row.get("least") is not None else ""
    memory = f"  {row['memory'] / 1e6:>9.1f} MB" if row.get("memory") is not None else ""
    bar = "" if row["bar"] is None else f"  (at most {row['bar']:g}: {verdict(row)})"
    return f"{row['figure']:<92} {value:>10} {row['unit']:<20}{least}{memory}{bar}"


def table(rows: list[dict]) -> str:
    return "\n".join(map(line, rows))


def report(rows: list[dict], without: list[dict], quick: bool) -> dict:
    """What is written as JSON."""
    return {
        "date": datetime.date.today().isoformat(), "machine": machine(), "load": load(), "quick": quick, "versions": versions(),
        "rows": [row | {"verdict": verdict(row)} for row in rows], "left_out": without,
    }  # fmt: skip


def keep(given: argparse.Namespace, rows: list[dict], without: list[dict], earlier: dict) -> None:
    """Write what there is so far: a long run that is ended is not lost."""
    if given.json:
        result = report(rows, without, given.quick)
        if earlier:
            anew = {row["work"] for row in (*rows, *without) if "work" in row}
            left_out = [item for item in earlier["left_out"] if item["work"] not in anew]
            result |= {"rows": renewed(earlier["rows"], result["rows"]), "left_out": left_out + without}
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1, ensure_ascii=False)


def earlier_report(given: argparse.Namespace) -> dict:
    """What the file has, where that is to be kept."""
    if not given.keep or not given.json or not Path(given.json).exists():
        return {}
    return json.loads(Path(given.json).read_text("utf-8"))


def renewed(earlier: list[dict], rows: list[dict]) -> list[dict]:
    """Earlier rows with those of the same figures in their places, all that are new after them, and no others of their works."""
    works, anew = {row["work"] for row in rows if "work" in row}, {(row["figure"], row["unit"]): row for row in rows}
    remaining = {(row["figure"], row["unit"]): row for row in earlier}
    remaining = {key: row for key, row in remaining.items() if key in anew or row.get("work") not in works}
    return [*(remaining | anew).values()]


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ", ".join((*HERE, *GROUPS))
    options.add_argument(
        "names", nargs="*", help=f"groups ({known}) or works ({', '.join(WORKS)}); all if none is given"
    )
    options.add_argument("--json", help="write the figures to this file")
    options.add_argument("--keep", action="store_true", help="keep the other figures that the file has")
    options.add_argument("--quick", action="store_true", help="few rounds, and none of the heavy works")
    args = options.parse_args()
    try:
        here, works = chosen(args.names)
    except KeyError as unknown:
        options.error(f"there is no {unknown}; known are {known}, {', '.join(WORKS)}")
    rows: list[dict] = []
    without: list[dict] = []
    earlier = earlier_report(args)
    for name in here:
        result = HERE[name]()
        rows += result
        print(table(result), flush=True)
    keep(args, rows, without, earlier)
    for work in works:
        if args.quick and work.heavy and work.name not in args.names:
            without.append({"work": work.name, "side": "", "reason": "heavy: not among the quick ones"})
            continue
        measured = measure(work, QUICK if args.quick else Effort())
        result = rows_of(work, measured)
        rows += result
        without += left_out(work, measured)
        print(table(result), flush=True)
        keep(args, rows, without, earlier)
    for item in without:
        print(f"left out: {item['work']}{item['side'] and ': '}{item['side']} ({item['reason']})")
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    print(machine())
    failed = [
        element
        for element in without
        if element["side"].startswith("namedtensor") and element["reason"].startswith("failed")
    ]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
