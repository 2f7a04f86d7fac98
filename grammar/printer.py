"""The syntax tree back to a formula: `parse(to_text(tree)) == tree`, and the same in ASCII and in LaTeX.

`printer_text` has a method for each kind of node. `printer_ascii` and `printer_latex` replace those for which their
spelling differs.
"""

from __future__ import annotations


def to_text(node, ascii: bool = False) -> str:
    """`node` (an expression, a statement, a set, a program) as text; `ascii`: in ASCII letters and signs alone.

    >>> from grammar.parser import parse
    >>> to_text(parse("softmax_seq (Q @_key K / sqrt(|key|)) @_seq V"))
    'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
    >>> to_text(parse("X_{a→b} ⊕_{chans} γ"), ascii=True)
    'concat_{chans}(X_{a->b}, gamma)'
    """
    from .printer_ascii import Ascii
    from .printer_text import Text

    return (Ascii(node) if ascii else Text()).text(node)


def to_latex(node, macros: bool = False) -> str:
    """`node` as LaTeX that KaTeX and MathJax render; `macros`: in the macros of the paper's package `namedtensor`.

    >>> from grammar.parser import parse
    >>> print(to_latex(parse("Q ⊙_{key} K / 2"), macros=True))
    \\frac{Q \\ndot{\\name{key}} K}{2}
    >>> print(to_latex(parse("∑_{seq} X")))
    \\sum\\limits_{\\mathsf{seq}} X
    """
    from .printer_latex import Latex, Macros

    return (Macros(node) if macros else Latex(node)).text(node)
