"""List the symbols of the notation, with their text, ASCII and LaTeX forms and their terminals in `formula.lark`.

The lexers accept every form in the table. The printer writes the first form in each column.
"""

from __future__ import annotations

from typing import NamedTuple


class Symbol(NamedTuple):
    terminal: str
    text: str  # The text forms, separated by blanks. The first is the preferred form.
    ascii: str  # The ASCII forms.
    latex: str  # The LaTeX macros or characters.
    value: str = ""  # The value in the syntax tree, if it is not the first text form.


SYMBOLS = (
    Symbol("EQUALS", "= ≔ ≜ ≡ ≐", "= :=", r"= \equiv \doteq"),
    Symbol("APPROX", "≈ ≃", r"\approx", r"\approx \simeq"),
    Symbol("APPROX", "∝", r"\propto", r"\propto"),
    Symbol("COMMA", ",", ",", ","),
    Symbol("SEMICOLON", ";", ";", ";"),
    Symbol("COLON", ":", ":", r"\colon :"),
    Symbol("ARROW", "→", "->", r"\rightarrow \to \mapsto \longrightarrow"),
    Symbol("UPDATE", "←", r"\gets", r"\leftarrow \gets"),
    Symbol("IN", "∈", "in", r"\in"),
    Symbol("DRAWN", "∼", "~", r"\sim"),
    Symbol("TIMES", "×", "x", r"\times"),
    Symbol("DOTS", "… ⋯", "...", r"\ldots \dots \cdots \dotsc \dotsb"),
    Symbol("ELLIPSIS", "⋮", r"\vdots", r"\vdots"),
    Symbol("LPAREN", "(", "(", r"( \lparen"),
    Symbol("RPAREN", ")", ")", r") \rparen"),
    Symbol("LBRACKET", "[", "[", r"[ \lbrack"),
    Symbol("RBRACKET", "]", "]", r"] \rbrack"),
    Symbol("LBRACE", "{", "{", r"\{ \lbrace"),
    Symbol("RBRACE", "}", "}", r"\} \rbrace"),
    Symbol("BAR", "| ∣", "|", r"| \vert \lvert \rvert \mid"),
    Symbol("PLUS", "+", "+", "+"),
    Symbol("MINUS", "- − –", "-", "-"),
    Symbol("SLASH", "/ ∕ ÷", "/", "/"),
    Symbol("DOT", "⊙ · * ∗ ⋅", "* @", r"\odot \cdot *", "⊙"),
    Symbol("OPERATOR", "⊕", r"concat \oplus", r"\oplus"),
    Symbol("OPERATOR", "★ ⋆", r"\star", r"\star \bigstar", "★"),
    Symbol("OPERATOR", "⊗", r"\otimes", r"\otimes"),
    Symbol("OPERATOR", "⊖", r"\ominus", r"\ominus"),
    Symbol("OPERATOR", "⊘", r"\oslash", r"\oslash"),
    Symbol("OPERATOR", "⊛", r"\circledast", r"\circledast"),
    Symbol("OPERATOR", "∘", r"\circ", r"\circ"),
    Symbol("OPERATOR", "•", r"\bullet", r"\bullet"),
    Symbol("OPERATOR", "⋄ ◇", r"\diamond", r"\diamond", "⋄"),
    Symbol("OPERATOR", "△", r"\triangle", r"\triangle"),
    Symbol("OPERATOR", "⊞", r"\boxplus", r"\boxplus"),
    Symbol("OPERATOR", "⊠", r"\boxtimes", r"\boxtimes"),
    Symbol("OPERATOR", "⊡", r"\boxdot", r"\boxdot"),
    Symbol("ROOT", "√", r"sqrt \surd", r"\surd"),
    Symbol("PARTIAL", "∂", r"d \partial", r"\partial"),
    Symbol("BIG", "∑", "sum", r"\sum"),
    Symbol("BIG", "∏", "prod", r"\prod"),
    Symbol("SUP", "^", "^", "^"),
    Symbol("SUB", "_", "_", "_"),
    Symbol("FACTORIAL", "!", "!", "!"),
    Symbol("STAR", "† ‡", r"\dagger \dag", r"\dagger \dag", "†"),
    Symbol("RELATION", "≠", "!=", r"\neq \ne"),
    Symbol("RELATION", "≤", "<=", r"\leq \le \leqslant"),
    Symbol("RELATION", "≥", ">=", r"\geq \ge \geqslant"),
    Symbol("RELATION", "<", "<", r"< \lt"),
    Symbol("RELATION", ">", ">", r"> \gt"),
    Symbol("AND", "∧", "and", r"\land \wedge"),
    Symbol("OR", "∨", "or", r"\lor \vee"),
    Symbol("NOT", "¬", "not", r"\lnot \neg"),
    Symbol("NAME", "∞", r"inf \infty", r"\infty"),
    Symbol("REALS", "ℝ", "R", r"\reals \R \Reals"),
    Symbol("REALS", "ℤ", "Z", r"\Z \Integers", "ℤ"),
    Symbol("REALS", "ℕ", "N", r"\N \Naturals", "ℕ"),
    Symbol("INDICATOR", "𝕀 𝟙 𝟏", "I", r"\indicator", "𝕀"),
    Symbol("NORM", "‖", r"\norm", r"\lVert", "‖"),
    Symbol("IF", "if", "if", r"\text{if}"),
    Symbol("OTHERWISE", "otherwise", "otherwise", r"\text{otherwise}"),
    Symbol("FOR", "for ∀", "for", r"\text{for} \forall"),
    Symbol("PARITY", "odd", "odd", r"\text{odd}"),
    Symbol("PARITY", "even", "even", r"\text{even}"),
)


def value(symbol: Symbol) -> str:
    """Return the value that the syntax tree stores for a symbol."""
    return symbol.value or symbol.text.split()[0]


GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
GREEK_LETTERS = frozenset("αβγδεζηθικλμνξοπρσςτυφχψωΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩϵϑϕϖϱ")
GREEK_VARIANTS = {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ", "ϖ": "π", "ϱ": "ρ", "ς": "σ", "µ": "μ"}
LATEX_GREEK = {
    **GREEK, "varepsilon": "ε", "vartheta": "θ", "varphi": "φ", "varpi": "π", "varrho": "ρ", "varsigma": "σ",
}  # fmt: skip

# The text syntax accepts this LaTeX: the names of Greek letters after a backslash, and the macros in the ASCII column.
GREEK_MACROS = {
    **GREEK, "Alpha": "Α", "Beta": "Β", "Epsilon": "Ε", "Zeta": "Ζ", "Eta": "Η", "Iota": "Ι", "Kappa": "Κ", "Mu": "Μ",
    "Nu": "Ν", "Omicron": "Ο", "Rho": "Ρ", "Tau": "Τ", "Chi": "Χ",
}  # fmt: skip
ASCII_MACROS = {
    spelling: (symbol.terminal, value(symbol))
    for symbol in SYMBOLS
    for spelling in symbol.ascii.split()
    if spelling.startswith("\\")
}

# The operator `iota_{ax}` uses this name, so ι has no spelled-out form.
SPELLED_GREEK = {name: letter for name, letter in GREEK.items() if name != "iota"}

SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", "0123456789+-=()aehijklmnoprstuvxβγρφχ"))
SUPERSCRIPTS = dict(
    zip(
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
    )
)

# Maps LaTeX accents to the mark that follows the letter in a name.
ACCENTS = {
    "hat": "\u0302", "tilde": "\u0303", "bar": "\u0304", "breve": "\u0306", "dot": "\u0307", "ddot": "\u0308", "check": "\u030c",
    "vec": "\u20d7",
}  # fmt: skip
CALLIGRAPHIC = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵"))
FAMILIES = {CALLIGRAPHIC[letter]: letter for letter in "NU"}  # distributions that LaTeX prints as these letters
FRACTIONS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
NUMBER_SETS = {"ℝ": "reals", "ℤ": "integers", "ℕ": "naturals"}

# Names of built-in functions. The lexer reads each as FUNCTION unless the source declares a tensor of that name. A test
# checks that `namedtensor.operators` defines exactly these names.
ELEMENTWISE = frozenset(
    """exp log ln log1p expm1 sqrt sin cos tan arctan arcsin arccos tanh sinh cosh abs sign floor ceil round mod σ sigmoid relu ReLU gelu gelu_tanh silu softplus logsigmoid leaky_relu elu erf Γ factorial binom lgamma digamma polygamma
    pow clip where uniform isnan fillna""".split()
)
FUNCTIONS = ELEMENTWISE | frozenset(
    """max min mean var std norm any all logsumexp softmax logsoftmax argmax argmin standardize cumsum cumprod cummax
    cummin sort argsort median quantile nansum nanmean nanmin nanmax nanvar nanstd
    unroll pool index maxk argmaxk onehot concat stack det logdet inv solve cofactors trace diag cholesky eigvalsh eigh expm size""".split()
)
# A power of these functions is unambiguous, because their subscript names no axes or by convention: log_2(x)^2.
WITHOUT_AXES = ELEMENTWISE | {"norm", "‖", "∂", "lim"}
INVERSES = {
    "sin": "arcsin", "cos": "arccos", "tan": "arctan", "arcsin": "sin", "arccos": "cos", "arctan": "tan",
    "exp": "log", "log": "exp", "ln": "exp", "log1p": "expm1", "expm1": "log1p",
}  # fmt: skip
BINDERS = frozenset({"lim"})  # These operators only bind a variable in their subscript.
DEFINING = frozenset(r"≜ ≔ := \triangleq \coloneqq \coloneq \eqdef".split())  # Only definitions use these signs.
BIG = frozenset(value(symbol) for symbol in SYMBOLS if symbol.terminal == "BIG")  # ∑ and ∏
BRACKETED = frozenset({"Γ"})  # These names are functions only before a bracket, because tensors may also have them.
UNDERSCORED = ("gelu_tanh", "leaky_relu")  # These built-in functions have an underscore in their names.
