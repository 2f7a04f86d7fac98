"""Check that public docstrings have the sections of NumPy's style; ruff checks their form, and doctest runs the examples."""

import inspect
import re

import pytest

import namedtensor as nt
import transformer
from namedtensor.programs.program import EntryPoint, Formula, Program

ERRORS = {
    name for name in nt.__all__ if isinstance(getattr(nt, name), type) and issubclass(getattr(nt, name), Exception)
}
ERRORS |= {"NotationWarning"}


def methods(owner):
    """Return the public methods of a class with the name of each."""
    members = ((name, inspect.getattr_static(owner, name)) for name in dir(owner) if not name.startswith("_"))
    kinds = (staticmethod, classmethod)
    members = ((name, member.__func__ if isinstance(member, kinds) else member) for name, member in members)
    return [(f"{owner.__name__}.{name}", member) for name, member in members if inspect.isfunction(member)]


PUBLIC = [
    *((name, getattr(nt, name)) for name in nt.__all__ if inspect.isfunction(getattr(nt, name))),
    *(
        (name, getattr(transformer, name))
        for name in transformer.__all__
        if inspect.isfunction(getattr(transformer, name))
    ),
    *(row for owner in (nt.NamedTensor, Program, Formula, EntryPoint) for row in methods(owner)),
    *(row for row in methods(transformer.Layer) if row[1].__module__.startswith("transformer")),
    *methods(transformer.SentenceModel),
]


def sections(documentation: str) -> set[str]:
    lines = documentation.splitlines()
    return {title for title, rule in zip(lines, lines[1:]) if rule and set(rule) == {"-"}}


@pytest.mark.parametrize(("name", "function"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_docstring_has_numpy_sections(name, function):
    documentation = inspect.getdoc(function) or ""
    parameters = [key for key in inspect.signature(function).parameters if key not in ("self", "cls")]
    needed = {"Examples"} | ({"Parameters"} if parameters else set())
    assert documentation.partition("\n")[0].endswith((".", ":")) and needed <= sections(documentation)


@pytest.mark.parametrize("name", sorted(name for name in nt.__all__ if inspect.isclass(getattr(nt, name))))
def test_class_docstring_has_an_example(name):
    documentation = inspect.getdoc(getattr(nt, name)) or ""
    assert name in ERRORS or "Examples" in sections(documentation)


@pytest.mark.parametrize(("name", "function"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_signature_shows_public_types_and_short_defaults(name, function):
    shown = str(inspect.signature(function))
    assert not re.search(r"\b(?:Verbs|CachedCall|_\w+)\b|Limits\(\w", shown)
    assert "object at 0x" not in shown


def test_first_parameter_of_a_function_of_formulas_is_a_public_type():
    for name in ("evaluate", "explain", "check", "derivative", "to_latex"):
        assert inspect.signature(getattr(nt, name)).parameters["formula"].annotation == "FormulaLike"
    assert "limits: 'Limits' = Limits()" in str(inspect.signature(nt.evaluate))
