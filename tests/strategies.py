"""Syntax trees drawn at random, for laws that hold of every formula.

Every tree here is one that the parser makes of some text. What that leaves out is said where it is left out: two
numbers side by side, for instance, are a syntax error.
"""

from __future__ import annotations

from hypothesis import strategies as st

from grammar import nodes
from grammar.nodes import Axis, Call, Name, Number
from grammar.symbols import FUNCTIONS, GREEK

# Single letters that mean something else in other places (R, x, I, d, e), and words that begin as keywords do.
TENSORS = "A B Q K V W X Y x y i j k n R I d e E X' h'' W2 x1' mask input dX order 1' ∞".split() + sorted(GREEK.values())
WORDS = "seq key val height width layer ax a b c i t seq' a'' hidden x R I d dX if for in sum odd inf beta iota index"
AXES = WORDS.split() + ["τ", "γ'", "Α"]
USER_FUNCTIONS = "f g d FFN LayerNorm Att' φ".split()
OPERATORS = "⊕ ★ ⊗ ⊖ ⊘ ⊛ ∘ • ⋄ △ ⊞ ⊠ ⊡".split()
RELATIONS = "= ≠ < ≤ > ≥".split()
MARKS = "*†"

numbers = st.builds(
    Number,
    st.one_of(
        st.integers(0, 12),
        st.integers(0, 10**30),
        st.floats(0, allow_nan=False, allow_infinity=False, allow_subnormal=False),
    ),
)
names = st.builds(Name, st.sampled_from(TENSORS))


def tuples(strategy, least: int = 1, most: int = 3):
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


# ------------------------------------------------------------------------------------------------------ axes and labels
def _marked(text: str) -> st.SearchStrategy[str]:
    return st.sampled_from([text, text, text, text + "*", text + "†"])


axis_texts = st.sampled_from(AXES).flatmap(_marked)
axis_names = st.builds(Name, axis_texts)


@st.composite
def axes(draw) -> Axis:
    """seq, seq*, hidden_1, hidden_1^*"""
    text = draw(axis_texts)
    for label in draw(st.lists(st.sampled_from(["1", "12", "a", "in", "a'", "1'", "0.5"]), max_size=2)):
        text = draw(_marked(f"{text}_{label}"))
    return Axis(text)


@st.composite
def axis_labels(draw, label):
    """The names of axes as labels are: seq, hidden_1, hidden_{l-1}, seq^*"""
    node = draw(axis_names)
    for _ in range(draw(st.integers(0, 2))):
        script = draw(st.one_of(st.sampled_from(MARKS), label))
        node = nodes.Starred(node, script) if isinstance(script, str) else nodes.Subscript(node, (script,))
    return node


def label_terms(inner):
    """A component of a subscript, but for + and −: seq, 1, hidden_1, ph^l"""
    simple = st.one_of(axis_names, st.builds(Number, st.integers(0, 20)), axis_labels(axis_names))
    raised = st.builds(nodes.Superscript, axis_labels(simple), tuples(inner))
    return st.one_of(simple, simple, axis_labels(simple), raised)


def labels(inner):
    """A component of a subscript: seq, 1, l-1, hidden_{l-1}"""
    terms = label_terms(inner)
    sums = st.builds(
        lambda sign, left, right: Call(sign, (), (), (left, right)), st.sampled_from("+-"), terms, terms
    )
    return st.one_of(terms, terms, sums, axis_labels(sums))


# --------------------------------------------------------------------------------------------------------- expressions
leaves = st.one_of(names, names, numbers, st.builds(nodes.Size, axes()))


def _call(operator, arguments, subscript=(), superscript=(), parameters=()):
    return Call(operator, superscript, subscript, arguments, parameters)


def infixes(inner):
    pairs = st.tuples(inner, inner)
    axes_below = tuples(labels(inner), 0, 2)
    return st.one_of(
        st.builds(_call, st.sampled_from("+-"), pairs),
        st.builds(_call, st.just("⊙"), pairs, axes_below),
        st.builds(_call, st.sampled_from(OPERATORS), pairs, axes_below),
        st.builds(_call, st.just("/"), pairs.filter(_no_derivative)),
        st.builds(_call, st.just("juxtaposed"), pairs.filter(_no_digits)),
    )


def _no_derivative(pair) -> bool:
    """∂Y/∂X is a node of its own."""
    return not all(type(node) is nodes.Differential for node in pair)


def _no_digits(pair) -> bool:
    return not all(type(node) is Number for node in pair)


def functions(inner, operators):
    """f^{l}_{ax}(X, …; W, …)"""
    scripts = tuples(labels(inner), 0, 2), tuples(inner, 0, 2)
    calls = st.builds(_call, operators, tuples(inner, 0), *scripts, tuples(inner, 0, 2))
    return calls.filter(lambda call: (call.arguments or call.parameters) and not _is_concatenation(call))


def _is_concatenation(call) -> bool:
    """concat(X, Y) is X ⊕ Y."""
    return (call.operator, len(call.arguments), call.superscript, call.parameters) == ("concat", 2, (), ())


def prefixes(inner):
    one = st.tuples(inner)
    return st.one_of(
        st.builds(_call, st.sampled_from(["negative", "sqrt"]), one),
        st.builds(_call, st.sampled_from("∑∏"), one, tuples(labels(inner), 0, 2)),
        st.builds(nodes.IndexSum, st.sampled_from("∑∏"), st.builds(Name, st.sampled_from("ijk")), inner, inner, inner),
        st.builds(nodes.Differential, inner),
        st.builds(nodes.Derivative, inner, inner, st.sampled_from(["", *MARKS])).filter(
            lambda node: node.mark or type(node.variable) is not nodes.Starred
        ),
    )


def scripted(inner):
    some = tuples(axes(), 1, 3)
    one = tuples(axes(), 1, 1)
    return st.one_of(
        st.builds(nodes.Superscript, inner, tuples(inner)),
        st.builds(nodes.Superscript, names, tuples(st.one_of(names, names, numbers, st.builds(Name, st.just("max"))))),
        st.builds(nodes.Subscript, inner, tuples(labels(inner))),
        st.builds(nodes.Starred, inner, st.sampled_from(MARKS)),
        st.builds(nodes.Index, inner, tuples(st.tuples(axes(), inner))),
        st.builds(nodes.Rename, inner, tuples(st.one_of(st.tuples(some, one), st.tuples(one, some)))),
    )


@st.composite
def literals(draw, inner):
    over = draw(st.lists(axes(), min_size=1, max_size=2, unique=True))
    columns = draw(st.integers(1, 3))
    rows = st.lists(inner, min_size=columns, max_size=columns).map(tuple)
    return nodes.Literal(draw(tuples(rows, 1, 2 if len(over) == 2 else 1)), tuple(over))


def conditions(inner):
    pairs = st.tuples(inner, inner)
    relation = st.builds(_call, st.sampled_from(RELATIONS), pairs)
    return st.one_of(
        relation,
        st.builds(_between, inner, inner, inner, st.tuples(*[st.sampled_from(RELATIONS)] * 2)),
        st.builds(_call, st.sampled_from("∧∨"), st.tuples(relation, relation)),
        st.builds(_call, st.sampled_from("∧∨"), pairs),
        st.builds(_call, st.just("¬"), st.tuples(inner)),
        st.builds(_call, st.sampled_from(["odd", "even"]), st.tuples(inner)),
    )


def _between(low, middle, high, signs):
    """1 ≤ i ≤ j"""
    return _call("∧", (_call(signs[0], (low, middle)), _call(signs[1], (middle, high))))


def choices(inner):
    return st.one_of(
        st.builds(nodes.Cases, tuples(st.tuples(inner, st.one_of(inner, conditions(inner), st.none())))),
        st.builds(nodes.Indicator, st.one_of(inner, conditions(inner))),
    )


def expressions(operators=st.sampled_from(sorted(FUNCTIONS)), leaves=leaves, size: int = 8):
    """Expressions whose functions are `operators`, by default the built-in ones."""

    def extend(drawn):
        inner = st.deferred(lambda: drawn)  # has a short name in messages, where `drawn` would be spelled out
        return st.one_of(
            infixes(inner), infixes(inner), functions(inner, operators), prefixes(inner), scripted(inner),
            literals(inner), conditions(inner), choices(inner),
        )  # fmt: skip

    return st.recursive(leaves, extend, max_leaves=size)


# ---------------------------------------------------------------------------------------------------------- statements
def sets(inner):
    shape = tuples(st.tuples(axes(), st.one_of(st.none(), inner)), 0, 3)
    domains = st.one_of(
        st.just(("reals", ())),
        st.tuples(st.just("elements"), tuples(inner)),
        st.tuples(st.just("interval"), st.tuples(inner, inner)),
        st.tuples(st.just("count"), st.tuples(inner)),
    )
    return st.builds(lambda domain, shape: nodes.Set(*domain, shape), domains, shape)


def ranges(inner):
    return st.one_of(st.none(), st.builds(nodes.Range, st.builds(Name, st.sampled_from("t l τ".split())), inner, inner))


def heads(inner, operators):
    """The head of a signature: f^l_{ax}, ★_{ax}"""
    scripts = tuples(labels(inner), 0, 2), tuples(inner, 0, 2)
    return st.one_of(
        st.builds(_call, operators, st.just(()), *scripts),
        st.builds(_call, st.sampled_from(OPERATORS), st.just(()), tuples(labels(inner), 0, 2)),
    )


def statements(inner, operators=st.sampled_from(sorted(FUNCTIONS - {"concat"}))):
    some = tuples(sets(inner), 0, 2)
    return st.one_of(
        st.builds(nodes.Value, inner),
        st.builds(nodes.Equation, tuples(inner, 2), some, ranges(inner)),
        st.builds(nodes.Declaration, tuples(inner, 1, 2), tuples(sets(inner), 1, 2), ranges(inner)),
        st.builds(nodes.Signature, heads(inner, operators), tuples(sets(inner)), sets(inner)),
        st.builds(nodes.Ellipsis),
    )


@st.composite
def programs(draw):
    """Programs, in which each function that is not built in has a head."""
    own = draw(st.lists(st.sampled_from(USER_FUNCTIONS), unique=True, max_size=2))
    inner = expressions(st.sampled_from(own + ["softmax", "exp", "max"]), size=5)
    body = draw(st.lists(statements(inner), min_size=0 if own else 1, max_size=4))
    for name in own:
        parameters = draw(tuples(names))
        head = draw(
            st.one_of(
                st.builds(nodes.Signature, st.just(_call(name, ())), tuples(sets(inner)), sets(inner)),
                st.builds(lambda right, call: nodes.Equation((call, right)), inner, st.just(_call(name, parameters))),
            )
        )
        body.insert(draw(st.integers(0, len(body))), head)
    return nodes.Program(tuple(body))
