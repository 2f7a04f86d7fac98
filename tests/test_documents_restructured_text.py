"""Formulas in reStructuredText and in Markdown dialects: which are read, and their lines."""

import pytest

import namedtensor as nt

PAGE = r"""=========
Attention
=========

.. namedtensor: ignore 305

Let :math:`X \in \mathbb{R}^{\name{seq} \times \name{key}}`; the text ``:math:`\nsum{\name{no}} X``` is code.

Sums
----

.. math::
   :label: sums

   \newcommand{\total}[1]{\nsum{\name{seq}} #1}
   Y = \total{X}

   Z = \nsum{\name{sek}} X

.. math:: W = \nsum{\name{kee}} X

A literal block::

   :math:`X \ndot{\name{never}} X`

.. code-block:: python

   text = ":math:`\nsum{\name{never}} X`"

..
   :math:`\nsum{\name{never}} X` in a comment

- The sum :math:`V = \total{X} + \nsum{\name{sec}} X` is wrong.
"""


def find_errors(text, path):
    return [(error.code, error.axis, error.position()[0]) for error in nt.check_document(text, path).errors]


def test_restructured_text_is_read():
    checked = nt.check_document(PAGE, "page.rst")
    assert find_errors(PAGE, "page.rst") == [(301, "sek", 18), (301, "kee", 20), (301, "sec", 33)]
    assert checked.formulas == 5 and checked.types["Sums"]["Y"] == "ℝ^{key}"


def test_positions_in_restructured_text_are_columns_of_the_file():
    first, *_ = nt.check_document(PAGE, "page.rst").errors
    line, column = first.position()
    assert PAGE.splitlines()[line - 1][column - 1 :].startswith(r"\name{sek}")


@pytest.mark.parametrize(
    "end", [".. math::", ".. math::\n", ".. math::\n\n   Y = 1", "Title\n=====", ".. math::\n   :label: a"]
)
def test_the_end_of_restructured_text_may_be_anywhere(end):
    assert not nt.check_document(end, "page.rst").errors


MARKDOWN = (
    "One set of $W^Q, W^K, W^V$ only.\n\n```{python}\nx = '$a$'\n```\n\n$$Y = \\nsum{\\name{b}} [1, 2]_{\\name{a}}$$\n"
)


@pytest.mark.parametrize("suffix", [".md", ".markdown", ".qmd", ".Rmd", ".rmd", ".mdx", ".MD", ".QMD"])
def test_dialects_of_markdown_are_read_as_markdown(suffix, tmp_path, capsys):
    from namedtensor.cli.commands import main

    path = tmp_path / f"notes{suffix}"
    path.write_text(MARKDOWN, "utf-8")
    assert find_errors(MARKDOWN, str(path)) == [(301, "b", 7)]
    assert main(["check", str(path)]) == 1
    assert "1 formula in 1 section: 1 error, 0 warnings" in capsys.readouterr().out
