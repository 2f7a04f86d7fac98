"""Families over two indices as loops over fronts: the same as written out, as the definitions, as plain loops of Python."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor import reference
from namedtensor.checking import loops
from namedtensor.checking.wavefront_order import Domain, choose_order
from namedtensor.programs.evaluate import EVALUATORS, EXECUTABLES
from namedtensor.terms.terms import Term

RNG = np.random.default_rng(11)
N, M = 9, 8
S = nt.tensor(RNG.integers(0, 3, N), "a")
U = nt.tensor(RNG.integers(0, 3, M), "b")
C = nt.tensor(RNG.normal(size=(N, M)), "a b")
P = nt.tensor(RNG.normal(size=(2, N, M)), "batch a b")
X = nt.tensor(RNG.normal(size=N), "a")
Y = nt.tensor(RNG.normal(size=M), "b")
Z = nt.tensor(RNG.normal(size=(N, 3)), "a chans")
W = nt.tensor(RNG.normal(size=(3, 3)) / 2, "chans chans'")
L = nt.tensor(RNG.normal(size=30), "long")
GIVEN = {"S": S, "U": U, "C": C, "P": P, "X": X, "Y": Y, "Z": Z, "W": W, "L": L}

GRID = "for i = 1, …, 9 for j = 1, …, 8"
EDIT = f"""E^{{i,0}} = i for i = 0, …, 9
E^{{0,j}} = j for j = 1, …, 8
E^{{i,j}} = min(min(E^{{i-1,j}}, E^{{i,j-1}}) + 1, E^{{i-1,j-1}} + 𝕀[S_{{a(i)}} ≠ U_{{b(j)}}]) {GRID}
"""
WARP = f"""D^{{0,0}} = 0
D^{{i,0}} = ∞ for i = 1, …, 9
D^{{0,j}} = ∞ for j = 1, …, 8
c^{{i,j}} = (X_{{a(i)}} - Y_{{b(j)}})^2 {GRID}
D^{{i,j}} = c^{{i,j}} + min(min(D^{{i-1,j}}, D^{{i,j-1}}), D^{{i-1,j-1}}) {GRID}
"""
SOFT = f"""D^{{i,0}} = i for i = 0, …, 9
D^{{0,j}} = j^2 for j = 1, …, 8
D^{{i,j}} = C_{{a(i), b(j)}} - log(exp(-D^{{i-1,j}}) + exp(-D^{{i,j-1}}) + exp(-D^{{i-1,j-1}})) {GRID}
"""
PASCAL = """B^{i,0} = 1 for i = 0, …, 12
B^{i,j} = 0 for i = 0, …, 12 for j = i+1, …, 12
B^{i,j} = B^{i-1,j-1} + B^{i-1,j} for i = 1, …, 12 for j = 1, …, i
"""
GAPS = f"""M^{{0,0}} = 0
M^{{i,0}} = -9 for i = 1, …, 9
M^{{0,j}} = -9 for j = 1, …, 8
A^{{i,0}} = -i for i = 0, …, 9
A^{{0,j}} = -9 for j = 1, …, 8
G^{{i,0}} = -9 for i = 0, …, 9
G^{{0,j}} = -j for j = 1, …, 8
M^{{i,j}} = C_{{a(i), b(j)}} + max(M^{{i-1,j-1}}, max(A^{{i-1,j-1}}, G^{{i-1,j-1}})) {GRID}
A^{{i,j}} = max(M^{{i-1,j}} - 2, A^{{i-1,j}} - 1) {GRID}
G^{{i,j}} = max(M^{{i,j-1}} - 2, G^{{i,j-1}} - 1) {GRID}
"""
CASES = """E^{i,j} = {
  i if j = 0; j if i = 0; min(min(E^{i-1,j}, E^{i,j-1}) + 1, E^{i-1,j-1} + 𝕀[S_{a(i)} ≠ U_{b(j)}]) otherwise
} for i = 0, …, 9 for j = 0, …, 8
"""
VECTORS = (
    "E^{i,0} = [1, 2, 3]_{chans} / (i + 1) for i = 0, …, 9\nE^{0,j} = [1, 2, 3]_{chans} ⊙ j for j = 1, …, 8\n"
    f"E^{{i,j}} = tanh([E^{{i-1,j}} ⊙_{{chans}} W]_{{chans'→chans}} + E^{{i,j-1}} ⊙ Z_{{a(i)}}) {GRID}\n"
)
FIRSTS = "E^{i,0} = 0 for i = 0, …, 9\nE^{0,j} = 1 for j = 1, …, 8\n"
# what is written -> how many loops its plan has
ROLLED = {
    f"{EDIT}E^{{9,8}}": 1,
    f"{EDIT}E^{{9,8}} + E^{{9,7}} + E^{{3,5}} + E^{{0,2}}": 1,
    f"{EDIT}T_{{a(i), b(j)}} = E^{{i,j}} {GRID}\nT": 1,
    f"{EDIT}T_{{a(i), b(j)}} = E^{{i,j}} - E^{{i-1,j}} + E^{{i-1,j-1}} {GRID}\nT": 1,
    f"{EDIT}T_{{a(i)}} = E^{{i,8}} for i = 1, …, 9\nT + E^{{9,8}}": 1,
    f"{EDIT}T_{{a(i)}} = E^{{i,8}} for i = 1, …, 9\nT": 1,
    WARP: 1,
    f"{WARP}D^{{9,8}} + c^{{2,3}}": 1,
    SOFT: 1,
    f"{SOFT}∂D^{{9,8}}/∂C": 2,
    PASCAL: 1,
    f"{PASCAL}B^{{10,5}}": 1,
    f"{PASCAL}T_{{n(i), k(j)}} = B^{{i,j}} for i = 1, …, 12 for j = 1, …, 12\nT": 1,
    GAPS + "max(M^{9,8}, max(A^{9,8}, G^{9,8}))": 1,
    # only rows before: a row at once
    f"{FIRSTS}E^{{i,j}} = E^{{i-1,j}} + E^{{i-1,j-1}} / 2 + C_{{a(i), b(j)}} {GRID}\nE^{{9,8}}": 1,
    # only columns before
    f"{FIRSTS}E^{{i,j}} = tanh(E^{{i,j-1}} - E^{{i-1,j-1}} / 2) + C_{{a(i), b(j)}} {GRID}\nE^{{9,8}}": 1,
    # two rows before
    "E^{0,j} = 1 for j = 0, …, 8\nE^{1,j} = j for j = 0, …, 8\nE^{i,0} = 0 for i = 2, …, 9\n"
    "E^{i,j} = E^{i-2,j} - E^{i-1,j-1} / i + j for i = 2, …, 9 for j = 1, …, 8\nE^{9,8}": 1,
    # a row before, further on: the order is i by i, and j by j in it
    "E^{0,j} = j for j = 0, …, 9\nE^{i,0} = 1 for i = 1, …, 9\nE^{i,9} = 2 for i = 1, …, 9\n"
    f"E^{{i,j}} = sin(E^{{i-1,j+1}} + E^{{i,j-1}}) + C_{{a(i), b(j)}} {GRID}\nE^{{9,8}}": 1,
    # downwards
    "E^{10,j} = 0 for j = 1, …, 9\nE^{i,9} = 1 for i = 1, …, 9\n"
    "E^{i,j} = cos(E^{i+1,j} - E^{i,j+1}) + C_{a(i), b(j)} for i = 9, …, 1 for j = 8, …, 1\nE^{1,1}": 1,
    # each member is a vector
    VECTORS + "E^{9,8}": 1,
    # a batch, which the first members do not have
    f"{FIRSTS}E^{{i,j}} = max(E^{{i-1,j}}, E^{{i,j-1}}) / 2 + P_{{a(i), b(j)}} {GRID}\nE^{{9,8}}": 1,
    # what it begins with is a recurrence itself
    "E^{0,0} = 0\nE^{i,0} = E^{i-1,0} / 2 + X_{a(i)} for i = 1, …, 9\nE^{0,j} = E^{0,j-1} + Y_{b(j)} for j = 1, …, 8\n"
    f"E^{{i,j}} = min(E^{{i-1,j}}, E^{{i,j-1}}) + C_{{a(i), b(j)}} {GRID}\nE^{{9,8}}": 1,
    # indices that are numbers, powers and places elsewhere
    f"{FIRSTS}E^{{i,j}} = E^{{i-1,j}} / 2 + E^{{i,j-1}} / (i + j) + L_{{long(i+j)}} ⊙ j^2 / 100 {GRID}\nE^{{9,8}}": 1,
    f"{FIRSTS}E^{{i,j}} = {{ E^{{i-1,j-1}} + 1 if S_{{a(i)}} = U_{{b(j)}}; max(E^{{i-1,j}}, E^{{i,j-1}}) otherwise }} {GRID}\nE^{{9,8}}": 1,
    f"{FIRSTS}E^{{i,j}} = {{ E^{{i-1,j-1}} if i > j; E^{{i,j-1}} + 1 if i < 3; E^{{i-1,j}} / 2 otherwise }} {GRID}\nE^{{9,8}}": 1,
    # families of one index beside it
    "h^0 = 1\nh^t = h^{t-1} / 2 + t for t = 1, …, 20\n"
    f"{FIRSTS}E^{{i,j}} = E^{{i-1,j}} / h^i + E^{{i,j-1}} / h^{{j+1}} {GRID}\nE^{{9,8}}": 1,
    # in a function, which takes what it needs
    f"{FIRSTS}f(q) = E^{{9,8}}\nE^{{i,j}} = (E^{{i-1,j}} + E^{{i,j-1}}) / 2 + q / (i + j) {GRID}\nf(2) + f(X_{{a(3)}})": 2,
    # the first members by cases
    f"{CASES}E^{{9,8}} + E^{{0,3}} + E^{{7,0}}": 1,
    f"{CASES}T_{{a(i), b(j)}} = E^{{i,j}} - E^{{i-1,j-1}} {GRID}\nT": 1,
    "B^{i,j} = { 1 if j = 0; 1 if j = i; B^{i-1,j-1} + B^{i-1,j} otherwise } for i = 0, …, 12 for j = 0, …, i\nB^{12,6}": 1,
    # a triangle whose sums go along its side
    "F^{i,i} = i for i = 1, …, 12\nF^{i,j} = 0 for i = 2, …, 12 for j = i-1, …, i-1\n"
    "F^{i,j} = max(F^{i+1,j}, F^{i,j-1}) - F^{i+1,j-1} / 2 for i = 11, …, 1 for j = i+1, …, 12\nF^{1,12}": 1,
    # a sum over spans: not so far back, but anywhere
    "F^{i,i} = X_{a(i)} for i = 1, …, 9\nF^{i,j} = ∑_{k=i}^{j-1} F^{i,k} ⊙ F^{k+1,j} / 4 for i = 8, …, 1 for j = i+1, …, 9\nF^{1,9}": 0,
    # one member has an equation of its own
    f"{FIRSTS}E^{{4,4}} = 1\nE^{{i,j}} = max(E^{{i-1,j}}, E^{{i,j-1}}) {GRID}\nE^{{9,8}}": 0,
    # no member needs another
    f"c^{{i,j}} = X_{{a(i)}} ⊙ Y_{{b(j)}} {GRID}\nT_{{a(i), b(j)}} = c^{{i,j}} {GRID}\nT + c^{{2,3}}": 0,
}


def forget():
    for cache in (EXECUTABLES, EVALUATORS):
        cache.clear()


def used(formula, given=GIVEN):
    return {name: value for name, value in given.items() if name in formula}


@pytest.fixture
def written_out(monkeypatch):
    def value(formula):
        forget()
        with monkeypatch.context() as context:
            context.setattr(loops, "MIN_LOOP_STEPS", 10**9)
            result = nt.evaluate(formula, used(formula))
        forget()
        return result

    return value


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", ROLLED)
def test_a_loop_over_fronts_gives_what_its_members_give_written_out(formula, written_out):
    compiled = nt.formula(formula).compile()
    result = compiled(values=used(formula))
    assert nt.allclose(result, written_out(formula))
    assert len([step for step in compiled.plan.steps if step.primitive == "loop"]) == ROLLED[formula]


# but for derivatives, and a triangle whose sides cases begin, which the reference evaluator does not read
DEFINED = [name for name in ROLLED if "∂" not in name and "1 if j = i;" not in name]


@pytest.mark.parametrize("formula", DEFINED[::4])
def test_a_loop_over_fronts_gives_what_the_definitions_give(formula):
    result = nt.evaluate(formula, used(formula))
    inputs = {name: reference.tensor(tensor.array.tolist(), tensor.axes) for name, tensor in used(formula).items()}
    exact = reference.evaluate(formula, inputs)
    assert np.allclose(result.to_array(result.axes), exact.to_list(result.axes))


def of(library, given):
    xp = pytest.importorskip("jax.numpy" if library == "jax" else library, reason=f"{library} is not installed")
    return {name: nt.tensor(xp.asarray(value.array), value.axes) for name, value in given.items()}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("formula", [name for name in ROLLED if ROLLED[name]])
def test_a_loop_over_fronts_is_the_same_in_each_library(formula, library):
    expected = nt.evaluate(formula, used(formula))
    result = nt.evaluate(formula, of(library, used(formula)))
    assert np.allclose(
        np.asarray(result.to_array(expected.axes)), expected.to_array(expected.axes), rtol=1e-3, atol=1e-3
    )


ALL = next(name for name in ROLLED if "L_{long" in name).replace(
    "\nE^{9,8}", f"\nT_{{a(i), b(j)}} = (E^{{i,j}})^2 {GRID}\n"
)
DIFFERENTIABLE = {  # what is written, and by which of its inputs
    "soft warping": (f"{SOFT}D^{{9,8}}", "C"),
    "warping": (f"{WARP}D^{{9,8}}", "Y"),
    "each member is a vector": (VECTORS + "∑_{chans} E^{9,8}", "W"),
    "all members": (f"{ALL}∑_{{a,b}} T", "L"),
    "three names": (GAPS + "max(M^{9,8}, max(A^{9,8}, G^{9,8}))", "C"),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_loop_over_fronts_is_differentiated(name, library):
    """By our own calculus, by PyTorch and by JAX, against quotients of differences."""
    formula, by = DIFFERENTIABLE[name]
    compiled, inputs = nt.formula(formula).compile(), used(formula)
    array, axes = GIVEN[by].array, GIVEN[by].axes

    def value(x):
        return compiled(
            values={**(inputs if library == "numpy" else of(library, inputs)), by: nt.tensor(x, axes)}
        ).array

    if library == "numpy":
        grad = nt.formula(formula).gradient([by])(values=inputs)[by].to_array(axes)
    elif library == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        leaf = torch.tensor(array, requires_grad=True)
        (grad,) = torch.autograd.grad(value(leaf), leaf)
    else:
        jax = pytest.importorskip("jax", reason="jax is not installed")
        grad = jax.grad(value)(jax.numpy.asarray(array))
    places = [(0,) * array.ndim, tuple(size // 2 for size in array.shape), tuple(size - 1 for size in array.shape)]
    for position in places:
        change = np.zeros_like(array)
        change[position] = 1e-6
        ends = [float(compiled(values={**inputs, by: nt.tensor(array + sign * change, axes)})) for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-6
        assert np.isclose(np.asarray(grad)[position], slope, rtol=1e-2, atol=1e-3)


def warped(c):
    """The soft time warping, by a loop of Python."""
    rows, columns = c.shape
    array = np.full((rows + 1, columns + 1), 1e3)
    array[0, 0] = 0
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            before = array[i - 1, j], array[i, j - 1], array[i - 1, j - 1]
            array[i, j] = c[i - 1, j - 1] - np.logaddexp.reduce(-np.array(before))
    return array


@pytest.mark.parametrize(("rows", "columns"), [(100, 100), (7, 120), (120, 7)])
def test_many_members_are_planned_in_time_that_does_not_grow_with_them(rows, columns, monkeypatch):
    text = """D^{0,0} = 0
D^{i,0} = 1000 for i = 1, …, |a|
D^{0,j} = 1000 for j = 1, …, |b|
D^{i,j} = c_{a(i), b(j)} - log(exp(-D^{i-1,j}) + exp(-D^{i,j-1}) + exp(-D^{i-1,j-1})) for i = 1, …, |a| for j = 1, …, |b|
T_{a(i), b(j)} = D^{i,j} for i = 1, …, |a| for j = 1, …, |b|
T + D^{|a|,|b|}"""
    c, sizes = np.random.default_rng(3).random((rows, columns)), []
    make = Term.__init__
    monkeypatch.setattr(Term, "__init__", lambda self, *rest: (sizes.append(1), make(self, *rest))[1])
    array = nt.formula(text)(c=nt.tensor(c, "a b")).to_array("a b")
    expected = warped(c)[1:, 1:]
    assert np.allclose(array, expected + expected[-1, -1]) and len(sizes) < 1000


WAYS = [(1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1), (1, -1), (1, -2), (2, -1)]
HEAVIEST = 3  # weight that one of these ways needs: 3 i + j grows along (1, -2), and fewer columns leave empty fronts
spans = st.tuples(st.integers(-3, 4), st.integers(0, 6))


@given(
    st.integers(-3, 3),
    st.lists(spans, min_size=1, max_size=7),
    st.sets(st.sampled_from(WAYS), min_size=1),
    st.booleans(),
)
def test_an_order_has_each_member_once_and_after_those_that_it_reads(first, spans, offsets, turned):
    domain = Domain(first, [(low, low + size) for low, size in spans])
    offsets = {(-i, -j) if turned else (i, j) for i, j in offsets}
    order = choose_order(domain, offsets)
    cells = {(i, j) for i, (low, high) in zip(domain.rows, domain.spans) for j in range(low, high + 1)}
    assert domain.count == len(cells) and all((cell in domain) == (cell in cells) for cell in cells | {(9, 9), (-9, 0)})
    for back in offsets:
        beyond = domain.beyond(back)
        assert {*beyond} == {(i - back[0], j - back[1]) for i, j in cells} - cells and len(beyond) == len({*beyond})
    if order is None:  # a front between others has no member, or a lane between others
        assert not domain.is_box or min(len(domain.rows), len(domain.columns)) < HEAVIEST
        return
    front = order.schedule.front
    assert all(front((cell[0] - back[0], cell[1] - back[1])) < front(cell) for cell in cells for back in offsets)
    lanes: dict[int, list[int]] = {}
    for cell in cells:
        lanes.setdefault(front(cell) - order.first, []).append(cell[order.schedule.lane])
    assert [sorted(lanes[number]) for number in range(len(order.lanes))] == [
        [*range(low, high + 1)] for low, high in order.lanes
    ]
    assert order.start() in cells and front(order.start()) == order.first


def moved(name, offset):
    return f"{name}-{offset}" if offset > 0 else f"{name}+{-offset}" if offset else name


@given(
    st.lists(st.sampled_from(WAYS), min_size=1, max_size=3, unique=True),
    st.booleans(),
    st.integers(8, 10),
    st.integers(8, 10),
)
@settings(max_examples=12)
def test_whatever_a_fixed_way_off_is_read(offsets, downward, rows, columns):
    """Against a loop of Python: the members before, read in any order, upwards and downwards, the others from the border."""
    sign = -1 if downward else 1
    reads = " + ".join(
        f"E^{{{moved('i', sign * a)},{moved('j', sign * b)}}} / {index + 2}" for index, (a, b) in enumerate(offsets)
    )
    inner = (
        f"for i = {rows + 2}, …, 3 for j = {columns + 2}, …, 3"
        if downward
        else f"for i = 3, …, {rows + 2} for j = 3, …, {columns + 2}"
    )
    far = rows + 4, columns + 4
    text = f"""E^{{i,j}} = sin(i - 2 j) for i = 1, …, 2 for j = 1, …, {far[1]}
E^{{i,j}} = sin(i - 2 j) for i = {rows + 3}, …, {far[0]} for j = 1, …, {far[1]}
E^{{i,j}} = sin(i - 2 j) for i = 3, …, {rows + 2} for j = 1, …, 2
E^{{i,j}} = sin(i - 2 j) for i = 3, …, {rows + 2} for j = {columns + 3}, …, {far[1]}
E^{{i,j}} = tanh({reads}) + i ⊙ j / 100 {inner}
T_{{a(i), b(j)}} = E^{{i,j}} for i = 1, …, {far[0]} for j = 1, …, {far[1]}
T"""
    i, j = np.indices(far) + 1
    expected = np.sin(i - 2 * j)
    order = sorted(((i, j) for i in range(2, rows + 2) for j in range(2, columns + 2)), reverse=downward)
    for i, j in order:
        before = sum(expected[i - sign * a, j - sign * b] / (index + 2) for index, (a, b) in enumerate(offsets))
        expected[i, j] = np.tanh(before) + (i + 1) * (j + 1) / 100
    compiled = nt.formula(text).compile()
    assert np.allclose(compiled().to_array("a b"), expected)
    assert [step.primitive for step in compiled.plan.steps].count("loop") == 1


def test_members_have_the_axes_that_their_equations_give_them():
    """E^{7,8} is E^{0,1} + 7, a number, whatever axes the members between others have."""
    text = """E^{i,0} = [1, 2, 3]_{chans} for i = 0, …, 9
E^{0,j} = 0 for j = 1, …, 8
E^{i,j} = E^{i-1,j-1} + 1 for i = 1, …, 9 for j = 1, …, 8
"""
    assert nt.evaluate(text + "E^{7,8}").axes == () and nt.evaluate(text + "E^{7,8}").item() == 7
    assert nt.evaluate(text + "E^{9,8}").to_array("chans").tolist() == [9, 10, 11]


SIDES = {  # members that the family gives by cases, at its sides; one of the others, and its value: a sum over paths
    "first row and first column": (
        "i if j = 0; j if i = 0; E^{i-1,j} + E^{i,j-1} otherwise",
        "n,n",
        lambda n: 2 * sum(k * comb(2 * n - k - 1, n - 1) for k in range(1, n + 1)),
    ),
    "first row and last column": ("1 if i = 0; 2 if j = n; E^{i-1,j+1} + E^{i-1,j} otherwise", "n,0", lambda n: 2**n),
}


@pytest.mark.parametrize("sides", SIDES)
def test_a_plan_does_not_grow_with_the_sides_that_cases_give(sides):
    cases, cell, value = SIDES[sides]
    text = f"E^{{i,j}} = {{ {cases} }} for i = 0, …, n for j = 0, …, n\nE^{{{cell}}}"
    plans = []
    for n in (9, 14):
        compiled = nt.formula(text.replace("n", str(n))).compile()
        assert compiled().item() == value(n)
        plans.append([step.primitive for step in compiled.plan.steps])
    assert plans[0] == plans[1] and plans[0].count("loop") == 1


def test_a_function_is_asked_for_the_members_of_a_triangle_alone():
    """Outside the triangle, u − k + 1 is not a position along b."""
    text = """E^{i,0} = 0 for i = 0, …, 12
E^{i,j} = E^{i-1,j-1} + f^j(i) for i = 1, …, 12 for j = 1, …, i
f^k(u) = X_{b(u-k+1)}
E^{12,5}"""
    assert nt.evaluate(text, X=nt.tensor(np.arange(1.0, 13), "b")).item() == 5 * 8


def test_only_names_of_the_program_are_noted_of_a_grid():
    """h^{i,j} is a member of a family that has one range and another index."""
    text = """E^{i,0} = 0 for i = 0, …, 9
E^{0,j} = 0 for j = 1, …, 9
h^{0,k} = k for k = 1, …, 9
h^{t,k} = h^{t-1,k} + x for t = 1, …, 9
E^{i,j} = E^{i-1,j} + E^{i,j-1} + h^{i,j} for i = 1, …, 9 for j = 1, …, 9
E^{9,9}"""
    types = nt.check(text, x="ℝ").types
    assert "h^{3,4}" in types and [name for name in types if "@" in name] == []
    cells = [(i, j) for i in range(1, 10) for j in range(1, 10)]
    paths = sum((j + 2 * i) * comb(18 - i - j, 9 - i) for i, j in cells)
    assert nt.evaluate(text, x=2.0).item() == paths
