"""The public surface of the classes that users meet: every name that `dir` shows, each with a docstring.

A name that is not here begins with an underscore.
"""

import inspect

import pytest

import namedtensor as nt
import transformer

VERBS = """arguments check compile cost derivative diagram evaluate explain gradient highlight init parameters to_einsum to_html
to_javascript to_latex to_python to_text"""
PROGRAM = nt.program("f : ℝ^{a} → ℝ\nf(x) = x ⊙_{a} w\nw ∈ ℝ^{a}")
X = nt.tensor([1.0, 2.0], "a")
LAYER = transformer.FFN.init(0, sizes={"chans": 4, "hidden": 3})
EXPLAINED = nt.explain("2 X + 1", X=X)

SURFACE = {
    "Program": (
        PROGRAM,
        f"{VERBS} builtins closed_form declared for_devices names replace_definitions shard sizes source strict syntax tree f",
    ),
    "Formula": (
        nt.formula("2 X + 1"),
        f"{VERBS} builtins closed_form declared for_devices names replace_definitions shard sizes source strict syntax tree",
    ),
    "EntryPoint": (PROGRAM["f"], f"{VERBS} name program"),
    "EntryPoints": (PROGRAM["f", "w"], "bind names"),
    "CompiledFormula": (PROGRAM["f"].compile(), "module names plan source specialize"),
    "CheckResult": (
        nt.check("2 X", X="ℝ^{a}"),
        "assertions conditions errors ok raise_first shape shapes source steps tried type types warnings",
    ),
    "Explanation": (EXPLAINED, "axes derivation derived inside save source stages to_html value"),
    "Step": (EXPLAINED[0], "axes inside node place term text type value values"),
    "Layer": (
        LAYER,
        """changes citation config default_sizes definitions diagram evaluate explain file file_text formula from_module highlight includes init
        initializers input_shapes inputs load module notation optional_inputs output pack parameters removed removes replace save shard sharding sizes
        sources stack_layers stored to to_onnx unstack_layers""",
    ),
    "SentenceModel": (
        transformer.SentenceModel,
        "backend device embed formula load lower module parameters similarity tokens",
    ),
}
COMMANDS = {  # of each verb
    "check": "check",
    "cost": "explain",
    "derivative": "derive",
    "diagram": "diagram",
    "evaluate": "eval",
    "explain": "explain",
    "gradient": "eval",
    "parameters": "explain",
    "to_einsum": "to-code",
    "to_javascript": "to-code",
    "to_latex": "render",
    "to_python": "to-code",
    "to_text": "render",
}
NO_COMMAND = {"compile", "init"}  # what they give lives in a process: a function, tensors drawn for a program
SLIPS = {
    "Program": "chekc",
    "Formula": "chekc",
    "EntryPoint": "chekc",
    "EntryPoints": "nams",
    "CompiledFormula": "sorce",
    "CheckResult": "typ",
    "Explanation": "stage",
    "Step": "valu",
    "Layer": "parameter",
}
FUNCTIONS = "check compile cost derivative diagram evaluate explain gradient init parameters to_einsum to_javascript to_latex to_python to_text".split()


def test_each_verb_is_a_command():
    from namedtensor.cli.commands import BUILT_IN as OF_THE_COMMAND_LINE

    assert set(COMMANDS) | NO_COMMAND == set(FUNCTIONS)
    assert set(OF_THE_COMMAND_LINE) == {
        *COMMANDS.values(),
        "devices",
        "exercises",
        "help",
        "lsp",
        "mcp",
        "playground",
        "read",
        "repl",
        "translate",
    }


def public(thing):
    return [name for name in dir(thing) if name[:1] != "_"]


@pytest.mark.parametrize("kind", SURFACE)
def test_what_dir_shows_is_what_users_call(kind):
    thing, names = SURFACE[kind]
    assert sorted(public(thing)) == sorted(names.split())


@pytest.mark.parametrize("kind", SURFACE)
def test_what_users_call_says_what_it_does(kind):
    thing = SURFACE[kind][0]
    of = thing if inspect.isclass(thing) else type(thing)
    assert of.__doc__
    for name in public(of):
        getattr_static = inspect.getattr_static(of, name)
        if isinstance(getattr_static, (property, staticmethod, classmethod)) or inspect.isfunction(getattr_static):
            assert inspect.getdoc(getattr(of, name)), name


@pytest.mark.parametrize("kind", SLIPS)
def test_an_unknown_attribute_is_told_with_the_nearest_names(kind):
    with pytest.raises(AttributeError, match=f"has no attribute '{SLIPS[kind]}'; did you mean"):
        getattr(SURFACE[kind][0], SLIPS[kind])


def test_the_verbs_are_methods_of_formulas_and_of_names_and_functions():
    for verb in FUNCTIONS:
        assert verb in dir(nt) and getattr(nt, verb).__doc__
        assert inspect.signature(getattr(nt.Program, verb)).parameters
        assert list(inspect.signature(getattr(nt.Program, verb)).parameters) == list(
            inspect.signature(getattr(type(PROGRAM["f"]), verb)).parameters
        )


def test_the_functions_take_a_text_a_formula_and_a_name():
    text, inputs = "f : ℝ^{a} → ℝ\nf(x) = x ⊙_{a} w\nw ∈ ℝ^{a}", {"x": "ℝ^{a[2]}"}
    for asked in (text, nt.formula(text), PROGRAM["f"]):
        assert nt.parameters(asked, **inputs) == {"w": "ℝ^{a[2]}"}
        assert nt.cost(asked, w="ℝ^{a[2]}", **inputs).multiply_adds == 2
        assert nt.init(asked, 0, **inputs)["w"].axes == ("a",)
        assert float(nt.compile(asked)(X, values={"w": X})) == 5.0
        assert "def function(x, w)" in nt.to_python(asked, **inputs, w="ℝ^{a[2]}")
        assert nt.to_einsum(asked) == 'einsum("a,a->", x, w)'
        assert nt.derivative(asked, "x")
        assert "w" in nt.to_text(asked) and "w" in nt.to_latex(asked)
        assert nt.diagram(asked, **inputs)
        assert nt.to_javascript(asked, **inputs, w="ℝ^{a[2]}").startswith("import * as nt")
    whole = "w ∈ ℝ^{a}\nL = ∑_{a} w ⊙ X"
    for asked in (whole, nt.program(whole), nt.program(whole)["L"]):
        assert nt.check(asked, w="ℝ^{a[2]}", X="ℝ^{a[2]}").type == "ℝ"
        slopes = asked.gradient(["w"]) if asked is not whole else nt.gradient(asked, "L", ["w"])
        assert slopes(w=X, X=X)["w"].tolist() == X.tolist()
        assert float(nt.evaluate(asked, w=X, X=X)) == 5.0 == float(nt.explain(asked, w=X, X=X)[-1].value)


def test_a_name_of_a_program_compiles_for_itself():
    assert float(PROGRAM["f"].compile()(X, w=X)) == 5.0
    assert nt.evaluate(PROGRAM["f"], x=X, w=X) == PROGRAM["f"](X, w=X)


@pytest.mark.parametrize(("call", "code", "message", "hint"), [
    (
        lambda: nt.formula("2 x").explain(3), 304, "this formula is not a function; got 1 argument by position",
        "pass inputs by name: formula(x=x)",
    ),
    (
        lambda: nt.init("Y = W ⊙_{a} x\nW ∈ ℝ^{a}", x="ℝ^{a[3]}\ny ∈ ℝ"), 317, r"invalid shape 'ℝ^{a[3]}\ny ∈ ℝ'",
        "write ℝ^{seq[3] × chans[2]}, or R^{seq[3], chans[2]}",
    ),
])  # fmt: skip
def test_arguments_that_are_refused_with_a_hint(call, code, message, hint):
    with pytest.raises(nt.NotationError) as caught:
        call()
    assert (caught.value.code, caught.value.message, caught.value.hint) == (code, message, hint)


def test_source_text_of_a_formula_without_types_asks_for_a_type():
    with pytest.raises(nt.NotationError, match=r"the type of A is unknown\n.*\n.*\n  hint: pass A=\"ℝ\^\{a × b\}\""):
        nt.to_python("A + x")
    with pytest.raises(nt.NotationError, match="undefined name Quere"):
        nt.to_python("Query + Quere", Query="ℝ^{a}")
