"""The LaTeX that formulas print is taken by KaTeX, which knows none of the paper's macros.

Runs where Node.js finds the package katex (`npm install katex`, and NODE_PATH set to its node_modules).
"""

import json
import shutil
import subprocess

import pytest
from test_grammar_parser import EXPRESSIONS, STATEMENTS

import namedtensor as nt

RENDER = """
const katex = require('katex');
const formulas = JSON.parse(require('fs').readFileSync(0));
const failed = [];
for (const formula of formulas) {
  try { katex.renderToString(formula, {displayMode: true, strict: 'error'}) }
  catch (error) { failed.push([formula, error.message]) }
}
console.log(JSON.stringify(failed));
"""
PROGRAMS = [
    "f : ℝ^{a} × ℝ^{a × b} → ℝ^{b}\nf(x, A) = x ⊙_{a} A\nY = f(x, A) ∈ ℝ^{b}",
    "h^0 ∈ ℝ^{hidden}\nh^t = tanh(W ⊙_{hidden} h^{t-1})_{hidden'→hidden} for t = 1, …, n\n⋮",
    "|key| = |val| = |layer|/|heads|\nM_{seq(i), seq'(j)} = { 0 if i ≤ j; -∞ otherwise }",
]


def katex(formulas: list[str]) -> list:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    run = subprocess.run([node, "-e", RENDER], input=json.dumps(formulas), capture_output=True, text=True)
    if "Cannot find module 'katex'" in run.stderr:
        pytest.skip("the package katex is not installed for Node.js")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_katex_takes_what_formulas_print():
    formulas = [nt.formula(text).to_latex() for text in (*EXPRESSIONS, *STATEMENTS, *PROGRAMS)]
    assert katex(formulas) == []


def test_katex_refuses_the_macros_of_the_paper():
    assert katex([nt.formula("A ⊙_{a} B").to_latex(macros=True)]) != []
