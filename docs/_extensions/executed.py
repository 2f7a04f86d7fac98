"""Sphinx directives that run code, and the conversion of docstrings to reStructuredText."""

from __future__ import annotations

import re
import textwrap

from blocks import Block, Page, packed
from docutils import nodes
from docutils.parsers.rst import directives
from linked import ERROR, errors, signs
from sphinx.util.docutils import SphinxDirective

SECTION = re.compile(r"^([A-Z][\w ]+)\n-{3,}(?:\n|$)", re.M)  # the header of a docstring section in NumPy style
DEFINED = {"Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"}
ALIGNED = re.compile(r"[│─]|\^\^|\S {2,}\S")  # text in columns, which must not be wrapped


class Executed(SphinxDirective):
    """A block that runs during the build, followed by its result."""

    has_content = True
    option_spec = dict.fromkeys(("with", "sizes", "call", "of", "as", "picture"), directives.unchanged) | {
        "error": directives.flag,
        "quiet": directives.flag,
        "hidden": directives.flag,  # show the result without the block
    }

    def run(self):
        block = Block(self.name, {key: value or "" for key, value in self.options.items()}, "\n".join(self.content))
        page = self.env.temp_data.setdefault("namedtensor-page", Page())
        try:
            outcome = page.run(block)
        except Exception as error:
            raise self.error(f"this block failed: {type(error).__name__}: {error}\n\n{block.body}") from error
        root = "../" * self.env.docname.count("/")
        shown = nodes.container(classes=["executed", self.name])
        if "hidden" not in self.options:
            shown += self.source(block.body, root)
        if outcome.latex is not None:
            shown += math(outcome.latex)
        if self.name == "formula" and outcome.value is not None and (inputs := option_words(self.options)):
            shown += nodes.paragraph("", "", *inputs, classes=["given"])
        shown += results(outcome, root)
        if outcome.state is not None and self.config.playground:
            shown += opens(outcome.state, root)
        return [shown]

    def source(self, body: str, root: str) -> nodes.Node:
        """Return the source of the block. The symbols of a formula link to the reference."""
        if self.name == "run":
            return code(body, "python", "run-source")
        return shown_as("formula-source", signs(body, root))


def opens(state, root: str = "") -> nodes.raw:
    """Return the link that opens a formula with its inputs in the playground at the root of the site."""
    link = f'<p class="opens"><a href="{root}playground.html#{packed(state)}" target="_blank">open in the playground</a></p>'
    return nodes.raw("", link, format="html")


def option_words(options) -> list:
    """Return the line above a value: the call, the inputs and the sizes."""
    parts = []
    if "call" in options:
        parts += [nodes.literal("", options["call"])]
    if "of" in options:
        parts += [nodes.literal("", options["of"])]
    for key in ("with", "sizes"):
        if options.get(key):
            parts += [nodes.Text(f" {key} " if parts else f"{key} "), nodes.literal("", options[key])]
    return parts


def code(text: str, language: str, kind: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language, classes=kind.split(), linenos=False, highlight_args={})


def math(latex: str) -> nodes.Node:
    latex = r"\[" + latex.strip().strip("$") + r"\]"
    return nodes.math_block(latex, latex, **{"nowrap": True, "no-wrap": True, "number": None, "label": None})


def shown_as(kind: str, linked: str) -> nodes.raw:
    """Return HTML as a text block."""
    return nodes.raw(
        "",
        f'<div class="highlight-text {kind} notranslate"><div class="highlight"><pre class="{kind}">{linked}</pre></div></div>',
        format="html",
    )


def results(outcome, root: str = "") -> list:
    result = []
    if outcome.printed:
        printed = outcome.printed.rstrip("\n")
        kind = "output aligned" if ALIGNED.search(printed) else "output"
        result.append(shown_as(kind, errors(printed, root)) if ERROR.search(printed) else code(printed, "text", kind))
    if outcome.error is not None:
        result.append(shown_as("error", errors(str(outcome.error), root)))
    elif outcome.value is not None:
        value = outcome.value
        if hasattr(value, "_repr_html_"):
            result.append(nodes.raw("", f'<div class="value">{value._repr_html_()}</div>', format="html"))
        elif hasattr(value, "_repr_latex_"):
            result.append(math(value._repr_latex_()))
        else:
            result.append(code(value if isinstance(value, str) else repr(value), "text", "output"))
    return result


class Railroad(SphinxDirective):
    """The railroad diagrams of one section of `formula.lark`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        from railroad_page import diagrams

        run = []
        for name, svg in diagrams(self.arguments[0]):
            run += [nodes.target("", "", ids=[f"rule-{name}"]), nodes.paragraph("", "", nodes.strong("", name))]
            run.append(nodes.raw("", f'<div class="railroad">{svg}</div>', format="html"))
        return run


def readable(app, what, name, obj, options, lines):
    """Convert a docstring of this project to reStructuredText, in place."""
    lines[:] = to_rst("\n".join(lines)).splitlines()


def to_rst(text: str) -> str:
    """Return a docstring in NumPy style as reStructuredText.

    >>> print(to_rst("The size `|key|` of |key|."))
    The size ``|key|`` of \\|key\\|.
    <BLANKLINE>
    >>> print(to_rst("Sum.\\n\\nParameters\\n----------\\nx : tensor\\n    The `x_{a}`."))
    Sum.
    <BLANKLINE>
    .. rubric:: Parameters
    <BLANKLINE>
    ``x`` : tensor
        The ``x_{a}``.
    <BLANKLINE>
    """
    lead, *sections = SECTION.split(text)
    out = [paragraphs(lead)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        out += [f".. rubric:: {title}", definitions(body) if title in DEFINED else paragraphs(body)]
    return "\n\n".join(filter(None, out)) + "\n"


def definitions(text: str) -> str:
    """Return what a section defines, `name : type` with an indented description, as a definition list."""
    items: list[tuple[str, list[str]]] = []
    for line in text.strip("\n").splitlines():
        if items and (not line.strip() or line.startswith(" ")):
            items[-1][1].append(line)
        else:
            items.append((line, []))
    return "\n\n".join(definition(term, "\n".join(lines)) for term, lines in items)


def definition(term: str, description: str) -> str:
    name, colon, kind = term.partition(" : ")
    head = f"``{name}`` : {escaped(kind)}" if colon else escaped(term)
    body = paragraphs(textwrap.dedent(description))
    return f"{head}\n{textwrap.indent(body, '    ')}" if body else head


def paragraphs(text: str) -> str:
    out = []
    for paragraph in re.split(r"\n[ ]*\n", text):
        if not paragraph.strip():
            continue
        lines = paragraph.splitlines()
        if lines[0].lstrip().startswith(">>>"):
            out.append(indented("pycon", lines))
            continue
        plain = []
        while lines and not lines[0].startswith("    "):
            plain.append(escaped(lines.pop(0)))
        if plain:
            out.append("\n".join(line.lstrip() for line in plain))
        if lines:
            out.append(indented("pycon" if lines[0].lstrip().startswith(">>>") else "text", lines))
    return "\n\n".join(out)


def indented(language: str, lines: list[str]) -> str:
    least = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return f".. code-block:: {language}\n\n" + "\n".join(f"    {line[least:]}" for line in lines)


def escaped(line: str) -> str:
    parts = re.split(r"(`+[^`]+`+)", line)
    return "".join(
        f"``{part.strip('`')}``" if index % 2 else re.sub(r"([\\*_|`])", r"\\\1", part)
        for index, part in enumerate(parts)
    )


DIRECTIVES = {
    "run": Executed,
    "formula": Executed,
    "railroad": Railroad,
}


def setup(app):
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
    app.add_config_value(
        "playground", "", "env", str, "the file that formulas are opened in: playground.html, where it was built"
    )
    app.connect("autodoc-process-docstring", readable)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
