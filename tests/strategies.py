"""Syntax trees drawn at random, for laws that hold of every formula.

Every tree here is one that the parser makes of some text. What that leaves out is said where it is left out: two
numbers side by side, for instance, are a syntax error. A function of `draw` and `part` makes one kind of node, its
operands drawn from `part`, which is an `expressions(…)` less deep.
"""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from grammar import nodes
from grammar.nodes import Axis, Call, Name, Number
from grammar.symbols import BRACKETED, FUNCTIONS, GREEK

# Single letters that mean something else in other places (R, x, I, d, e), and words that begin as keywords do.
TENSORS = "X A B Q K V W Y x y i j k n R I d e E X' h'' W2 x1' mask input dX order in 1' ∞".split()
TENSORS += sorted(set(GREEK.values()) - FUNCTIONS)
AXES = "seq key val height width layer ax a b c i t seq' a'' x R I d dX if for in sum odd inf beta index τ γ'".split()
USER_FUNCTIONS = "f g FFN LayerNorm Att' Φ'".split()
BUILT_IN = tuple(sorted(FUNCTIONS))
OPERATORS = "⊕ ★ ⊗ ⊖ ⊘ ⊛ ∘ • ⋄ △ ⊞ ⊠ ⊡".split()
RELATIONS = "= ≠ < ≤ > ≥".split()
MARKS = ("*", "†", "**", "*†", "†††")

one_of, pairs = cache(st.one_of), cache(st.tuples)  # a new strategy is looked through before it is drawn from

names = st.builds(Name, st.sampled_from(TENSORS))
floats = st.floats(0, allow_nan=False, allow_infinity=False)
numbers = st.builds(Number, one_of(st.integers(0, 12), st.integers(0, 10**30), floats))
components = one_of(names, names, numbers, st.just(Name("max")))


@cache
def tuples(strategy, least: int = 1, most: int = 3):
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


def one(draw, *kinds, **arguments):
    return draw(st.sampled_from(kinds))(draw, **arguments)


def some(draw, things, least: int = 1, most: int = 3) -> tuple:
    return draw(tuples(things, least, most))


# ------------------------------------------------------------------------------------------------------ axes and labels
@cache
@st.composite
def axis_texts(draw, words=tuple(AXES)) -> str:
    """seq, seq*; a Starred node has no plain name for its base where axes stand."""
    return draw(st.sampled_from(words)) + draw(st.sampled_from(["", "", "", "*", "†", "*†"]))


@cache
@st.composite
def axes(draw) -> Axis:
    """seq, seq*, hidden_1, hidden_1^*"""
    text = draw(axis_texts())
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        text = f"{text}_{draw(axis_texts(('1', '12', 'a', 'in', '0.5')))}"
    return Axis(text)


@cache
@st.composite
def labels(draw, part):
    """A component of a subscript: seq, 1, l-1, hidden_{l-1}, ph^l"""
    left = draw(label_terms(part))
    if draw(st.integers(0, 5)) < 5:
        return left
    return Call(draw(st.sampled_from("+-")), (), (), (left, draw(label_terms(part))))


@cache
@st.composite
def label_terms(draw, part):
    if draw(st.integers(0, 5)) == 0:
        return Number(draw(st.integers(0, 20)))
    node = Name(draw(axis_texts()))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        mark = draw(st.sampled_from(["", "", *MARKS])) if type(node) is not Name else ""
        node = nodes.Starred(node, mark) if mark else nodes.Subscript(node, (draw(labels(part)),))
    return nodes.Superscript(node, some(draw, part)) if draw(st.integers(0, 9)) == 0 else node


# --------------------------------------------------------------------------------------------------------- expressions
def infix(draw, part, **_):
    operator = draw(st.sampled_from([*"++--⊙⊙⊙⊙", *OPERATORS]))
    below = some(draw, labels(part), 0, 2) if operator not in "+-" else ()
    return Call(operator, (), below, (draw(part), draw(part)))


def quotient(draw, part, **_):
    """∂Y/∂X is a node of its own."""
    above, below = draw(part), draw(part)
    below = below.body if type(below) is nodes.Differential else below
    return Call("/", (), (), (above, below))


def juxtaposed(draw, part, **_):
    """Two numbers do not stand side by side."""
    left, right = draw(part), draw(part)
    return Call("juxtaposed", (), (), (draw(names) if type(left) is type(right) is Number else left, right))


MINUS_ONE = ((Number(-1),), (Call("negative", (), (), (Number(1),)),))


def function(draw, part, functions):
    """f^{l}_{ax}(X, …; W, …); concat(X, Y) is X ⊕ Y"""
    operator = draw(st.sampled_from(functions))
    parameters = some(draw, part, 0, 1)
    arguments = some(draw, part, 0 if parameters else 1)
    if operator == "concat" and len(arguments) == 2:
        arguments += arguments
    above = some(draw, part, 0, 1)
    if operator in FUNCTIONS and above in MINUS_ONE:  # sin^{-1} is no text: it is refused
        above = ()
    below = some(draw, labels(part), 0, 2)
    if operator in BRACKETED:  # Γ_0(X) is a product: Γ is a function only before a bracket
        above = below = ()
    return Call(operator, above, below, arguments, parameters)


def prefixed(draw, part, **_):
    return Call(draw(st.sampled_from(["negative", "sqrt"])), (), (), (draw(part),))


def big(draw, part, **_):
    return Call(draw(st.sampled_from("∑∏")), (), some(draw, labels(part), 0, 2), (draw(part),))


def index_sum(draw, part, **_):
    first, last, body = draw(part), draw(part), draw(part)
    return nodes.IndexSum(draw(st.sampled_from("∑∏")), Name(draw(st.sampled_from("ijk"))), first, last, body)


@st.composite
def distributions(draw, part, name: str = "", labels: tuple = ()):
    """N(μ, σ^2)^{seq}, Uniform(0, 1)"""
    family, count = draw(st.sampled_from([("N", 2), ("U", 2), ("Exponential", 1), ("Bernoulli", 1)]))
    over = some(draw, st.tuples(axes(), st.one_of(st.none(), part)), 0, 2)
    return nodes.Draw(name, family, some(draw, part, count, count), over, labels)


def expectation(draw, part, **_):
    """𝔼_{x ∼ N(0, 1), y}[…]; y is said elsewhere"""
    random = st.one_of(names, st.sampled_from("xyz").flatmap(lambda name: distributions(part, name)))
    return nodes.Expectation(some(draw, random), draw(part))


def differential(draw, part, **_):
    return nodes.Differential(draw(part))


def derivative(draw, part, **_):
    """The marks are the derivative's, the variable has none of its own."""
    body, variable, mark = draw(part), draw(part), draw(st.sampled_from(["", *MARKS]))
    while type(variable) is nodes.Starred:
        variable = variable.base
    return nodes.Derivative(body, variable, mark)


def superscript(draw, part, **_):
    return nodes.Superscript(draw(part), some(draw, part))


def family(draw, **_):
    """W^{l,Q}"""
    return nodes.Superscript(draw(names), some(draw, components))


def subscript(draw, part, **_):
    return nodes.Subscript(draw(part), some(draw, labels(part)))


def starred(draw, part, **_):
    return nodes.Starred(draw(part), draw(st.sampled_from(MARKS)))


def index(draw, part, **_):
    return nodes.Index(draw(part), some(draw, pairs(axes(), part)))


def rename(draw, part, **_):
    """Several axes become one, or one several."""
    single, several = tuples(axes(), 1, 1), tuples(axes(), 1, 3)
    return nodes.Rename(draw(part), some(draw, one_of(pairs(several, single), pairs(single, several))))


def size(draw, **_):
    return nodes.Size(draw(axes()))


def literal(draw, part, **_):
    over = draw(st.lists(axes(), min_size=1, max_size=2, unique=True))
    columns = draw(st.integers(1, 3))
    return nodes.Literal(some(draw, tuples(part, columns, columns), 1, 2 if len(over) == 2 else 1), tuple(over))


def cases(draw, part, **_):
    return nodes.Cases(some(draw, pairs(part, one_of(part, st.none()))))


def indicator(draw, part, **_):
    return nodes.Indicator(draw(part))


# ---------------------------------------------------------------------------------------------------------- conditions
def relation(draw, part, **_):
    return Call(draw(st.sampled_from(RELATIONS)), (), (), (draw(part), draw(part)))


def between(draw, part, **_):
    """1 ≤ i ≤ j"""
    low = relation(draw, part)
    high = Call(draw(st.sampled_from(RELATIONS)), (), (), (low.arguments[1], draw(part)))
    return Call("∧", (), (), (low, high))


def logic(draw, part, **_):
    return Call(draw(st.sampled_from("∧∨")), (), (), (draw(part), draw(part)))


def property(draw, part, **_):
    return Call(draw(st.sampled_from(["¬", "odd", "even"])), (), (), (draw(part),))


KINDS = (
    infix, infix, quotient, juxtaposed, function, prefixed, big, index_sum, differential, derivative, superscript,
    family, expectation, subscript, starred, index, rename, size, literal, cases, indicator, relation, between, logic, property,
)  # fmt: skip


@cache
def expressions(functions: tuple[str, ...] = BUILT_IN, depth: int = 3):
    """Expressions in which the functions of these names are called, by default the built-in ones."""
    return _expressions(functions, depth)


@st.composite
def _expressions(draw, functions, depth):
    if depth == 0 or draw(st.integers(0, 9)) < 3:
        return draw(one_of(names, names, numbers))
    return one(draw, *KINDS, part=expressions(functions, depth - 1), functions=functions)


# ---------------------------------------------------------------------------------------------------------- statements
ELEMENTS = {"reals": (0, 0), "elements": (1, 3), "interval": (2, 2), "count": (1, 1)}


@cache
@st.composite
def sets(draw, part):
    domain = draw(st.sampled_from(sorted(ELEMENTS)))
    elements = some(draw, part, *ELEMENTS[domain])
    return nodes.Set(domain, elements, some(draw, pairs(axes(), one_of(st.none(), part)), 0))


@cache
@st.composite
def ranges(draw, part):
    if draw(st.booleans()):
        return None
    return nodes.Range(Name(draw(st.sampled_from("tlτ"))), draw(part), draw(part))


def value(draw, part, **_):
    return nodes.Value(draw(part))


def equation(draw, part, **_):
    return nodes.Equation(some(draw, part, 2), some(draw, sets(part), 0, 2), draw(ranges(part)))


def declaration(draw, part, **_):
    return nodes.Declaration(some(draw, part, 1, 2), some(draw, sets(part), 1, 2), draw(ranges(part)))


def signature(draw, part, functions):
    """f^l_{ax} : …; ★_{ax} : …; concat : … × … is ⊕ : …"""
    operator = draw(st.sampled_from([*OPERATORS, *functions, *functions]))
    above = some(draw, part, 0, 1) if operator in functions else ()
    head = Call(operator, above, some(draw, labels(part), 0, 2), ())
    domain = some(draw, sets(part))
    return nodes.Signature(head, domain[:1] if operator == "concat" else domain, draw(sets(part)))


def sampled(draw, part, **_):
    """z^t ∼ N(0, 1) for t = 1, …, n"""
    labels = some(draw, st.builds(Name, st.sampled_from("tlQ")), 0, 2)
    head = Name("z") if not labels else nodes.Superscript(Name("z"), labels)
    return nodes.Equation((head, draw(distributions(part, "z", labels))), (), draw(ranges(part)))


def ellipsis(draw, **_):
    return nodes.Ellipsis()


@st.composite
def programs(draw, depth: int = 2):
    """Programs, in which each function that is not built in has a head. Two ⋮ are one."""
    local = draw(st.lists(st.sampled_from(USER_FUNCTIONS), unique=True, max_size=2))
    functions = (*local, "softmax", "exp", "max")
    part = expressions(functions, depth)
    kinds = value, equation, equation, declaration, signature, sampled, ellipsis
    body = [one(draw, *kinds, part=part, functions=functions) for _ in range(draw(st.integers(not local, 4)))]
    for name in local:
        head = nodes.Equation((Call(name, (), (), some(draw, names)), draw(part)))
        body.insert(draw(st.integers(0, len(body))), head)
    once = [node for before, node in zip([None, *body], body) if not type(before) is type(node) is nodes.Ellipsis]
    return nodes.Program(tuple(once))
