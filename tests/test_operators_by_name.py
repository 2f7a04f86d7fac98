"""Which files know an operator by its name: its record, and those that rewrite it."""

import ast
from pathlib import Path

import pytest

from namedtensor.operators import REGISTRY

ROOT = Path(__file__).parent.parent / "namedtensor"
HOMES = ("operators", "backends", "teaching", "positional")  # records, primitives, exercises, names in other notations
OF_PRIMITIVES = [  # of a plan, by their names
    Path("planning", name)
    for name in (
        "builder.py cost.py dtypes.py failures.py intervals.py memory.py primitives.py step_builder.py structural.py "
        "sums_as_products.py whole_numbers.py"
    ).split()
]
# What is also a word of the language or of plans is no clue: a product, a primitive or an option of the same name.
ALSO = {"juxtaposed", "negative", "iota", "ones", "index", "where", "stack", "concat", "identity", "sign", "prod"}
WORDS = {name for name in REGISTRY if name.isalpha() or name in "∑∏"} - ALSO
SIGNS_OF_THE_LANGUAGE = "∑, ∏ and I are read as what binds an index, or as what only its axes make"
MADE = "writes formulas: derivatives, sums over axes and identities in the notation"
KNOWING = {  # for each file the names that it knows, and why no flag of a record stands in their place
    "scope/zero_starts.py": (
        "argmax argmin argsort cummax cummin cumprod cumsum dot even logsoftmax max min odd softmax sort standardize ∑",
        "types a start of 0 before operators are known",
    ),
    "programs/boundaries.py": (
        "abs ceil clip det floor inv ln log logdet max min relu round solve sqrt",
        "finds the points at which functions change or end",
    ),
    "programs/conditions.py": (
        "abs arccos arcsin ceil cholesky det digamma eigvalsh factorial floor inv lgamma ln log logdet max min mod norm polygamma relu round solve sqrt std var Γ ∏ ∑",
        "states the domains of functions",
    ),
    "programs/program_names.py": ("abs", "bars around an operand: |x| is an absolute value, |ax| a size"),
    "calculus/products.py": (
        "cumprod",
        "derives running products without dividing",
    ),
    "derivations/points.py": ("onehot", "draws: vectors with a 1 at a drawn position"),
    "programs/magnitudes.py": (
        "abs arctan cholesky cofactors cos cummax cummin cumprod cumsum det eigh eigvalsh erf exp expm gelu inv log logdet logsoftmax logsumexp max maxk mean median min norm quantile relu silu sin softmax softplus solve sort sqrt standardize std tanh trace var σ ∏ ∑",
        "the condition numbers of functions",
    ),
    "cli/formula_commands.py": ("all", "the word of an option: --gradient all"),
    "calculus/linearize.py": ("cumprod expm ∏", "differentials that no text says: e^X takes any number of directions"),
    "calculus/selection.py": ("I abs any ∑", "makes terms: masks, and sums of what is masked"),
    "calculus/transpose.py": ("expm trace", "their transposes: of many directions, and back to an identity"),
    "checking/calls.py": (
        "abs log mean norm sqrt standardize std var",
        "signs that are calls: ‖x‖, |x|, log_2; and the ε and the ddof that standardize, var and std take",
    ),
    "checking/derived_functions.py": ("sqrt std", "functions that are defined by others"),
    "tensors/selection.py": ("argsort", "topk is an argsort whose first indices are taken"),
    "checking/diagnostics.py": ("clip max min mod pow", "errors that tell how these are written"),
    "checking/draws.py": ("mean uniform ∑", "makes terms: draws, and the means of expectations"),
    "checking/indexing.py": ("I", SIGNS_OF_THE_LANGUAGE),
    "checking/element_updates.py": ("clip max", "makes terms: an index kept in range, and chosen by"),
    "checking/application.py": ("argmax argmin", "which operators go over an index, too"),
    "checking/sums.py": (
        "all any argmax argmin argsort logsumexp max mean min ∏ ∑",
        "large operators over an index: argmax_i is the i",
    ),
    "checking/unused_inputs.py": ("standardize", "uses an ε unsaid"),
    "checking/wavefront_loops.py": ("max min", "makes terms: the ends of a front"),
    "reference/terms.py": ("I", "an identity has no operands that a definition would take"),
    "scope/resized_axes.py": ("pool unroll", "the operators whose results have axes of computed sizes"),
    "terms/normalized_exponentials.py": (
        "exp log logsumexp softmax ∑",
        "rewrites a quotient of exponentials by their sum",
    ),
    "core/suggestions.py": ("dot factorial", "the word of other libraries, with the notation's own"),
    "checking/size_facts.py": ("ceil floor", "sizes that are rounded"),
    "derivations/adjoints.py": ("∑", MADE),
    "derivations/identification.py": ("I", MADE),
    "derivations/equal_forms.py": (
        "abs argmax argmin clip det fillna inv log logdet max min solve sort sqrt",
        "operators that are not smooth or not defined everywhere: which draws can compare them",
    ),
    "derivations/reading.py": ("I", MADE),
    "derivations/recurrences.py": ("∑", MADE),
    "derivations/steps.py": ("sum ∑", MADE),
    "documents/assumptions.py": ("onehot", "∂f(X)/∂X_s is how f grows along what is 1 at s and else 0"),
    "planning/contraction_order.py": ("sum ∑", "a rewrite: chains of products are summed"),
    "planning/fused_kernels.py": ("mean softmax sqrt standardize var", "rewrites: attention and layer norm"),
    "planning/lowering.py": ("sum ∑", "the kinds of terms that rewrites match"),
    "planning/online_softmax.py": ("softmax sum", "a rewrite"),
    "planning/planner.py": ("exp logsoftmax softmax sum ∑", "the kinds of terms that rewrites match"),
    "programs/einsum.py": ("sum trace ∑", "a call of einsum, whose subscripts say a trace"),
    "scope/distributions.py": ("cos cumsum log min sqrt ∑", "how a draw is computed from uniform numbers"),
    "scope/known_heads.py": ("I", SIGNS_OF_THE_LANGUAGE),
    "scope/uses.py": (
        "I all any argmax argmin logsumexp max mean min standardize ∏ ∑",
        "signs of the language, operators over an index, and the default ε",
    ),
    "scope/statements.py": ("abs ceil floor sqrt", "signs of the language that are calls: √x, |x|, ⌈x⌉, ⌊x⌋"),
    "sharding/placement.py": ("∑", "which products a rule places"),
    "symbolic/algebra.py": ("abs", "rewrite rules of powers: √(x²) is |x|"),
    "symbolic/applying.py": ("abs cofactors cos exp expm inv log odd relu sin ∏", "rewrite rules of these operators"),
    "symbolic/definitions.py": (
        "exp max min ∏",
        "what proofs put in their place",
    ),
    "symbolic/fact_kinds.py": ("eigh inv onehot", "what is known of their values"),
    "symbolic/matrices.py": ("abs cofactors det inv log logdet solve", "rewrite rules of these operators"),
    "symbolic/product_rules.py": ("cos inv sin", "rewrite rules of products of these operators"),
    "symbolic/signs.py": ("abs", "what is above 0"),
    "symbolic/from_terms.py": ("I abs even exp mean odd onehot sqrt trace uniform ∑", "their normal forms"),
    "symbolic/known.py": ("exp expm inv softmax solve σ", "rewrite rules of these operators"),
    "symbolic/rewrite_rules.py": (
        "cofactors softmax solve sum σ",
        "the table of rewrite rules, which are equations of these operators",
    ),
    "symbolic/spelling.py": ("I even odd", f"{SIGNS_OF_THE_LANGUAGE}; parities have no operator in the notation"),
    "symbolic/linearizing.py": ("cumprod det max min norm std ∏", "differentials as a reader has them"),
    "symbolic/read_back.py": ("exp mean sqrt ∑", "writes formulas from normal forms"),
    "tensors/methods.py": ("abs", "a method of Python's"),
    "tensors/numpy_protocol.py": ("abs cumsum dot max min sum", "what NumPy calls them"),
    "terms/builder.py": ("I mean onehot ∑", "smart constructors: −1 goes through a mean, X_{ax(i)} back to a onehot"),
    "display/code_contractions.py": (
        "I all any argmax argmin cholesky cumprod cumsum det dot eigvalsh inv logdet logsoftmax logsumexp max mean median min norm onehot pool quantile softmax solve sort standardize std sum trace unroll var ∏ ∑",
        "the same in NumPy, PyTorch and JAX, as one writes it by hand",
    ),
    "display/code_elements.py": (
        "dot sqrt sum",
        "the same",
    ),
    "display/code_libraries.py": (
        "abs all any arccos arcsin arctan argmax argmin ceil cholesky clip cos cosh cumprod cumsum det eigvalsh elu erf exp factorial "
        "floor gelu inv isnan lgamma ln log logdet logsigmoid logsoftmax logsumexp max mean median min mod norm pool quantile relu round "
        "sigmoid silu sin sinh softmax softplus solve sort sqrt standardize std sum tan tanh trace unroll var Γ σ",
        "what libraries call them",
    ),
    "display/code_loop_rules.py": (
        "I all any argmax argmin cumprod cumsum dot logsoftmax logsumexp max mean min norm onehot pool softmax standardize std sum unroll var ∏ ∑",
        "one element of each, as loops of plain Python",
    ),
    "display/code_statements.py": (
        "I argmax argmin cumprod cumsum dot exp logsoftmax logsumexp max mean min norm onehot pool relu softmax sort standardize std tanh "
        "unroll var σ ∑",
        "names of variables in code that a person reads",
    ),
    "display/code_writer.py": ("abs max min onehot round", "functions of Python"),
    "webpage/blackboard.py": ("dot mean softmax sqrt ∏ ∑", "one element of each, as on a blackboard"),
}


def words_of(node: ast.AST) -> set[str]:
    """What a string says: itself, and the words of one that is taken apart."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        return {word for part in ast.walk(node.func.value) for text in words_of(part) for word in text.split()}
    return set()


def names_in(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {word for node in nodes for word in words_of(node)} & WORDS


@pytest.mark.slow
def test_only_what_rewrites_an_operator_knows_its_name():
    result: dict[str, str] = {}
    for path in sorted(ROOT.rglob("*.py")):
        relative = path.relative_to(ROOT)
        if relative.parts[0] not in HOMES and relative not in OF_PRIMITIVES and (names := names_in(path)):
            result[relative.as_posix()] = " ".join(sorted(names))
    assert result == {position: names for position, (names, _) in KNOWING.items()}


def test_no_package_below_checking_knows_how_a_product_was_written():
    packages = ("terms", "calculus", "planning", "backends")
    assert not [
        path
        for package in packages
        for path in (ROOT / package).rglob("*.py")
        if "juxtaposed" in path.read_text("utf-8")
    ]
