"""Report an undefined name, and suggest known names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from grammar import nodes
from grammar.errors import SIZE_NEEDED, TYPE_NEEDED, NotationError
from grammar.nodes import Call, Name
from grammar.symbols import FUNCTIONS

from ..core.extents import Extent, UndecidedSizeError
from ..core.kinds import is_tuple
from ..core.sizes import resolve
from ..core.suggestions import CREATED_OPERATORS, ELSEWHERE, did_you_mean, near
from ..operators import REGISTRY
from ..scope.names import Key, component_names, read_spelling, walk
from ..scope.statements import SIGNS
from ..terms.environment import Environment, source_name
from ..terms.inference import Inference, format_shape
from .beyond_families import beyond_family
from .declarations import size_axis
from .open_labels import with_label

MAX_ERRORS_WITH_HINTS = 50  # Further errors do not suggest names, since each search reads all names.
GENERATED = "←"  # A sign that occurs only in names that desugaring makes.


def unknown_name(checker: Inference, key: Key, node: Any, env: Environment):
    text = str(key)
    few = len(checker.errors) < MAX_ERRORS_WITH_HINTS
    known_names = visible(checker, env) if few else []
    base = node
    while isinstance(base, (nodes.Subscript, nodes.Superscript)):
        base = base.base
    if base is not node and near(key.base, function_names(checker), 1, 0.75):
        text, node = key.base, base
    refused = explain_refused_head(checker, text)
    if refused is not None:
        return refused
    beyond = beyond_family(checker, key, node, env) if few else None
    if beyond is not None:
        return beyond
    known = (*checker.top.variables.values(), *checker.parameters.values())
    axes = {axis for term in known for axis in term.shape}
    if text in axes:
        return checker.error(
            201,
            f"{text} is an axis, not a tensor",
            node,
            hint=f"write an axis in a subscript, as in softmax_{{{text}}} X; its size is |{text}|",
            symbol=text, axis=text,
        )  # fmt: skip
    if key.base in FUNCTIONS and not (isinstance(node, tuple) or node is None):
        return checker.error(
            201,
            f"{text} is not defined as a tensor, and the function {key.base} is missing its operand",
            strip_brackets(checker, node),
            hint=f"pass a value for {text}, or write the operand: {key.base}(X)",
            symbol=text,
        )
    need_number(key, known)
    notes = list_known_names(checker, key, known_names)
    refused = explain_matrix_notation(checker, key, node, known_names)
    if refused is not None:
        return refused
    size = size_of_family(checker, key, env)
    hint = (
        (explain_equation(checker, text) if few else None)
        or (f"pass it: sizes={{{size!r}: 3}}" if size else explain_missing_range(checker, key))
        or explain_script(checker, key, node)
        or explain_plain_derivative(checker, key, node)
    )
    if key.base in CREATED_OPERATORS:
        text = key.base
        hint = f"{text} is an nt.operator: write nt.formula(…, operators=[{text}]), or nt.program"
    elif text in (*TRANSPOSED, "pinv"):  # no built-in near by name has this meaning
        hint = hint or ELSEWHERE.get(text)
    hint = hint or did_you_mean(meant(checker, text, known_names)) or ELSEWHERE.get(text)
    return checker.error(
        201,
        f"undefined name {text}",
        node if node is None else strip_brackets(checker, node),
        notes=notes,
        hint=hint
        or (explain_left_side(checker, text) if few else None)
        or f"define {text} with an equation, or pass a value for it",
        symbol=text if size is None else size,
        axis=size if any("|" in label for label in (*key.superscript, *key.subscript)) else None,
        reason=SIZE_NEEDED if size else TYPE_NEEDED if hint is None else None,
    )


def need_number(key: Key, known: Iterable[Any]) -> None:
    """Raise UndecidedSizeError for a label such as |seq| in h^{|seq|} if the size of seq is symbolic."""
    axes = {axis for label in (*key.superscript, *key.subscript) for axis in OF_AXIS.findall(label)}
    for size in (resolve(term.shape[axis]) for term in known for axis in term.shape if axis in axes):
        if type(size) is Extent:
            raise UndecidedSizeError(size)


OF_AXIS = re.compile(r"\|([^|]+)\|")
TRANSPOSED = ("T", "top", "⊤", "intercal")


def explain_matrix_notation(checker: Inference, key: Key, node: Any, known: list[str]) -> NotationError | None:
    """Return the error for matrix notation, such as QK^⊤, X^T or QK, or None for any other name."""
    factors = factors_of(key.base, known)
    if key.superscript and key.superscript[0] in TRANSPOSED and len(key.superscript) == 1:
        text = f"{key.base}^⊤" if factors is None else f"{' '.join(factors)}^⊤"
        axes = f"contract the axis that they share: {factors[0]} ⊙_{{axis}} {factors[-1]}" if factors else ""
        return checker.error(
            201, f"{text} is a transpose, but named axes have no order", node,
            hint=axes or f"write {key.base} without the transpose, or rename an axis: {key.base}_{{a→b}}", symbol=str(key),
        )  # fmt: skip
    if factors is None or key.superscript or key.subscript:
        return None
    first, *rest = factors
    return checker.error(
        201, f"undefined name {key.base} (read as one name)", node,
        notes=(f"{', '.join(dict.fromkeys(factors))} {'is' if not rest else 'are'} defined, as separate names",),
        hint=f"for a product write {' ⊙ '.join(factors)}, for a contraction {first} ⊙_{{axis}} {rest[-1]}", symbol=str(key),
    )  # fmt: skip


def factors_of(word: str, known: list[str]) -> list[str] | None:
    """Split a word into known one-letter names, such as QK into Q and K. Return None if this is not possible."""
    factors = re.findall(r"[^\W\d_]'*", word)
    fits = len(factors) > 1 and "".join(factors) == word and set(factors) <= set(known)
    return factors if fits else None


def size_of_family(checker: Inference, key: Key, env: Environment) -> str | None:
    """Return the unknown end n if a program uses W^n and defines W^t for t = 1, …, n. The end is a name or an axis.

    Return None for any other name.
    """
    functions = (outer.function for outer in env.outward)
    local = (family for function in functions if function is not None for family in function.families)
    families = [family for family in (*local, *checker.scope.families) if family.key.base == key.base]
    bounds = {checker.text(end) for family in families for over in family.ranges for end in (over.low, over.high)}
    unknown = [part for part in (*key.superscript, *key.subscript) if part in bounds and not part.isdecimal()]
    if not unknown:
        return None
    axes = OF_AXIS.fullmatch(unknown[0])
    return unknown[0] if axes is None else size_axis(axes[1], env)


def explain_missing_range(checker: Inference, key: Key) -> str | None:
    """Return a hint for h^{t-1} if h^t is defined by an equation without a range for t, or None otherwise."""
    counted = [
        definition
        for definition in checker.scope.definitions
        if key == Key(key.base) and key.base in (*definition[1], *definition[2])
    ]
    if counted and counted[0].base != key.base:
        first = with_label(counted[0], key.base, "0")
        return f"specify where {key} begins and ends: {counted[0]} = … for {key} = 1, …, n, with {first} = …"
    member = find_computed_index(checker, key.base) or find_unranged_member(checker, key)
    if member is not None:
        return member
    for part in (*key.superscript, *key.subscript):
        variable = re.match(r"([^\W\d]\w*'*)[+-]\d+$", part)
        if variable is None:
            continue
        local, first = (with_label(key, part, text) for text in (variable[1], "0"))
        if local in checker.scope.definitions:
            return f"specify where {variable[1]} begins and ends: {local} = … for {variable[1]} = 1, …, n, with {first} = …"
    return None


def find_computed_index(checker: Inference, base: str) -> str | None:
    """Return a hint if an equation has a left-hand side such as x_{2 t} with this base, or None otherwise."""
    for statement in checker.scope.program.statements:
        if not isinstance(statement, nodes.Equation) or statement.range is None:
            continue
        name = read_spelling(statement.sides[0])
        if name is None or name.base != base:
            continue
        parts = (part for part in (*name.subscript, *name.superscript) if not isinstance(part, Name))
        indices = {index for part in parts for index in component_names(part)} & statement.range.variables
        if indices:
            head = checker.text(statement.sides[0])
            return f"an equation for {head} defines no members: write the index {min(indices)} alone"
    return None


def find_unranged_member(checker: Inference, key: Key) -> str | None:
    """Return a hint for the member h^3 or h_3 if the only equation h^t = … lacks a range, or None otherwise.

    Also return the hint for the key of h itself, because h^3 may be a power of h. Ignore an equation that does not use
    its script, because the script is then a label.
    """
    labels = [part for part in (*key.superscript, *key.subscript) if part.isdecimal()]
    if not labels and key != Key(key.base):
        return None
    unranged = [
        (other, part)
        for other, (definition, *_) in checker.scope.definitions.items()
        if other.base == key.base and len(parts := (*other.superscript, *other.subscript)) == 1
        for part in parts
        if part.isalpha() and len(part) == 1 and part.islower() and other != key
        if part in definition.uses.words
    ]
    if len(unranged) != 1:
        return None
    family, index = unranged[0]
    over = (range_ for other in checker.scope.families for range_ in other.ranges if range_.variable.text == index)
    counted = next((checker.text(range_) for range_ in over), None)  # another equation reads h^t in its range
    if counted is None:
        counted = f"for {index} = 1, …, {max(labels, key=int, default='n')}"
    return f"{family} needs a range: {family} = … {counted}"


def explain_equation(checker: Inference, name: str) -> str | None:
    """Return a hint if an equation was probably meant to define a name, or None if there is no such equation.

    Examples are W in X + 1 = W, because an equation defines its left side, and t in √t = …, because √ is built in.
    """
    claimed = {claim.span for claim in checker.scope.claims}
    for statement in checker.scope.program.statements:
        if not isinstance(statement, nodes.Equation) or statement.span not in claimed:
            continue
        first, *others = statement.sides
        for side in others:
            if get_defined_name(side) == name:
                return f"an equation defines its left side: {checker.text(side)} = {checker.text(first)}"
        if isinstance(first, Call) and first.operator in SIGNS and name in map(get_defined_name, first.arguments):
            return (
                f"give {name} a value, or define it: an equation cannot define {checker.text(first)}, a built-in sign"
            )
    return None


def explain_left_side(checker: Inference, name: str) -> str | None:
    """Return a hint for an undefined name in an assertion, such as p in log p(x) = −x^2, or None for any other name."""
    claimed = {claim.span: claim.left for claim in checker.scope.claims}
    for left in claimed.values():
        if any(isinstance(node, Name) and node.text == name for node in walk(left)):
            return f"give {name} a value, or define it: an equation whose left side is an expression defines nothing"
    return None


def get_defined_name(side: nodes.Node) -> str | None:
    """Return the name that a side defines, such as W, Y for Y_{seq(i)} or f for f(x), or None if there is none."""
    if isinstance(side, Call):
        if side.operator != "juxtaposed":
            return side.operator
        side = side.arguments[0]
    named = read_spelling(side.base if isinstance(side, nodes.Index) else side)
    return None if named is None else str(named.key())


def explain_plain_derivative(checker: Inference, key: Key, node: Any) -> str | None:
    """Return a hint for dL/dW, because derivatives are spelled ∂L/∂W, or None for any other name."""
    span = getattr(node, "span", None)
    after = checker.scope.source[span[1] :].lstrip()[:2] if span is not None else ""
    if key.base[:1] != "d" or len(key.base) < 2 or after != "/d":
        return None
    return f"a derivative is written ∂{key.base[1:]}/∂X*, or d({key.base[1:]})/dX*"


def meant(checker: Inference, text: str, names: list[str]) -> list[str]:
    """Return the known names that are similar to a text, most similar first.

    Leave out built-in names that are less similar than every name in the program. A declared name belongs to the
    program, even if it has no value.
    """
    declared = {str(name.key()) for _, name, _, _ in checker.scope.declarations} if names else set[str]()
    built_in = {*REGISTRY, *checker.python} - declared
    similar = near(text, [*declared, *spellable(names)])
    of_program = [position for position, name in enumerate(similar) if name not in built_in]
    return [name for position, name in enumerate(similar) if not of_program or position <= of_program[-1]]


def spellable(names: list[str]) -> list[str]:
    """Return the names, except short built-in names, which are rarely misspelled."""
    return [name for name in names if name not in REGISTRY or len(name) > 2]


def strip_brackets(checker: Inference, node: Any) -> tuple[int, int]:
    """Return the span of a name without its enclosing brackets."""
    start, end = node if is_tuple(node) else node.span
    source = checker.scope.source
    while end - start > 2 and source[start] + source[end - 1] in ("()", "{}"):
        start, end = start + 1, end - 1
        inside = source[start:end]
        start, end = start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())
    return start, end


def list_known_names(checker: Inference, key: Key, names: list[str]) -> list[str]:
    tensor = checker.top.variables.get(Key(key.base))
    if tensor is not None and (key.subscript or key.superscript):
        return [f"{key.base} : {format_shape(tensor.shape)}"]
    texts = sorted(set(names) - set(REGISTRY) - set(checker.python))
    return [f"defined names: {', '.join(texts[:8])}" + (", …" if len(texts) > 8 else "")] if texts else []


def explain_script(checker: Inference, key: Key, node: Any) -> str | None:
    """Return a hint if X is a tensor and X_1 or X_seq was probably meant as an index, or None otherwise."""
    tensor = checker.top.variables.get(Key(key.base))
    if tensor is None or not key.subscript or key.superscript or not tensor.shape:
        return None
    axes = [source_name(axis) for axis in tensor.shape]
    if len(axes) == len(key.subscript) and {*axes} == {*key.subscript}:
        return f"in named axes: {key.base}"
    written = map(checker.text, node.components) if isinstance(node, nodes.Subscript) else key.subscript
    first, *others = written  # the member x_1 of a range may be written x_t
    indices = [first, *others] if others else list(first)
    if len(indices) == len(axes) > 1 and not {first, *others} & {*axes}:
        listed = ", ".join(f"{axis}({index})" for axis, index in zip(axes, indices))
        return f"an index names its axis: {key.base}_{{{listed}}}"
    named = first if first in axes else axes[0]
    index = "i" if first == key.subscript[0] == named else first
    return f"an index names its axis: {key.base}_{{{named}({index})}}"


def function_names(checker: Inference) -> list[str]:
    operators = [function.operator for function in checker.scope.all_functions()]
    return [*operators, *checker.python, *(name for name in REGISTRY if name[0].isalpha())]


def visible(checker: Inference, env: Environment) -> list[str]:
    keys: list[Key] = []
    for outer in env.outward:
        keys += [*outer.variables, *(outer.function.facts if outer.function is not None else ())]
    operators = [function.operator for function in checker.scope.all_functions()]
    names = dict.fromkeys([*map(str, (*keys, *checker.scope.definitions)), *operators, *checker.python, *REGISTRY])
    return [name for name in names if GENERATED not in name]


def explain_refused_head(checker: Inference, name: str) -> NotationError | None:
    """Return the error for an equation such as f(x + 1) = … if the program uses f but does not define it.

    Return None if there is no such equation.
    """
    for claim in checker.scope.claims:
        if (
            not isinstance(claim.left, Call)
            or claim.left.operator != "juxtaposed"
            or isinstance(claim.right, nodes.Set)
        ):
            continue
        head, argument = claim.left.arguments
        if isinstance(head, Name) and head.text == name and checker.scope.source[argument.span[0]] == "(":
            return checker.error(
                114,
                f"cannot define {checker.text(claim.left)}: parameters must be plain names",
                argument,
                hint=f"write {name}(t) = …",
            )
    return None


def describe_cycle(checker: Inference, key: Key, holder: Environment, env: Environment) -> list[str]:
    """Return a note that lists the names in a cycle, or [] if the name does not depend on itself."""
    facts = checker.definitions_of(holder)
    pending = sorted((name for _, name, *_ in env.active if name in facts), key=str)
    names = [key]
    while len(names) == 1 or names[-1] != key:
        used = {name.key() for node in walk(facts[names[-1]][0].body) if (name := read_spelling(node)) is not None}
        following = [other for other in pending if other in used and other not in names[1:]]
        if not following:
            return []
        names.append(following[0])
    return [f"it depends on itself: {' → '.join(map(str, names))}"] if len(names) > 2 else []
