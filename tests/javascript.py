"""Formulas computed by Node.js, many in one process: the modules that `to_javascript` writes, imported and called.

python tests/javascript.py 2000 0        two thousand drawn programs from seed 0 on, and what differs from NumPy
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import namedtensor as nt
from namedtensor.backends.entry_checks import every_step
from namedtensor.backends.javascript import BACKEND, RUNTIME, TARGET, runtime
from namedtensor.planning.plan import Plan
from namedtensor.programs.executable import Options
from namedtensor.programs.named_plans import plan_of

NODE = shutil.which("node")
REASON = "Node.js is not installed"
CLOSE = 1e-9
RUN = """
import { readFileSync } from "node:fs";
const results = [];
const plain = ({ shape, data }) => ({ shape, data: Array.from(data, (x) => (Number.isFinite(x) ? x : String(x))) });
for (const { module, inputs } of JSON.parse(readFileSync("cases.json", "utf-8"))) {
  try {
    const { formula } = await import(module);
    const result = formula(...inputs.map(({ shape, data }) => ({ shape, data: Float64Array.from(data, Number) })));
    results.push(Array.isArray(result) ? result.map(plain) : plain(result));
  } catch (error) {
    results.push({ name: error.name, code: error.code, message: error.message, hint: error.hint, span: error.span });
  }
}
console.log(JSON.stringify(results));
"""


class Case(NamedTuple):
    """A formula, or a name of a program, the tensors and numbers that it is given, and what NumPy makes of them."""

    title: str
    formula: Any
    values: Mapping[str, Any]
    sizes: Mapping[str, int] | None
    due: nt.NamedTensor

    def plan(self) -> Plan:
        return plan_of(self.formula._goal, TARGET, self.values, Options(self.sizes))[0]


def case(title: str, formula: Any, values: Mapping[str, Any] = {}, sizes: Mapping[str, int] | None = None) -> Case:
    """The case of a text, or of a name of a program, with those of the values that it names, floating ones as doubles."""
    formula = nt.formula(formula) if isinstance(formula, str) else formula
    values = in_doubles(values)
    result = formula.compile("numpy")(values=values, sizes=sizes)
    return Case(title, formula, values, sizes, result if isinstance(result, nt.NamedTensor) else nt.tensor(result, ()))


def named_in(text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given for the names that a text has."""
    names = {*re.findall(r"[^\W_]+", text)}
    return {name: value for name, value in given.items() if name.partition("^")[0] in names}


def in_doubles(values: Mapping[str, Any]) -> dict[str, Any]:
    """Floating tensors of 64 bits: JavaScript has no others."""
    wide = lambda x: nt.tensor(x.array.astype("float64"), x.axes) if x.array.dtype.kind == "f" else x
    return {name: wide(x) if isinstance(x, nt.NamedTensor) else x for name, x in values.items()}


def run(modules: Iterable[tuple[str, Iterable[Any]]]) -> list[Any]:
    """What each module gives for the arrays that its function is called with: a dictionary, or a list of several."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        (path / RUNTIME).write_text(runtime(), encoding="utf-8")
        (path / "run.js").write_text(RUN, encoding="utf-8")
        cases = []
        for number, (text, arrays) in enumerate(modules):
            (path / f"case_{number}.js").write_text(text, encoding="utf-8")
            result = [np.asarray(array, dtype="float64") for array in arrays]
            inputs = [{"shape": x.shape, "data": [number_text(y) for y in x.ravel().tolist()]} for x in result]
            cases.append({"module": f"./case_{number}.js", "inputs": inputs})
        (path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        assert NODE is not None, REASON
        done = subprocess.run([NODE, "run.js"], cwd=path, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def number_text(number: float) -> Any:
    return number if np.isfinite(number) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(number), "NaN")


class Comparison(NamedTuple):
    """How many cases there were, what differs, and the primitives that they had."""

    count: int
    different: list[str]
    primitives: set[str]


def compare(cases: Iterable[Case], standalone: bool = False) -> Comparison:
    """The cases in NumPy and in JavaScript."""
    known = [(row, row.plan()) for row in cases]
    result = run((BACKEND.text(plan, standalone), arrays(row.values)) for row, plan in known)
    different = []
    for (row, plan), got in zip(known, result):
        how = difference(row, plan, got)
        if how:
            different.append(f"{row.title}: {row.formula}\n    {how}")
    return Comparison(
        len(known), different, {step.primitive for _, plan in known for step in every_step(plan)} - {"same"}
    )


def arrays(values: Mapping[str, Any]) -> list[Any]:
    return [value.array for value in values.values() if isinstance(value, nt.NamedTensor)]


def difference(case: Case, plan: Plan, got: dict[str, Any]) -> str | None:
    if "data" not in got:
        return f"{got['name']} {got.get('number')}: {got['message']}"
    order = getattr(plan.results[0], "order", ())
    expected = np.asarray(case.due.to_array(order) if order else case.due.array, dtype="float64")
    array = np.array([float(x) for x in got["data"]]).reshape(got["shape"])
    if array.shape != expected.shape:
        return f"the shape {array.shape}, where {expected.shape} is due"
    scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)))
    if np.allclose(array, expected, rtol=0, atol=CLOSE * scale, equal_nan=True):
        return None
    return f"{array.tolist()}, where {expected.tolist()} is due"


def drawn(seeds: Iterable[int]) -> list[Case]:
    """Drawn programs that NumPy computes."""
    import differential
    from drawn_programs import draw

    result = []
    for seed in seeds:
        program = draw(seed)
        with contextlib.suppress(nt.NotationError):
            result.append(case(f"seed {seed}", program.text, differential.array_of(program)))
    return result


if __name__ == "__main__":
    count, first = (int(name) for name in sys.argv[1:3])
    done = compare(drawn(range(first, first + count)))
    print("\n".join(done.different))
    print(f"{done.count - len(done.different)} of {done.count} agree; primitives: {' '.join(sorted(done.primitives))}")
