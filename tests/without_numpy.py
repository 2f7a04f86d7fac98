"""Parsing, printing, checking and the reference evaluator, where NumPy is not installed.

`test_packaging.py` runs this with NumPy hidden; continuous integration runs it where NumPy is absent.
"""

import importlib.util
import sys


def main() -> None:
    if "--hide" in sys.argv:
        for name in ("numpy", "array_api_compat"):
            sys.modules[name] = None  # type: ignore[assignment]
    else:
        assert importlib.util.find_spec("numpy") is None, "NumPy is installed here"

    import namedtensor as nt
    from grammar.parser import parse
    from grammar.printer import to_latex, to_text
    from namedtensor import reference

    text = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
    tree = parse(text)
    for printed in (to_text(tree), to_text(tree, ascii=True), to_latex(tree), to_latex(tree, macros=True)):
        assert parse(printed) == tree, printed

    types = nt.check(text, Q="ℝ^{key[2]}", K="ℝ^{seq[3] × key[2]}", V="ℝ^{seq[3] × val[4]}")
    assert types.type == "ℝ^{val[4]}", types

    A = reference.tensor([[3, 1, 4], [1, 5, 9], [2, 6, 5]], "height width")
    assert reference.evaluate("∑_{height} A", {"A": A}).to_list("width") == [6, 12, 18]
    assert reference.evaluate(r"\nsum{\height} A", {"A": A}).to_list("width") == [6, 12, 18]

    try:
        nt.check("A ⊙_{hieght} x", A="ℝ^{height}", x="ℝ^{height}").raise_first()
    except nt.NotationError as error:
        assert error.code == 301
    else:
        raise AssertionError("a misspelt axis was let through")
    page()
    print("without NumPy: parsed, printed, checked, evaluated, and what the page asks answered")


EXERCISE = """#: exercise weights
Q ∈ ℝ^{key}
K ∈ ℝ^{seq × key}
answer = softmax_{seq}(Q ⊙_{key} K / √|key|)
"""


SOURCES = (
    "A x",
    r"x^\top A x",
    "\\sum_j A_{ij} x_j",
    'np.einsum("ij,jk->ik", A, B)',
    "A @ B.T",
    "torch.softmax(A, -1)",
)


def page() -> None:
    from namedtensor.webpage.answers import QUESTIONS, answer

    text = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
    formula = {"text": text, "inputs": {"Q": "ℝ^{key[2]}", "K": "ℝ^{seq[3] × key[2]}", "V": "ℝ^{seq[3] × val[4]}"}}
    fields: dict[str, list[dict]] = {
        **dict.fromkeys(("check", "plan", "steps"), [formula]),
        "code": [{**formula, "library": item} for item in ("loops", "numpy", "torch", "jax", "javascript", "einsum")],
        "derive": [{**formula, "by": name} for name in "QKV"],
        "complete": [{"before": "A \\od"}],
        "same": [{"first": "∑_{a} X", "second": "∑_{a} X + 0", "inputs": {"X": "ℝ^{a}"}}],
        "exercises": [{"file": EXERCISE}],
        **dict.fromkeys(("release", "drawing"), [{"file": EXERCISE, "name": "weights"}]),
        "error": [{"code": 301}],
        "translate": [{"text": source} for source in SOURCES],
        "grade": [
            {"file": EXERCISE, "name": "weights", "answer": item} for item in ("softmax_{seq}(Q ⊙_{key} K)", "1", "?")
        ],
    }
    for ask in QUESTIONS:
        for field in fields.get(ask, [{}]):
            result = answer({"ask": ask, **field})
            assert result["ok"] is True, (ask, result["error"]["full"])
            assert not result.get("errors"), (ask, result)
    call = """einsum("k,sk->s", Q, K)"""
    assert answer({"ask": "translate", "text": call})["readings"][0]["formula"] == "Q ⊙_{k} K"
    letters = EXERCISE.replace("weights", "weights kind einsum").partition("answer")[0] + "answer = Q ⊙_{key} K\n"
    assert answer({"ask": "grade", "file": letters, "name": "weights", "answer": call})["correct"] is True
    (wrong, *_) = (answer({"ask": "grade", **item}) for item in fields["grade"])
    assert "without / √|key|" in wrong["feedback"], wrong


if __name__ == "__main__":
    main()
