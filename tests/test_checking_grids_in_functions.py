"""A family over two indices has the same members inside a function as at the top level of a program."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

W = np.array([1.0, 2.0, 3.0])
RANGES = "for i = 1, …, 3 for j = i + 1, …, 3"
SPLITS = {  # the sum over all ways to split i … j, once in two equations and once by cases
    "two equations": f"S^{{i,i}} = w_{{n(i)}} for i = 1, …, 3\nS^{{i,j}} = ∑_{{k=i}}^{{j-1}} S^{{i,k}} S^{{k+1,j}} {RANGES}\n",
    "up to a size": "S^{i,i} = w_{n(i)} for i = 1, …, |n|\n"
    "S^{i,j} = ∑_{k=i}^{j-1} S^{i,k} S^{k+1,j} for i = 1, …, |n| for j = i + 1, …, |n|\n",
    "by cases": "S^{i,j} = { w_{n(i)} if i = j; ∑_{k=i}^{j-1} S^{i,k} S^{k+1,j} otherwise } for i = 1, …, 3 for j = i, …, 3\n",
    "the best split": f"S^{{i,i}} = w_{{n(i)}} for i = 1, …, 3\nS^{{i,j}} = max_{{k=i}}^{{j-1}} (S^{{i,k}} + S^{{k+1,j}} S^{{k+1,j}}) {RANGES}\n",
}
COMBINED = {"the best split": (max, lambda a, b: a + b**2)}


def members(case):
    combine, pair = COMBINED.get(case, (sum, lambda a, b: a * b))
    table = {(i, i): W[i - 1] for i in (1, 2, 3)}
    for i, j in ((1, 2), (2, 3), (1, 3)):
        table[i, j] = combine([pair(table[i, k], table[k + 1, j]) for k in range(i, j)])
    return table


ASKED = {
    "a member": ("S^{1,3}", lambda s: s[1, 3]),
    "a sum of members": ("∑_{k=1}^{3} S^{k,3}", lambda s: s[1, 3] + s[2, 3] + s[3, 3]),
    "a sum over a set": ("∑_{k ∈ [3]} S^{k,3}", lambda s: s[1, 3] + s[2, 3] + s[3, 3]),
    "the diagonal": ("∏_{k=1}^{3} S^{k,k}", lambda s: s[1, 1] * s[2, 2] * s[3, 3]),
    "the largest": ("max_{k=1}^{3} S^{1,k}", lambda s: max(s[1, 1], s[1, 2], s[1, 3])),
    "the position of the largest": ("argmax_{k=1}^{3} S^{1,k}", lambda s: 1 + np.argmax([s[1, 1], s[1, 2], s[1, 3]])),
    "a sum of sums": ("∑_{j=1}^{3} ∑_{i=1}^{j} S^{i,j}", lambda s: sum(s.values())),
    "the last sum of an element": ("Y_{m(3)}", lambda s: s[1, 3] + s[2, 3] + s[3, 3]),
}
ROWS = "Y_{m(i)} = ∑_{k=1}^{i} S^{k,3}\n|m| = 3\n"
PLACES = {
    "at the top level": "{defs}{asked}",
    "in a function": "F(w) = {asked}\n{defs}F(w)",
    "in a function with a signature": "F : ℝ^{{n}} → ℝ\nF(w) = {asked}\n{defs}F(w)",
    "in a function that a function calls": "F(w) = g(0)\ng(q) = q + {asked}\n{defs}F(w)",
}


MOST = [("two equations", asked, slot) for asked in ASKED for slot in PLACES]
OTHERS = [(case, asked, "in a function") for case in SPLITS for asked in ("a member", "the position of the largest")]


@pytest.mark.parametrize(("case", "asked", "slot"), [*MOST, *OTHERS])
def test_members_wherever_they_are_asked_for(case, asked, slot):
    expression, expected = ASKED[asked]
    defs = SPLITS[case] + (ROWS if "Y" in expression else "")
    text = PLACES[slot].format(defs=defs, asked=expression)
    assert float(nt.evaluate(text, w=nt.tensor(W, "n"))) == expected(members(case))
    if case == "two equations":
        result = reference.evaluate(text, {"w": reference.tensor(W.tolist(), "n")})
        assert result.entries[()] == expected(members(case))


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_members_in_another_library_in_a_batch_and_in_a_derivative(library):
    pytest.importorskip(library)
    text = PLACES["in a function with a signature"].format(defs=SPLITS["two equations"], asked="S^{1,3}")
    batch = nt.tensor(np.stack([W, W + 1]), "b n").to(library)
    first, second, third = np.stack([W, W + 1]).T
    value = nt.evaluate(text.removesuffix("F(w)") + "F(z)", z=batch)
    np.testing.assert_allclose(value.to_numpy("b"), 2 * first * second * third)
    slope = nt.derivative(text.removesuffix("F(w)") + "F(z)", "z")(z=nt.tensor(W, "n").to(library))
    np.testing.assert_allclose(slope.to_numpy(), 2 * W.prod() / W, rtol=1e-6)


@pytest.mark.parametrize(
    "asked", ["argmax_{k=1}^{3} S^{k,2}", "∑_{k=1}^{3} S^{k,2}", "argmax_{k=2}^{5} S^{1,k}", "argmax_{k=1}^{5} h^k"]
)
def test_a_member_that_no_equation_defines_is_an_error(asked):
    defs = SPLITS["two equations"] + "h^t = h^{t-1} + w_{n(t)} for t = 1, …, 3\nh^0 = 0\n"
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(PLACES["in a function"].format(defs=defs, asked=asked), w=nt.tensor(W, "n"))
    assert caught.value.code in (201, 210)


def test_two_functions_have_families_of_one_name():
    text = (
        "F(w) = S^{1,2}\nS^{i,i} = w_{n(i)} for i = 1, …, 3\nS^{i,j} = S^{i,j-1} + S^{j,j} for i = 1, …, 3 for j = i + 1, …, 3\n"
        "G(v) = S^{1,2}\nS^{i,i} = v_{n(i)} for i = 1, …, 3\nS^{i,j} = S^{i,j-1} S^{j,j} for i = 1, …, 3 for j = i + 1, …, 3\n"
        "10 F(x) + G(x)"
    )
    assert float(nt.evaluate(text, x=nt.tensor(W + 1, "n"))) == 10 * (2 + 3) + 2 * 3
