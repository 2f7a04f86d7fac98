"""Run formulas in named tensor notation.

Written by `python docs/_extensions/stubs.py --write` from the records of the operators; a test compares.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, SupportsIndex

from grammar.errors import NotationError as NotationError
from grammar.errors import NotationWarning as NotationWarning

from . import initializers as initializers
from . import layers as layers
from .checking.report import CheckResult
from .core.behavior import Axes, Operand
from .core.comparison import allclose as allclose
from .core.data_frames import from_pandas as from_pandas
from .core.data_frames import from_polars as from_polars
from .core.interchange import from_xarray as from_xarray
from .core.settings import Limits as Limits
from .core.settings import strict as strict
from .core.tensor import NamedTensor as NamedTensor
from .core.tensor import tensor as tensor
from .derivations.gradients import gradient as gradient
from .derivations.proofs import prove as prove
from .display.diagram import Diagram
from .display.pictures import heatmap as heatmap
from .documents.check_files import check_document as check_document
from .documents.load import load_program as load_program
from .files.safetensors import TensorFile as TensorFile
from .files.safetensors import load_tensors as load_tensors
from .files.safetensors import save_tensors as save_tensors
from .files.tensor_files import load_tensor as load_tensor
from .files.tensor_files import save_tensor as save_tensor
from .operators.user_functions import custom_function as custom_function
from .planning.cost import Cost
from .positional.torch_reading import from_torch as from_torch
from .positional.translation import from_einops as from_einops
from .positional.translation import from_einsum as from_einsum
from .positional.translation import translate as translate
from .programs.api import formula as formula
from .programs.api import latex_preamble as latex_preamble
from .programs.api import program as program
from .programs.arguments import Values
from .programs.call_cache import FormulaLike
from .programs.compiled import CompiledFormula
from .programs.custom_operators import CustomOperator as CustomOperator
from .programs.custom_operators import operator as operator
from .programs.evaluate import evaluate as evaluate
from .programs.evaluate import explain as explain
from .programs.initializers import Initializers
from .programs.program import EntryPoint
from .programs.program import Formula as Formula
from .programs.program import Program as Program
from .teaching.equivalence import equivalent as equivalent
from .teaching.follows import DifferenceError as DifferenceError
from .teaching.follows import follows as follows
from .teaching.sheets import exercises as exercises
from .tensors.creation import arange as arange
from .tensors.creation import eye as eye
from .tensors.creation import full as full
from .tensors.creation import full_like as full_like
from .tensors.creation import ones as ones
from .tensors.creation import ones_like as ones_like
from .tensors.creation import zeros as zeros
from .tensors.creation import zeros_like as zeros_like
from .tensors.digits import set_printoptions as set_printoptions
from .tensors.dlpack import from_dlpack as from_dlpack
from .tensors.mapping import scan as scan
from .tensors.mapping import vmap as vmap
from .tensors.quantization import quantize as quantize
from .tensors.random_numbers import random_normal as random_normal
from .tensors.random_numbers import random_uniform as random_uniform

__version__: str
__all__ = [
    "NotationError",
    "NotationWarning",
    "Limits",
    "strict",
    "allclose",
    "from_pandas",
    "from_polars",
    "from_xarray",
    "NamedTensor",
    "tensor",
    "gradient",
    "prove",
    "heatmap",
    "check_document",
    "load_program",
    "TensorFile",
    "load_tensors",
    "save_tensors",
    "load_tensor",
    "save_tensor",
    "custom_function",
    "from_torch",
    "from_einops",
    "from_einsum",
    "translate",
    "check",
    "compile",
    "cost",
    "derivative",
    "diagram",
    "formula",
    "init",
    "parameters",
    "program",
    "latex_preamble",
    "to_einsum",
    "to_javascript",
    "to_latex",
    "to_python",
    "to_text",
    "CustomOperator",
    "operator",
    "evaluate",
    "explain",
    "Formula",
    "Program",
    "equivalent",
    "DifferenceError",
    "follows",
    "exercises",
    "arange",
    "eye",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
    "random_normal",
    "random_uniform",
    "set_printoptions",
    "from_dlpack",
    "scan",
    "vmap",
    "quantize",
    "initializers",
    "layers",
]

def check(
    formula: FormulaLike,
    shapes: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
) -> CheckResult:
    """Check the formula without data: infer the type of every name and sub-expression, and report all errors.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    shapes : mapping of str to tensor or shape, optional
        Shapes by name, if not passed as keywords. Unlike keywords, the mapping may contain unused names.
    sizes : mapping of str to int, optional
        Sizes that the shapes leave open; none is required.
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **named : tensor or shape
        Shapes such as A="ℝ^{height[3] × width}".

    Returns
    -------
    CheckResult
        Types, errors and warnings. For a function, `type` is the type of its value for arguments of these shapes.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.check("∑_{width} A", A="ℝ^{height[3] × width[2]}").type
    'ℝ^{height[3]}'
    """

def derivative(formula: FormulaLike, /, wrt: str, *, syntax: str = "auto") -> Formula | EntryPoint:
    r"""Return the derivative with respect to a name, as a formula (paper §5).

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    wrt : str
        The name of an input, a parameter or a definition.
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).

    Returns
    -------
    Formula or EntryPoint
        The derivative ∂value/∂X* of a value, or the function f'(X) = ∂f(X)/∂X* for a function f. The axes of X are
        starred. For example, the derivative of f : ℝ^{a} → ℝ^{b} is f' : ℝ^{a} → ℝ^{b × a*}. If the name a* is in
        use, the axis is a† or a**. The result prints as its closed form, if there is one. `to_text()` returns it
        as ∂….

    Raises
    ------
    NotationError
        If `wrt` is not a name, or the formula does not use it.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.derivative("x ⊙_{a} x", "x")
    D = 2 x^*
    >>> derivative = nt.derivative("f(x) = x^3", "x")
    >>> float(derivative(2.0))
    12.0
    >>> print(derivative.to_text())
    f(x) = x^3
    f'(x) = ∂f(x)/∂x*
    >>> program = nt.program("f(x) = x^3\nY = f(x) + 1")
    >>> float(program["f"].derivative("x")(2.0)), float(program["Y"].derivative("x")(x=2.0))
    (12.0, 12.0)
    """

def compile(
    formula: FormulaLike, /, backend: str | None = None, disable: str | Collection[str] = (), *, syntax: str = "auto"
) -> CompiledFormula:
    """Compile a function of named tensors for repeated calls. It is planned once per input signature.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    backend : {"numpy", "torch", "jax"}, optional
        The library to run on (default: the library of the inputs).
    disable : str or collection of str
        Names of optimizations to turn off, such as "tiling" (default: none).
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).

    Returns
    -------
    CompiledFormula

    Raises
    ------
    NotationError
        If the backend is not installed, or an optimization is unknown.

    Examples
    --------
    >>> import namedtensor as nt
    >>> f = nt.compile("∑_{a} X^2")
    >>> float(f(X=nt.tensor([3.0, 4.0], "a")))
    25.0
    """

def cost(
    formula: FormulaLike,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    disable: str | Collection[str] = (),
    syntax: str = "auto",
    **named: Any,
) -> Cost:
    """Compute the cost of an evaluation without running it: operations, bytes and the largest array of each step.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    values : mapping of str to tensor or shape, optional
        Inputs by name, if not passed as keywords. Declared parameters may be omitted.
    sizes : mapping of str to int, optional
        Sizes that the shapes leave open. A size that stays open is a symbol, and the figures are polynomials.
    disable : str or collection of str
        Names of optimizations to turn off (default: none).
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **named : tensor or shape
        Inputs, such as X="ℝ^{seq × a[8]}".

    Returns
    -------
    Cost

    Raises
    ------
    NotationError
        If the formula does not fit the shapes, or a result exceeds the memory limit.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.cost("X ⊙_{a} W", X="ℝ^{seq[100] × a[8]}", W="ℝ^{a[8] × b[4]}").multiply_adds
    3200
    >>> print(nt.cost("X ⊙_{a} W", X="ℝ^{seq × a}", W="ℝ^{a × b[4]}").multiply_adds)
    4 * a * seq
    """

def parameters(
    formula: FormulaLike, /, sizes: Mapping[str, int] | None = None, *, syntax: str = "auto", **shapes: Any
) -> dict[str, str]:
    r"""Infer the shape of every parameter. A parameter is a name that is declared but not defined.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    sizes : mapping of str to int, optional
        Sizes of axes (hyperparameters).
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **shapes : tensor or shape
        Shapes of inputs, such as X="ℝ^{seq × chans}".

    Returns
    -------
    dict of str to str
        The shape of each parameter. An entry point returns only the parameters that its value uses.

    Raises
    ------
    NotationError
        If the shapes of a function's parameters depend on its arguments, and `shapes` does not specify them.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.parameters("W ∈ ℝ^{a × b}\nY = X ⊙_{a} W", sizes={"b": 2}, X="ℝ^{a[3]}")
    {'W': 'ℝ^{a[3] × b[2]}'}
    >>> program = nt.program("f : ℝ^{a} → ℝ\nf(x) = x ⊙_{a} w\nw ∈ ℝ^{a}\nY = V\nV ∈ ℝ^{b}")
    >>> program.parameters(sizes={"a": 3, "b": 2}), program["Y"].parameters(sizes={"b": 2})
    ({'V': 'ℝ^{b[2]}', 'w': 'ℝ^{a[3]}'}, {'V': 'ℝ^{b[2]}'})
    """

def init(
    formula: FormulaLike,
    /,
    seed: Any = 0,
    sizes: Mapping[str, int] | None = None,
    dtype: str = "float64",
    initializers: Initializers | None = None,
    names: Collection[str] | None = None,
    *,
    syntax: str = "auto",
    **shapes: Any,
) -> dict[str, Any]:
    r"""Return an initialized tensor for each parameter.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    seed : int or key of jax.random
        The seed of the random numbers. If it is a key, the tensors contain JAX arrays (default: 0).
    sizes : mapping of str to int, optional
        Sizes that the shapes leave open.
    dtype : str
        The dtype of the tensors (default: "float64").
    initializers : mapping of str to initializer, optional
        An initializer from `nt.initializers` for each name or base of a name. Default: γ is 1; a contracted tensor
        is normal with variance 1/fan_in; an added tensor is 0.
    names : collection of str, optional
        The parameters to initialize (default: all).
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **shapes : str, mapping or tensor
        The shapes of the inputs, such as X="ℝ^{seq × chans}".

    Returns
    -------
    dict of str to NamedTensor

    Raises
    ------
    NotationError
        If a size, or the shape of an argument of a function, cannot be inferred.

    Examples
    --------
    >>> import namedtensor as nt
    >>> tensors = nt.init("Y = X ⊙_{a} W + b\nW ∈ ℝ^{a × b}\nb ∈ ℝ^{b}", sizes={"a": 3, "b": 2}, X="ℝ^{a}")
    >>> {name: tensor.shape for name, tensor in tensors.items()}
    {'W': ℝ^{a[3] × b[2]}, 'b': ℝ^{b[2]}}
    """

def diagram(
    formula: FormulaLike,
    /,
    *arguments: Any,
    sizes: Mapping[str, int] | None = None,
    expand: str | Collection[str] = (),
    values: Values | None = None,
    inputs: Values | None = None,
    syntax: str = "auto",
    **shapes: Any,
) -> Diagram:
    r"""Draw the flow of data to the value, with the type of each node. No value is computed.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    *arguments : tensor or shape
        The arguments of a function.
    sizes : mapping of str to int, optional
        Sizes that the shapes leave open.
    expand : str or collection of str
        Names of functions to expand, and names or indices of families to draw member by member (default: none).
        Other functions are one box each, and other families are drawn once.
    values : mapping of str to tensor, optional
        Parameters whose sizes the diagram shows.
    inputs : mapping of str to tensor or shape, optional
        Inputs by name, if not passed as keywords.
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **shapes : tensor or shape
        Inputs by name. Other names are parameters, shown beside their uses. If none is passed, the inputs of a
        formula are the names that it declares.

    Returns
    -------
    Diagram

    Raises
    ------
    NotationError
        If the types do not fit, or a name in `expand` is undefined.

    Examples
    --------
    >>> import namedtensor as nt
    >>> block = nt.program("Block(X) = X + FFN(X)\nFFN(X) = relu(X ⊙_{a} W)_{b→a}\nW ∈ ℝ^{a × b}")
    >>> block["Block"].diagram(X="ℝ^{seq × a}", expand="FFN").save("block.svg")  # doctest: +SKIP
    """

def to_text(formula: FormulaLike, /, ascii: bool = False, colors: bool = False, *, syntax: str = "auto") -> str:
    r"""Return the formula as text.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    ascii : bool
        Whether to use ASCII names such as `sum` in place of mathematical symbols (default: False).
    colors : bool
        Whether to color each axis with terminal escape codes (default: False).
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).

    Returns
    -------
    str

    Raises
    ------
    NotationError
        If the formula is not valid notation.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.to_text(r"\sum_{\mathsf{seq}} x", ascii=True)
    'sum_{seq} x'
    >>> print(nt.program("f(x) = 2 x\nY = f(X)")["f"].to_text())
    f(x) = 2 x
    """

def to_latex(
    formula: FormulaLike,
    /,
    macros: bool = False,
    colors: bool = False,
    width: float | None = None,
    *,
    syntax: str = "auto",
) -> str:
    r"""Return the formula as LaTeX for a document with the preamble from `nt.latex_preamble()`.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    macros : bool
        Whether to use the macros of the paper, such as `\nsum` (default: False).
    colors : bool
        Whether to color each axis (default: False).
    width : float, optional
        The line width in em. A longer formula is broken into the lines of a display. The line width of the class
        `article` is 34.5 em (default: no line breaks).
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).

    Returns
    -------
    str

    Raises
    ------
    NotationError
        If the formula is not valid notation.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.to_latex("sum_{seq} x")
    '\\sum\\limits_{\\mathsf{seq}} x'
    >>> print(nt.formula("∑_{seq} x").to_latex(colors=True))
    \sum\limits_{\textcolor{#0b80a6}{\mathsf{seq}}} x
    """

def to_python(
    formula: FormulaLike,
    library: str = "numpy",
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    style: str = "function",
    syntax: str = "auto",
    **named: Any,
) -> str:
    """Return the source text of a plain function that runs without this package.

    The function raises ValueError or TypeError for arrays with another number of axes, other sizes or other dtypes.
    It accepts single and double precision, unless its text depends on the floating dtype.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    library : {"numpy", "torch", "jax", "loops"}
        The library that the function uses (default: "numpy"). With "loops", it has the style "readable" and consists of
        nested loops of plain Python over nested lists.
    values : mapping of str to tensor or shape, optional
        The inputs, in the order of the function's parameters, if not passed as keywords.
    sizes : mapping of str to int, optional
        Sizes to fix. Other sizes that the shapes leave open are read from the arrays.
    style : {"function", "module", "readable"}
        "module" returns a PyTorch class with the parameters that the formula declares. "readable" returns code as
        you would write it, for known sizes, with the formula's names and without checks (default: "function").
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **named : tensor or shape
        Inputs, such as X="ℝ^{seq × a[8]}".

    Returns
    -------
    str

    Raises
    ------
    NotationError
        If the formula does not fit the shapes, or its form depends on a size that is left open.

    Examples
    --------
    >>> import namedtensor as nt
    >>> source = nt.to_python("∑_{a} X", "torch", X="ℝ^{a[3] × b[2]}")
    >>> print(source[source.index("def function"):])
    def function(X):
        check("X", X, {"a": 3, "b": 2}, torch.float32, torch.float64)
        t1 = X.sum(0)  # ℝ^{b[2]}
        return t1
    <BLANKLINE>
    >>> print(nt.to_python("W ⊙_{a} X + c", style="readable", W="ℝ^{b[2] × a[3]}", X="ℝ^{n[4] × a[3]}", c="ℝ^{b[2]}"))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def function(W, X, c):
        return W @ X.T + c[:, None]  # b × n
    <BLANKLINE>
    >>> print(nt.to_python("W ⊙_{a} X", "loops", W="ℝ^{b[2] × a[3]}", X="ℝ^{n[4] × a[3]}"))
    def function(W, X):
        result = [[0.0] * 4 for _ in range(2)]  # b × n
        for b in range(2):
            for n in range(4):
                total = 0
                for a in range(3):
                    total += W[b][a] * X[n][a]
                result[b][n] = total
        return result
    <BLANKLINE>
    """

def to_javascript(
    formula: FormulaLike,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    standalone: bool = False,
    syntax: str = "auto",
    **named: Any,
) -> str:
    """Return the source text of a JavaScript module that exports the function `formula` of arrays.

    An array is a nested list, a flat row-major list such as a Float64Array, or the result `{shape, data}` of another
    such function. The function computes in double precision, and its errors have the codes and messages of this package.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    values : mapping of str to tensor or shape, optional
        The inputs, in the order of the function's parameters, if not passed as keywords.
    sizes : mapping of str to int, optional
        Sizes to fix. Other sizes that the shapes leave open are read from the arrays.
    standalone : bool
        Whether to include the run-time functions instead of importing the file `javascript_runtime.js` of
        `namedtensor/backends` (default: False).
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **named : tensor or shape
        Inputs, such as X="ℝ^{seq × a[8]}".

    Returns
    -------
    str

    Raises
    ------
    NotationError
        If an input is complex, or the formula calls a Python function.

    Examples
    --------
    >>> import namedtensor as nt
    >>> print(nt.to_javascript("√(∑_{a} X)", X="ℝ^{a[3] × b[2]}"))
    import * as nt from "./javascript_runtime.js";
    <BLANKLINE>
    export function formula(X) {
      X = nt.given(X, "X", [3, 2]);  // ℝ^{a[3] × b[2]}
      const t1 = nt.sum(X, [0]);  // ℝ^{b[2]}
      const t2 = nt.sqrt(t1);  // ℝ^{b[2]}
      return nt.array(t2);
    }
    <BLANKLINE>
    """

def to_einsum(
    formula: FormulaLike,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
) -> str:
    """Return the formula as an `einsum` call for NumPy, PyTorch or JAX.

    Parameters
    ----------
    formula : str, Formula, Program or EntryPoint
        The formula, or its text.
    values : mapping of str to tensor or shape, optional
        The inputs, if not passed as keywords. Declared parameters may be omitted.
    sizes : mapping of str to int, optional
        Sizes that the shapes leave open; none is required.
    syntax : {"auto", "text", "latex"}
        The syntax of a text (default: "auto", which detects it).
    **named : tensor or shape
        Inputs, such as X="ℝ^{seq × a}". The arrays have their axes in this order.

    Returns
    -------
    str
        The letters after `->` are the axes of the result in the order of its type.

    Raises
    ------
    NotationError
        If the formula is not a number times a sum of products (405). The message names the first part that does not
        fit this form, and the hint names the largest part that fits.

    Examples
    --------
    >>> import namedtensor as nt
    >>> print(nt.to_einsum("2 ∑_{a} X Y", X="ℝ^{a × b}", Y="ℝ^{a}"))
    2 * einsum("ab,a->b", X, Y)
    """

def sum(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """∑_{ax} X is the sum.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.sum(axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.sum(A, axis="width").shape
    ℝ^{height[2]}
    """

def prod(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """∏_{ax} X is the product.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.prod(axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.prod(A, axis="width").shape
    ℝ^{height[2]}
    """

def mean(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """mean_{ax} X is the mean.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.mean(axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.mean(A, axis="width").shape
    ℝ^{height[2]}
    """

def var(X: Operand, *, axis: Axes | None = None, ddof: float = 0) -> NamedTensor:
    """var_{ax}(X; ddof) is the variance, ∑ (x − mean)² / (n − ddof); ddof defaults to 0.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.var(axis, ddof=ddof)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.
    ddof : int (default: 0)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.var(A, axis="width").shape
    ℝ^{height[2]}
    """

def std(X: Operand, *, axis: Axes | None = None, ddof: float = 0) -> NamedTensor:
    """std_{ax}(X; ddof) is the standard deviation, the square root of var.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.std(axis, ddof=ddof)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.
    ddof : int (default: 0)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.std(A, axis="width").shape
    ℝ^{height[2]}
    """

def norm(X: Operand, *, axis: Axes | None = None, p: float = 2) -> NamedTensor:
    """norm_{ax}(X; p) is (∑ |x|^p)^{1/p}, the p-norm; p defaults to 2.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.linalg.norm(X, p, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.
    p : int (default: 2)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.norm(A, axis="width").shape
    ℝ^{height[2]}
    """

def logsumexp(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """logsumexp_{ax} X is log ∑ exp x.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.log(np.exp(X).sum(axis))`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.logsumexp(A, axis="width").shape
    ℝ^{height[2]}
    """

def any(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """any_{ax} X is whether any element is true.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.any(axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.any(A > 2, axis="width").shape
    ℝ^{height[2]}
    """

def all(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """all_{ax} X is whether all elements are true.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.all(axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.all(A > 2, axis="width").shape
    ℝ^{height[2]}
    """

def max(X: Operand, Y: Operand | None = None, *, axis: Axes | None = None) -> NamedTensor:
    """max_{ax} X is the largest element, or the larger of two arguments.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.max(axis), np.maximum(X, Y)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number, optional
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.max(A, axis="width").shape
    ℝ^{height[2]}
    """

def min(X: Operand, Y: Operand | None = None, *, axis: Axes | None = None) -> NamedTensor:
    """min_{ax} X is the smallest element, or the smaller of two arguments.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.min(axis), np.minimum(X, Y)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number, optional
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.min(A, axis="width").shape
    ℝ^{height[2]}
    """

def quantile(X: Operand, *, axis: Axes | None = None, q: float = 0.5) -> NamedTensor:
    """quantile_{ax}(X; q) is the q-quantile, interpolated linearly between two elements; q defaults to 0.5.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.quantile(X, q, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.
    q : float (default: 0.5)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.quantile(A, axis="width").shape
    ℝ^{height[2]}
    """

def median(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """median_{ax} X is the middle element, or the mean of the middle two.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.median(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.median(A, axis="width").shape
    ℝ^{height[2]}
    """

def nansum(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """nansum_{ax} X is the sum of the elements that are not NaN.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nansum(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.nansum(A, axis="width").shape
    ℝ^{height[2]}
    """

def nanmean(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """nanmean_{ax} X is the mean of the elements that are not NaN.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanmean(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.nanmean(A, axis="width").shape
    ℝ^{height[2]}
    """

def nanmax(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """nanmax_{ax} X is the largest element that is not NaN.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanmax(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.nanmax(A, axis="width").shape
    ℝ^{height[2]}
    """

def nanmin(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """nanmin_{ax} X is the smallest element that is not NaN.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanmin(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.nanmin(A, axis="width").shape
    ℝ^{height[2]}
    """

def nanvar(X: Operand, *, axis: Axes | None = None, ddof: float = 0) -> NamedTensor:
    """nanvar_{ax}(X; ddof) is the variance of the elements that are not NaN; ddof defaults to 0.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanvar(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.
    ddof : int (default: 0)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.nanvar(A, axis="width").shape
    ℝ^{height[2]}
    """

def nanstd(X: Operand, *, axis: Axes | None = None, ddof: float = 0) -> NamedTensor:
    """nanstd_{ax}(X; ddof) is the square root of nanvar.

    Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanstd(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes to reduce over. For a single tensor, None means all axes.
    ddof : int (default: 0)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.nanstd(A, axis="width").shape
    ℝ^{height[2]}
    """

def isnan(X: Operand) -> NamedTensor:
    """isnan X is whether an element is NaN.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.isnan(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.isnan(A).shape
    ℝ^{height[2] × width[3]}
    """

def fillna(X: Operand, Y: Operand) -> NamedTensor:
    """fillna(X, Y) is X, with Y in place of NaN.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.where(np.isnan(X), Y, X)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.fillna(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def softmax(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """softmax_{ax} X is exp x / ∑ exp x.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.exp(X) / np.exp(X).sum(axis, keepdims=True)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.softmax(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def logsoftmax(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """logsoftmax_{ax} X is the logarithm of softmax.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `X - np.log(np.exp(X).sum(axis, keepdims=True))`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.logsoftmax(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def argmax(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """argmax_{ax} X is 1 at the largest element, 0 elsewhere; ties share the 1.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `M / M.sum(axis, keepdims=True) where M = X == X.max(axis, keepdims=True)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.argmax(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def argmin(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """argmin_{ax} X is 1 at the smallest element, 0 elsewhere; ties share the 1.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `M / M.sum(axis, keepdims=True) where M = X == X.min(axis, keepdims=True)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.argmin(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def standardize(X: Operand, *, axis: Axes | None = None, eps: float = 1e-05) -> NamedTensor:
    """standardize_{ax}(X; eps) is (x − mean) / √(var + eps); eps defaults to 1e-5.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `(X - X.mean(axis, keepdims=True)) / np.sqrt(X.var(axis, keepdims=True) + eps)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    eps : float (default: 1e-05)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.standardize(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def cumsum(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """cumsum_{ax} X is the cumulative sum.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `X.cumsum(axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.cumsum(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def cumprod(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """cumprod_{ax} X is the cumulative product.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `X.cumprod(axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.cumprod(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def sort(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """sort_{ax} X is the elements in ascending order.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.sort(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.sort(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def cummax(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """cummax_{ax} X is the cumulative maximum.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.maximum.accumulate(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.cummax(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def cummin(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """cummin_{ax} X is the cumulative minimum.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.minimum.accumulate(X, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.cummin(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def argsort(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """argsort_{ax} X is the indices, from 1, that sort the axis.

    Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.argsort(X, axis, kind='stable')`.

    Parameters
    ----------
    X : tensor or number
        Indices count from 0 here, and from 1 in formulas.
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.argsort(A, axis="width").shape
    ℝ^{height[2] × width[3]}
    """

def dot(X: Operand, Y: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """X ⊙_{ax} Y is the sum of products over the axes, or the elementwise product if there are no axes.

    Signature: ℝ^{ax} × ℝ^{ax} → ℝ (paper §3.4 Contraction). In NumPy: `(X * Y).sum(axis), X * Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number
    axis : str or iterable of str
        The axes to contract; None for the elementwise product. Other shared axes are aligned.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.dot(A, A.rename(height="rows"), axis="width").shape
    ℝ^{height[2] × rows[2]}
    """

def exp(X: Operand) -> NamedTensor:
    """exp X is the exponential.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.exp(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.exp(A).shape
    ℝ^{height[2] × width[3]}
    """

def log(X: Operand) -> NamedTensor:
    """log X is the natural logarithm.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.log(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.log(A).shape
    ℝ^{height[2] × width[3]}
    """

def ln(X: Operand) -> NamedTensor:
    """log X is the natural logarithm.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.log(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.log(A).shape
    ℝ^{height[2] × width[3]}
    """

def sqrt(X: Operand) -> NamedTensor:
    """√X is the square root.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sqrt(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.sqrt(A).shape
    ℝ^{height[2] × width[3]}
    """

def sin(X: Operand) -> NamedTensor:
    """sin X is the sine.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sin(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.sin(A).shape
    ℝ^{height[2] × width[3]}
    """

def cos(X: Operand) -> NamedTensor:
    """cos X is the cosine.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.cos(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.cos(A).shape
    ℝ^{height[2] × width[3]}
    """

def tan(X: Operand) -> NamedTensor:
    """tan X is the tangent.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.tan(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.tan(A).shape
    ℝ^{height[2] × width[3]}
    """

def tanh(X: Operand) -> NamedTensor:
    """tanh X is the hyperbolic tangent.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.tanh(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.tanh(A).shape
    ℝ^{height[2] × width[3]}
    """

def sinh(X: Operand) -> NamedTensor:
    """sinh X is the hyperbolic sine.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sinh(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.sinh(A).shape
    ℝ^{height[2] × width[3]}
    """

def cosh(X: Operand) -> NamedTensor:
    """cosh X is the hyperbolic cosine.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.cosh(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.cosh(A).shape
    ℝ^{height[2] × width[3]}
    """

def arctan(X: Operand) -> NamedTensor:
    """arctan X is the inverse tangent.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.arctan(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.arctan(A).shape
    ℝ^{height[2] × width[3]}
    """

def arcsin(X: Operand) -> NamedTensor:
    """arcsin X is the inverse sine.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.arcsin(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.arcsin(A).shape
    ℝ^{height[2] × width[3]}
    """

def arccos(X: Operand) -> NamedTensor:
    """arccos X is the inverse cosine.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.arccos(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.arccos(A).shape
    ℝ^{height[2] × width[3]}
    """

def log1p(X: Operand) -> NamedTensor:
    """log1p X is log(1 + x), accurate for small x.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.log1p(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.log1p(A).shape
    ℝ^{height[2] × width[3]}
    """

def expm1(X: Operand) -> NamedTensor:
    """expm1 X is exp(x) − 1, accurate for small x.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.expm1(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.expm1(A).shape
    ℝ^{height[2] × width[3]}
    """

def logsigmoid(X: Operand) -> NamedTensor:
    """logsigmoid X is log σ(x).

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `-np.logaddexp(0, -X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.logsigmoid(A).shape
    ℝ^{height[2] × width[3]}
    """

def leaky_relu(X: Operand) -> NamedTensor:
    """leaky_relu X is x above zero, x / 100 below.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.where(X > 0, X, 0.01 * X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.leaky_relu(A).shape
    ℝ^{height[2] × width[3]}
    """

def elu(X: Operand) -> NamedTensor:
    """elu X is x above zero, exp(x) − 1 below.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.where(X > 0, X, np.expm1(np.minimum(X, 0)))`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.elu(A).shape
    ℝ^{height[2] × width[3]}
    """

def gelu(X: Operand) -> NamedTensor:
    """gelu X is x Φ(x), where Φ is the standard normal distribution function.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `0.5 * X * (1 + erf(X / np.sqrt(2)))`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.gelu(A).shape
    ℝ^{height[2] × width[3]}
    """

def gelu_tanh(X: Operand) -> NamedTensor:
    """gelu_tanh X is the tanh approximation of gelu.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.gelu_tanh(A).shape
    ℝ^{height[2] × width[3]}
    """

def silu(X: Operand) -> NamedTensor:
    """silu X is x σ(x).

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X / (1 + np.exp(-X))`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.silu(A).shape
    ℝ^{height[2] × width[3]}
    """

def softplus(X: Operand) -> NamedTensor:
    """softplus X is log(1 + exp x).

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.logaddexp(0, X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.softplus(A).shape
    ℝ^{height[2] × width[3]}
    """

def erf(X: Operand) -> NamedTensor:
    """erf X is the error function.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.erf(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.erf(A).shape
    ℝ^{height[2] × width[3]}
    """

def sigmoid(X: Operand) -> NamedTensor:
    """σ X is the logistic function 1/(1 + exp(−x)).

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `1 / (1 + np.exp(-X))`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.sigmoid(A).shape
    ℝ^{height[2] × width[3]}
    """

def sign(X: Operand) -> NamedTensor:
    """sign X is −1, 0 or 1.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sign(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.sign(A).shape
    ℝ^{height[2] × width[3]}
    """

def floor(X: Operand) -> NamedTensor:
    """floor X is the largest integer that is not greater.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.floor(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.floor(A).shape
    ℝ^{height[2] × width[3]}
    """

def ceil(X: Operand) -> NamedTensor:
    """ceil X is the smallest integer that is not less.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.ceil(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.ceil(A).shape
    ℝ^{height[2] × width[3]}
    """

def abs(X: Operand) -> NamedTensor:
    """abs X is the absolute value.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.abs(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.abs(A).shape
    ℝ^{height[2] × width[3]}
    """

def round(X: Operand) -> NamedTensor:
    """round X is the nearest integer; ties go to the even one.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.round(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.round(A).shape
    ℝ^{height[2] × width[3]}
    """

def relu(X: Operand) -> NamedTensor:
    """relu X is max(0, x).

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.maximum(X, 0)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.relu(A).shape
    ℝ^{height[2] × width[3]}
    """

def ReLU(X: Operand) -> NamedTensor:
    """relu X is max(0, x).

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.maximum(X, 0)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.relu(A).shape
    ℝ^{height[2] × width[3]}
    """

def negative(X: Operand) -> NamedTensor:
    """-X is the negative.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `-X`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.negative(A).shape
    ℝ^{height[2] × width[3]}
    """

def odd(X: Operand) -> NamedTensor:
    """X odd is whether a number is odd.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X % 2 == 1`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.odd(A).shape
    ℝ^{height[2] × width[3]}
    """

def even(X: Operand) -> NamedTensor:
    """X even is whether a number is even.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X % 2 == 0`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.even(A).shape
    ℝ^{height[2] × width[3]}
    """

def add(X: Operand, Y: Operand) -> NamedTensor:
    """X + Y is the sum.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X + Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.add(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def subtract(X: Operand, Y: Operand) -> NamedTensor:
    """X - Y is the difference.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X - Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.subtract(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def divide(X: Operand, Y: Operand) -> NamedTensor:
    """X / Y is the quotient.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X / Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.divide(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def multiply(X: Operand, Y: Operand) -> NamedTensor:
    """X Y is the product of juxtaposed factors.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X * Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.multiply(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def pow(X: Operand, Y: Operand) -> NamedTensor:
    """pow(X, Y) is the power.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X ** Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.pow(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def mod(X: Operand, Y: Operand) -> NamedTensor:
    """mod(X, Y) is the remainder of X divided by Y: x − y ⌊x / y⌋.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.mod(X, Y)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.mod(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def equal(X: Operand, Y: Operand) -> NamedTensor:
    """X = Y is whether equal.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X == Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.equal(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def not_equal(X: Operand, Y: Operand) -> NamedTensor:
    """X ≠ Y is whether different.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X != Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.not_equal(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def less(X: Operand, Y: Operand) -> NamedTensor:
    """X < Y is whether less.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X < Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.less(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def less_equal(X: Operand, Y: Operand) -> NamedTensor:
    """X ≤ Y is whether at most.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X <= Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.less_equal(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def greater(X: Operand, Y: Operand) -> NamedTensor:
    """X > Y is whether greater.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X > Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.greater(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def greater_equal(X: Operand, Y: Operand) -> NamedTensor:
    """X ≥ Y is whether at least.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X >= Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.greater_equal(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def logical_and(X: Operand, Y: Operand) -> NamedTensor:
    """X ∧ Y is whether both hold.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X & Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.logical_and(A > 2, A < 5).shape
    ℝ^{height[2] × width[3]}
    """

def logical_or(X: Operand, Y: Operand) -> NamedTensor:
    """X ∨ Y is whether one holds, or both.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X | Y`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.logical_or(A < 2, A > 5).shape
    ℝ^{height[2] × width[3]}
    """

def logical_not(X: Operand) -> NamedTensor:
    """¬X is logical negation.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `~X`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.logical_not(A > 2).shape
    ℝ^{height[2] × width[3]}
    """

def where(X: Operand, Y: Operand, Z: Operand) -> NamedTensor:
    """where(cond, a, b) is a where the condition holds, and b elsewhere.

    Signature: ℝ × ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.where(cond, A, B)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number
    Z : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.where(A > 2, A, 0).shape
    ℝ^{height[2] × width[3]}
    """

def clip(X: Operand, Y: Operand, Z: Operand) -> NamedTensor:
    """clip(X, low, high) is X, no less than low and no more than high.

    Signature: ℝ × ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.clip(X, low, high)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number
    Z : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.clip(A, 2, 4).shape
    ℝ^{height[2] × width[3]}
    """

def lgamma(X: Operand) -> NamedTensor:
    """lgamma X is log |Γ(x)|, of factorials log (x − 1)!.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.gammaln(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.lgamma(A).shape
    ℝ^{height[2] × width[3]}
    """

def digamma(X: Operand) -> NamedTensor:
    """digamma X is the derivative of lgamma.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.digamma(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.digamma(A).shape
    ℝ^{height[2] × width[3]}
    """

def polygamma(X: Operand, *, n: float = 1) -> NamedTensor:
    """polygamma(X; n) is the n-th derivative of digamma; n defaults to 1.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.polygamma(n, X)`.

    Parameters
    ----------
    X : tensor or number
    n : int (default: 1)

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.polygamma(A).shape
    ℝ^{height[2] × width[3]}
    """

def gamma(X: Operand) -> NamedTensor:
    """Γ X is the gamma function, (x − 1)! for integers.

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.gamma(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.gamma(A).shape
    ℝ^{height[2] × width[3]}
    """

def factorial(X: Operand) -> NamedTensor:
    """X! is x!, which is Γ(x + 1).

    Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.factorial(X)`.

    Parameters
    ----------
    X : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.factorial(A).shape
    ℝ^{height[2] × width[3]}
    """

def binom(X: Operand, Y: Operand) -> NamedTensor:
    """binom(X, Y) is the binomial coefficient, X over Y.

    Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.binom(X, Y)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.binom(A, 2).shape
    ℝ^{height[2] × width[3]}
    """

def index(X: Operand, Y: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """index_{ax}(X, I) is the element of X at the index I.

    Signature: ℝ^{ax} × ℝ → ℝ (paper §3.7 Indexing). In NumPy: `np.take(X, I - 1, axis)`.

    Parameters
    ----------
    X : tensor or number
        Indices count from 0 here, and from 1 in formulas.
    Y : tensor or number
        Indices count from 0 here, and from 1 in formulas.
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.index(A, 0, axis="width").shape
    ℝ^{height[2]}
    """

def maxk(
    X: Operand, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
) -> NamedTensor:
    """maxk_{ax, k} X is the k largest elements, in descending order.

    Signature: ℝ^{ax} → ℝ^{k} (paper §3.7 Indexing). In NumPy: `np.sort(X, axis)[..., ::-1][..., :k]`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    size : int, optional
        Size of the new axis.
    sizes : mapping of str to int, optional
        Sizes of the new axes by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.maxk(A, axis=("width", "k"), size=2).shape
    ℝ^{height[2] × k[2]}
    """

def argmaxk(
    X: Operand, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
) -> NamedTensor:
    """argmaxk_{ax, k} X is for each of the k largest elements, 1 at its position and 0 elsewhere.

    Signature: ℝ^{ax} → ℝ^{ax × k} (paper §3.7 Indexing). In NumPy: `np.argsort(-X, axis, 'stable')[..., :k, None] == np.arange(n)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    size : int, optional
        Size of the new axis.
    sizes : mapping of str to int, optional
        Sizes of the new axes by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.argmaxk(A, axis=("width", "k"), size=2).shape
    ℝ^{height[2] × k[2] × width[3]}
    """

def onehot(
    X: Operand, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
) -> NamedTensor:
    """onehot_{ax} X is 1 at the index, 0 elsewhere.

    Signature: ℝ → ℝ^{ax} (paper §3.7 Indexing). In NumPy: `np.eye(n)[I - 1]`.

    Parameters
    ----------
    X : tensor or number
        Indices count from 0 here, and from 1 in formulas.
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    size : int, optional
        Size of the new axis.
    sizes : mapping of str to int, optional
        Sizes of the new axes by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.onehot(A, axis="vocab", size=10).shape
    ℝ^{height[2] × width[3] × vocab[10]}
    """

def iota(
    *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
) -> NamedTensor:
    """iota_{ax} is 1, 2, …, |ax|.

    Signature: ℝ^{ax} (paper §3.7 Indexing). In NumPy: `np.arange(1, n + 1)`.

    Parameters
    ----------
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    size : int, optional
        Size of the new axis.
    sizes : mapping of str to int, optional
        Sizes of the new axes by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.iota(axis="seq", size=4).shape
    ℝ^{seq[4]}
    """

def identity(
    *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
) -> NamedTensor:
    """I_{ax, ax'} is the identity matrix: 1 where the two indices are equal, 0 elsewhere.

    Signature: ℝ^{ax × ax'} (paper §3.7 Indexing). In NumPy: `np.eye(n)`.

    Parameters
    ----------
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    size : int, optional
        Size of the new axis.
    sizes : mapping of str to int, optional
        Sizes of the new axes by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.identity(axis=("row", "column"), size=4).shape
    ℝ^{row[4] × column[4]}
    """

def det(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """det_{row, column} X is the determinant.

    Signature: ℝ^{row × column} → ℝ (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.det(X)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.det(S, axis=("row", "column")).shape
    ℝ
    """

def cofactors(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """cofactors_{row, column} X is the derivative of the determinant with respect to each element of the matrix.

    Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.det(X) * np.linalg.inv(X).T`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.cofactors(S, axis=("row", "column")).shape
    ℝ^{row[2] × column[2]}
    """

def inv(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """inv_{row, column} X is the inverse matrix.

    Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.inv(X)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.inv(S, axis=("row", "column")).shape
    ℝ^{row[2] × column[2]}
    """

def trace(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """trace_{row, column} X is the sum of the diagonal.

    Signature: ℝ^{row × column} → ℝ (paper §3.5 Vectors to vectors). In NumPy: `np.trace(X)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.trace(S, axis=("row", "column")).shape
    ℝ
    """

def solve(X: Operand, Y: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """solve_{row, column}(X, Y) is the x over columns with A ⊙_{column} x = b, where b is over rows.

    Signature: ℝ^{row × column} × ℝ^{row} → ℝ^{column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.solve(A, b)`.

    Parameters
    ----------
    X : tensor or number
    Y : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.solve(S, nt.tensor([1.0, 2.0], "row"), axis=("row", "column")).shape
    ℝ^{column[2]}
    """

def logdet(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """logdet_{row, column} X is the logarithm of the absolute value of the determinant.

    Signature: ℝ^{row × column} → ℝ (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.slogdet(X)[1]`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.logdet(S, axis=("row", "column")).shape
    ℝ
    """

def diag(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """diag_{row, column} X is the matrix with these elements on its diagonal, and zeros elsewhere.

    Signature: ℝ^{row} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.diag(x)`.

    Parameters
    ----------
    X : tensor or number
    axis : str
        The axis of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.diag(nt.tensor([3, 1], "row"), axis=("row", "column")).shape
    ℝ^{row[2] × column[2]}
    """

def cholesky(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """cholesky_{row, column} X is the lower triangular L with L ⊙_{column} L_{row→row'} = X, for a symmetric positive definite X.

    Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.cholesky(X)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.cholesky(S, axis=("row", "column")).shape
    ℝ^{row[2] × column[2]}
    """

def eigvalsh(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """eigvalsh_{row, column} X is the eigenvalues of a symmetric matrix, in ascending order.

    Signature: ℝ^{row × column} → ℝ^{row} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.eigvalsh(X)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.eigvalsh(S, axis=("row", "column")).shape
    ℝ^{row[2]}
    """

def eigh(X: Operand, *, axis: Axes | None = None) -> NamedTensor:
    """eigh_{row, column} X is the eigenvectors of a symmetric matrix, one for each column, in the order of eigvalsh.

    Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.eigh(X)[1]`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.eigh(S, axis=("row", "column")).shape
    ℝ^{row[2] × column[2]}
    """

def expm(*tensors: Operand | Iterable[Operand], axis: Axes | None = None) -> NamedTensor:
    """expm_{row, column} X is the matrix exponential, ∑ Xⁿ/n!; expm(X, E) is its derivative at X in direction E.

    Signature: ℝ^{row × column} × … → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `scipy.linalg.expm(X)`.

    Parameters
    ----------
    *tensors : tensor or number
        The operands.
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
    >>> nt.expm(S, axis=("row", "column")).shape
    ℝ^{row[2] × column[2]}
    """

def uniform(*tensors: Operand | Iterable[Operand]) -> NamedTensor:
    """uniform X is a pseudorandom number between 0 and 1, determined by integers.

    Signature: ℝ × … → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `(h(X) + 0.5) / p**2 for a scrambling h`.

    Parameters
    ----------
    *tensors : tensor or number
        The operands.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.uniform(A, 7).shape
    ℝ^{height[2] × width[3]}
    """

def concat(*tensors: Operand | Iterable[Operand], axis: Axes | None = None) -> NamedTensor:
    """X ⊕_{ax} Y is X and Y concatenated along an axis.

    Signature: ℝ^{ax} × ℝ^{ax} × … → ℝ^{ax} (paper §3.6 Renaming and reshaping). In NumPy: `np.concatenate([X, Y], axis)`.

    Parameters
    ----------
    *tensors : tensor or number
        The operands.
    axis : str
        The axis of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.concat(A, A, axis="width").shape
    ℝ^{height[2] × width[6]}
    """

def stack(*tensors: Operand | Iterable[Operand], axis: Axes | None = None) -> NamedTensor:
    """stack_{ax} X is X, Y, … stacked along a new axis.

    Signature: ℝ × … → ℝ^{ax} (paper §3.6 Renaming and reshaping). In NumPy: `np.stack([X, Y])`.

    Parameters
    ----------
    *tensors : tensor or number
        The operands.
    axis : str
        The axis of the signature; the function is lifted over all others.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.stack(A, A, axis="copy").shape
    ℝ^{copy[2] × height[2] × width[3]}
    """

def unroll(
    X: Operand, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
) -> NamedTensor:
    """unroll_{seq, kernel} X is sliding windows: at each position, the window that begins there.

    Signature: ℝ^{seq} → ℝ^{seq × kernel} (paper §3.5 Vectors to vectors). In NumPy: `np.lib.stride_tricks.sliding_window_view(X, k, axis)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    size : int, optional
        Size of the new axis.
    sizes : mapping of str to int, optional
        Sizes of the new axes by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.unroll(A, axis=("width", "kernel"), size=3).shape
    ℝ^{height[2] × width[1] × kernel[3]}
    """

def pool(
    X: Operand, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
) -> NamedTensor:
    """pool_{seq, kernel} X is consecutive windows without overlap.

    Signature: ℝ^{seq} → ℝ^{seq × kernel} (paper §3.5 Vectors to vectors). In NumPy: `X.reshape(n // k, k)`.

    Parameters
    ----------
    X : tensor or number
    axis : str or iterable of str
        The axes of the signature; the function is lifted over all others.
    size : int, optional
        Size of the new axis.
    sizes : mapping of str to int, optional
        Sizes of the new axes by name.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or has two sizes (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.pool(A, axis=("width", "kernel"), size=3).shape
    ℝ^{height[2] × width[1] × kernel[3]}
    """
