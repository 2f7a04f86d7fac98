"""Find the texts of the repository: docstrings, comments, messages and function names of code, and the prose of pages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHON = ("grammar", "namedtensor", "transformer", "benchmarks", "docs", "tests", "tools")
JAVASCRIPT = ("web/src",)
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")

CODE = re.compile(
    r"^[ ]*(?P<fence>```+|~~~+).*?^[ ]*(?P=fence)[ ]*$"  # code block
    r"|^[ ]*(?:>>>|\.\.\.) [^\n]*$"  # doctest
    r"|(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)"  # code span
    r"|\$\$.*?\$\$|\$[^$\n]*\$"  # math
    r"|<!--.*?-->"  # comment
    r"|\]\([^)\s]*\)",  # link target
    re.MULTILINE | re.DOTALL,
)
SCRIPT_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|>[^<>{}=;]+<""", re.DOTALL
)
STRING_OR_COMMENT = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^'\\]|\\.|'(?!''))*\'\'\''''
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?P<comment>#[^\n]*)""",
    re.DOTALL,
)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
BLOCK_END = re.compile(r"\n\s*\n|\n\s*(?=[-|*#>] )")  # paragraphs, items, rows and headings
SENTENCE_END = re.compile(r"(?<=[.!?:]) ")
TOOL_COMMENTS = ("# type", "# noqa", "# pyright", "# ---", "#!")
SHORTEST = 3  # words: a shorter text has no sentence pattern


def find_files(root: Path) -> list[Path]:
    """Return the files whose texts are checked, in a fixed order."""
    python = (path for folder in PYTHON for path in (root / folder).rglob("*.py"))
    scripts = (path for folder in JAVASCRIPT for path in (root / folder).rglob("*") if path.suffix in (".js", ".jsx"))
    pages = (*(root / "docs").rglob("*.md"), *(root / page for page in PAGES))
    found = sorted({*python, *scripts, *pages})
    return [path for path in found if path.exists() and "_build" not in path.parts]


def package_of(path: str) -> str:
    """Return the package of a file: `namedtensor/planning`, `grammar`, `docs`."""
    parts = path.split("/")
    if len(parts) == 1:
        return "docs"
    return "/".join(parts[:2]) if parts[0] == "namedtensor" and len(parts) > 2 else parts[0]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text that have at least three words."""
    blocks = (" ".join(block.split()) for block in BLOCK_END.split(text))
    return [part for block in blocks for part in SENTENCE_END.split(block) if len(part.split()) >= SHORTEST]


def read_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the kind of each text of a file and the text; the code inside a text is removed."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _read_python(source)
    elif path.suffix == ".md":
        yield "docs", CODE.sub("`", source)
    else:
        yield from (("messages", CODE.sub("`", match[0])) for match in SCRIPT_TEXT.finditer(source) if " " in match[0])


def _read_python(source: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings, function names, messages and comments of a module."""
    nodes: list[tuple[ast.AST, bool]] = [(ast.parse(source), False)]
    while nodes:
        node, is_message = nodes.pop()
        if isinstance(node, ast.Constant):
            if is_message and isinstance(node.value, str) and len(node.value.split()) > SHORTEST:
                yield "messages", CODE.sub("`", node.value)
            continue
        if isinstance(node, DOCUMENTED):
            if documentation := ast.get_docstring(node):
                yield "docstrings", CODE.sub("`", documentation)
            if not isinstance(node, ast.Module | ast.ClassDef) and not node.name.startswith("__"):
                yield "names", node.name
        is_message = is_message or isinstance(node, ast.Raise | ast.Call)
        nodes.extend((child, is_message) for child in ast.iter_child_nodes(node))
    for match in STRING_OR_COMMENT.finditer(source):
        if match["comment"] and not match[0].startswith(TOOL_COMMENTS):
            yield "comments", CODE.sub("`", match[0].lstrip("# "))
