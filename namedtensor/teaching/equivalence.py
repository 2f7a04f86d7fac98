"""`nt.equivalent`: compares the values of two formulas, and describes a difference.

The comparison checks the types first, then the values on random tests. Finally, it searches for a proof of equality.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_text

from ..core.kinds import require_mapping
from ..core.settings import raise_recursion_limit
from ..derivations.equal_forms import has_proof
from ..programs.conditions import condition_for_all
from ..programs.parsed import ParsedProgram
from ..scope.names import key, read_spelling
from .differences import Words
from .judgment import Equivalence, judge_values
from .settings import Setting, write_declarations
from .spelling import call_last_function, expression, text_of

NEUTRAL = Words("the first", "the value of the first", "the second", "the second", is_secret=False)
TURNED = Words("the second", "the value of the second", "the first", "the first", is_secret=False)


@raise_recursion_limit
def equivalent(
    first: Any, second: Any, inputs: Mapping[str, Any] | None = None, /, *, given: str = "", seed: int = 0, **types: Any
) -> Equivalence:
    """Test whether two formulas have the same axes and values, up to the names of new axes.

    Types are compared first. Values are then compared to a tolerance of 1e-8 on random tensors whose axes have distinct
    sizes. The tensors contain normal, integer, positive, negative, tiny and huge numbers, zeros and ties, and each
    constant of a comparison. If the formulas pass, a proof of equality is attempted, as in `prove`. Elements that only
    one formula defines are a difference at ordinary inputs, but only a remark at special inputs.

    Parameters
    ----------
    first, second : str, Formula or Program
        The formulas. The first may also be a PyTorch program, read by `from_torch`. The declarations of one formula
        apply to both.
    inputs : mapping of str to str, optional
        The type of each input by name, as an alternative to keywords.
    given : str
        Statements that both formulas may use (default: none).
    seed : int
        Seed of the random tensors (default: 0).
    **types : str
        The type of each input, such as X="ℝ^{n}".

    Returns
    -------
    Equivalence
        The result, which is true if the formulas are equal, and prints as a sentence. `.difference`, `.actual` and
        `.expected` describe a difference.

    Raises
    ------
    NotationError
        If one of the formulas is invalid.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.equivalent("mean_{n}(X^2) − (mean_{n} X)^2", "var_{n} X", X="ℝ^{n × feature}")
    <Equivalence: equal for all tensors (proved)>
    >>> print(nt.equivalent("∑_{n} X / |n|", "∑_{n} X", X="ℝ^{n}"))
    the first equals the second with mean_n instead of ∑_{n}; the first is −0.1264, the second is −0.3791
    """
    if hasattr(first, "lines_of"):
        from .code_differences import against_code

        return against_code(first, second, given, seed)
    types = {**require_mapping(inputs, "inputs", 'write {"X": "ℝ^{n}"}'), **types}
    sides, stated = drop_declared_inputs([text_of(first), text_of(second)], types)
    first, second = sides
    setting = Setting("\n".join(filter(str.strip, (write_declarations(types), *stated, given))))
    equivalence = compare_formulas(setting, first, second, NEUTRAL, seed)
    if equivalence:
        return with_domain(equivalence, setting, (first, second))
    if equivalence.difference == "value":  # The second formula may be the one with a mistake.
        turned = compare_formulas(setting, second, first, TURNED, seed)
        if turned.difference == "mistake":
            return replace(equivalence, difference="mistake", message=turned.message)
    return equivalence


def drop_declared_inputs(texts: list[str], types: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return two programs without their input declarations, and these declarations without duplicates.

    Declarations of inputs with types in `types` are removed but not returned. Raise NotationError if the programs
    declare the same inputs differently.
    """
    stated: dict[str, str] = {}
    result: list[str] = []
    for text in texts:
        try:
            program = ParsedProgram(text)
            inputs, tree = {key(name) for name in program.declared}, program.tree
        except NotationError:  # the comparison reports the error
            result.append(text)
            continue
        remaining: list[Any] = []
        for statement in tree.statements:
            names = statement.names if isinstance(statement, nodes.Declaration) else ()
            keys = [name.key() for other in names if (name := read_spelling(other)) is not None]
            if not keys or not set(keys) <= inputs:
                remaining.append(statement)
            elif not set(keys) & set(map(key, types)):
                written = to_text(nodes.Program((statement,)))
                before = stated.setdefault(",".join(map(str, keys)), written)
                if before != written:
                    raise NotationError(
                        307, f"the formulas declare different inputs: {before}, and {written}",
                        hint="declare each input alike, or pass its type by name",
                    )  # fmt: skip
        whole = len(remaining) == len(tree.statements) or not remaining
        result.append(text if whole else to_text(nodes.Program(tuple(remaining))))
    return result, list(stated.values())


def with_domain(equivalence: Equivalence, setting: Setting, sides: Sequence[str]) -> Equivalence:
    """Return the result for equal formulas, stating whether equality is proved and the domain of both formulas."""
    is_proved = has_proof_of(setting, *sides)
    condition = condition_for_all([parse(setting.with_formula(side), "text") for side in sides])
    if not equivalence.remark and not (is_proved and condition):
        return replace(equivalence, proved=True, message="equal for all tensors (proved)") if is_proved else equivalence
    remark = "equal wherever both are defined" + (f": {condition}" if condition else "")
    message = f"{remark} (proved)" if is_proved else f"{remark} ({equivalence.trials} random tests)"
    return replace(equivalence, proved=is_proved, message=message, remark=remark)


def has_proof_of(setting: Setting, first: str, second: str) -> bool:
    """Return whether two formulas can be proved equal for all inputs of the declared types.

    Return False if one of them is not a single expression.
    """
    try:
        sides = [expression(name) for name in (first, second)]
    except NotationError:
        return False
    # Without parentheses, a leading − would continue the line above.
    return has_proof(f"{setting.given}\n({sides[0]}) = {sides[1]}", {})


def compare_formulas(setting: Setting, text: str, expected: str, words: Words, seed: int = 0) -> Equivalence:
    """Compare the values of two formulas in the random tests of a setting, and return the result."""
    text, expected = (call_last_function(name, tuple(setting.sets)) for name in (text, expected))
    setting.check(expected)
    setting.check(text)
    tests = [*setting.draws(expected, seed, text), *setting.boundary_draws(text, expected, seed)]
    state = setting.compared(text, tests)
    equivalence = judge_values(setting, state, words, expected)
    if equivalence and not equivalence.trials:
        return Equivalence("value", "both are undefined on every random test", {})
    return equivalence
