"""Run formulas in named tensor notation.

    import namedtensor as nt

    A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    nt.evaluate("softmax_{width} A ⊙_{width} A", A=A)

A formula is a string in text notation, or in the LaTeX of the paper "Named Tensor Notation" (Chiang, Rush, Barak). The
subpackages convert the string to a value:

    text, LaTeX ── grammar ──▶ nodes ── scope ──▶ symbols ── checking ──▶ terms ── planning ──▶ plan ── backends ──▶ function

`programs` runs this pipeline and caches the function. `display` draws every stage, and `tensors` applies single
operators. `reference` evaluates terms directly by the paper's definitions, so that tests can compare the results.

Each name is imported on first access, so `import namedtensor` is fast.
"""

from importlib import import_module

from .core.shadowed import ignore_working_directory, sentence, warn_if_hidden

warn_if_hidden("transformer")
try:
    import grammar

    ignore_working_directory()
    from grammar.errors import NotationError, NotationWarning
    from grammar.locks import NAMES
except ImportError as problem:  # a local grammar.py shadows the package
    raise ImportError(sentence("grammar") or str(problem)) from None

from .core.hooks import WATCHER, from_table, when_first_seen  # noqa: E402
from .core.version import __version__  # noqa: E402
from .programs import injected  # noqa: E402


def _tell_jax() -> None:
    """Register named tensors with JAX, once JAX is imported."""
    import_module(".tensors.pytrees", __name__)


when_first_seen("jax", _tell_jax)
WATCHER.watch("jax")
when_first_seen("NamedTensor", lambda: import_module(".tensors", __name__))  # this adds the methods of the class
from_table.load = lambda: import_module(".core.data_frames", __name__).from_table
injected.closed_form.load = lambda: import_module(".derivations.closed_form", __name__).closed_form
injected.gradient.load = lambda: import_module(".derivations.gradients", __name__).gradient
injected.with_translation.load = lambda: import_module(".positional.offers", __name__).with_offer
injected.claims.load = lambda: import_module(".documents.trial", __name__).claims_of

HOMES = {  # the module of each public name, except for the functions generated from the operators' records
    ".core.settings": ("Limits", "strict"),
    ".core.comparison": ("allclose",),
    ".core.data_frames": ("from_pandas", "from_polars"),
    ".core.interchange": ("from_xarray",),
    ".core.tensor": ("NamedTensor", "tensor"),
    ".derivations.gradients": ("gradient",),
    ".derivations.proofs": ("prove",),
    ".display.pictures": ("heatmap",),
    ".documents.check_files": ("check_document",),
    ".documents.load": ("load_program",),
    ".files.safetensors": ("TensorFile", "load_tensors", "save_tensors"),
    ".files.tensor_files": ("load_tensor", "save_tensor"),
    ".operators.user_functions": ("custom_function",),
    ".positional.torch_reading": ("from_torch",),
    ".positional.translation": ("from_einops", "from_einsum", "translate"),
    ".programs.api": (
        *(
            "check",
            "compile",
            "cost",
            "derivative",
            "diagram",
            "formula",
            "init",
            "parameters",
            "program",
        ),
        *("latex_preamble", "to_einsum", "to_javascript", "to_latex", "to_python", "to_text"),
    ),
    ".programs.custom_operators": ("CustomOperator", "operator"),
    ".programs.evaluate": ("evaluate", "explain"),
    ".programs.program": ("Formula", "Program"),
    ".teaching.equivalence": ("equivalent",),
    ".teaching.follows": ("DifferenceError", "follows"),
    ".teaching.sheets": ("exercises",),
    ".tensors.creation": ("arange", "eye", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"),
    ".tensors.random_numbers": ("random_normal", "random_uniform"),
    ".tensors.digits": ("set_printoptions",),
    ".tensors.dlpack": ("from_dlpack",),
    ".tensors.mapping": ("scan", "vmap"),
    ".tensors.quantization": ("quantize",),
}
HOME = {name: module for module, names in HOMES.items() for name in names}
MODULES = ("initializers", "layers")
REMOVED = {  # the replacement of each public name of an earlier release
    "Differs": "use nt.DifferenceError",
    "animate": 'nt.explain(formula, X=X).save("steps.html") writes the steps as slides',
    "histogram": "X.to_xarray().plot.hist() draws the elements of X",
    "lineplot": 'X.to_xarray().plot.line(x="seq") draws X along seq',
}
__all__ = ["NotationError", "NotationWarning", *HOME, *MODULES]  # type: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    with NAMES:
        return _load(name)


def _load(name: str) -> object:
    home = HOME.get(name)
    if home is not None:
        function = getattr(import_module(home, __name__), name)
    elif name in MODULES:
        function = import_module(f".{name}", __name__)
    elif name in REMOVED:
        raise AttributeError(f"nt.{name} was removed in 0.2; {REMOVED[name]}", name=name)
    elif name.startswith("_") or name not in _function_names():
        from .core.suggestions import no_attribute

        raise no_attribute("module 'namedtensor'", name, () if name.startswith("_") else __dir__())
    else:
        function = import_module(".tensors.functions", __name__).FUNCTIONS[name]
    globals()[name] = function
    return function


def _function_names() -> list[str]:
    """Return the names of the functions that `tensors.functions` generates from the operators' records."""
    from .operators import REGISTRY

    names = dict.fromkeys(name for record in REGISTRY.values() for name in (record.python_name, *record.aliases))
    return [name for name in names if name.isidentifier() and name.isascii()]


def load_ipython_extension(shell: object) -> None:
    """Register the cell magics %%nt and %%exercise. IPython calls this function for %load_ext namedtensor."""
    import_module(".teaching.magics", __name__).load(shell)


def __dir__() -> list[str]:
    return sorted({*__all__, *_function_names(), "__version__"})
