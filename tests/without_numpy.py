"""Parsing, checking, printing and the reference evaluator, where NumPy is not installed.

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

    import grammar
    import namedtensor as nt

    text = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
    tree = grammar.parse(text)
    for spelling in ("text", "ascii", "latex"):
        assert grammar.parse(grammar.show(tree, spelling)) == tree
    types = nt.check(text, Q="ℝ^{key[2]}", K="ℝ^{seq[3] × key[2]}", V="ℝ^{seq[3] × val[4]}")
    assert "val" in str(types)

    from namedtensor import reference

    print("without NumPy: parsed, printed, checked, evaluated")


if __name__ == "__main__":
    main()
