"""Equations that together say too much of one tensor's elements, and chains of what is not known: errors, in time."""

import pytest
from timing import at_most

import namedtensor as nt

Y = "Y ∈ ℝ^{a[2] × b[2]}\n"


@pytest.mark.parametrize(("program", "position"), [
    (Y + "Y_{a(i), b(j)} = i\nY_{a(i), b(j)} = j", "Y_{a(i), b(j)}"),
    (Y + "Y_{a(i), b(j)} = i\nY_{a(j), b(i)} = i", "Y_{a(j), b(i)}"),
    ("Z_{a(i)} = X_{a(i)}\nZ_{a(j)} = 2 X_{a(j)}", "Z_{a(j)}"),
    (r"\\[ Z_{\\name{a}(i)} = X_{\\name{a}(i)} \\] \\[ Z_{\\name{a}(j)} = X_{\\name{a}(j)} \\]".replace("\\\\", "\\"), r"Z_{\name{a}(j)}"),
])  # fmt: skip
def test_two_equations_that_each_fill_all_of_a_tensor(program, position):
    with pytest.raises(nt.NotationError, match="both define all of") as caught:
        nt.evaluate(program, X=nt.tensor([1.0, 2.0], "a"))
    assert (caught.value.code, caught.value.span_text) == (406, position)
    assert [error.code for error in nt.check(program, X="ℝ^{a[2]}").errors] == [406]


@pytest.mark.parametrize("first", ["", "a_0 = A ⊙_{ax} A\n", "a_0 = [1, 2]_{b} + [1, 2, 3]_{b}\n"])
def test_a_chain_of_what_has_no_type_is_checked_once(first):
    program = first + "\n".join(f"a_{n + 1} = a_{n} + Y" for n in range(150))
    with at_most(5):
        assert len(nt.check(program, {"Y": "ℝ", "A": "ℝ"}).errors) == 1


@pytest.mark.parametrize(("formula", "meant"), [
    ("E_{experts(argmax_{experts} G)}", "E ⊙_{experts} argmax_{experts} G"),
    ("E_{experts(argmaxk_{experts,k} G)}", "E ⊙_{experts} argmaxk_{experts,k} G"),
])  # fmt: skip
def test_what_picks_is_no_index_and_its_product_is_meant(formula, meant):
    E, G = nt.tensor([[1.0, 2], [3, 4], [5, 6]], "experts chans"), nt.tensor([0.1, 0.7, 0.2], "experts")
    sizes = {"k": 2} if "k" in formula.partition("argmax")[2][:1] else None
    (problem,) = nt.check(formula, E=E.shape, G=G.shape, sizes=sizes).errors
    assert problem.code == 401 and problem.hint.endswith(meant)
    result = nt.evaluate(meant, E=E, G=G, sizes=sizes)
    assert result.tolist(result.axes) == ([3, 4] if sizes is None else [[3, 4], [5, 6]])
    alone = nt.evaluate("X_{a(argmax_{a} X)}", X=nt.tensor([4.0], "a"))
    assert alone.tolist("a") == [4]


@pytest.mark.parametrize("size", ["", "[3]"], ids=["open", "known"])
@pytest.mark.parametrize("index", ["2 i - c", "2 i - |c|", "i + |c|"])
def test_an_index_without_a_value_is_an_error_at_the_index(index, size):
    program = f"Y_{{a({index})}} = X_{{b(i)}} for i = 1, …, |b|"
    (problem,) = nt.check(program, X=f"ℝ^{{b{size}}}").errors
    assert (problem.code, problem.span_text) == (309, index)
