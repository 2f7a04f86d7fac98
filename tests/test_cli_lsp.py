"""The command lsp, driven through the protocol as an editor drives it."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_editor import CODE, PAPER, TEXT, program

pytest.importorskip("pygls")
pytest_lsp = pytest.importorskip("pytest_lsp")
from lsprotocol import types as lsp  # noqa: E402

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "namedtensor", "lsp"]
LIMIT = 120  # seconds of a test
DELAY = 0.2  # seconds after which a whole document is checked


class Editor:
    """An editor with one document."""

    def __init__(self, client, uri):
        self.client, self.uri, self.version = client, uri, 0

    async def open(self, text, language="namedtensor"):
        self.text = text
        item = lsp.TextDocumentItem(self.uri, language, 0, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.findings(0)

    async def type(self, at, new):
        """Type a text at the first place of another; what is published of it first."""
        start = self.position(at)
        self.text = self.text.replace(at, new + at, 1)
        self.version += 1
        changes = [lsp.TextDocumentContentChangePartial(lsp.Range(start, start), new)]
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))
        return await self.findings(self.version)

    async def findings(self, version):
        """The findings of a version of the document, once they are published."""
        while True:
            published = await self.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            if (published.uri, published.version) == (self.uri, version):
                break
        return [
            (item.code, item.range.start.line, item.range.start.character) for item in self.client.diagnostics[self.uri]
        ]

    def position(self, text, after=0):
        before = self.text[: self.text.index(text) + after]
        line = before.rpartition("\n")[2]
        return lsp.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    def at(self, text, after=0):
        return {"text_document": lsp.TextDocumentIdentifier(self.uri), "position": self.position(text, after)}


def drive(trip, path="a.nt", folder=ROOT):
    """Run a trip of an editor with a server of its own."""

    async def run():
        client = pytest_lsp.make_test_lsp_client()
        await client.start_io(*COMMAND, "--delay", str(DELAY))
        parameters = lsp.InitializeParams(pytest_lsp.client_capabilities("visual-studio-code"))
        await client.initialize_session(parameters)
        try:
            return await trip(Editor(client, (Path(folder) / path).as_uri()))
        finally:
            await client.shutdown_session()
            await client.stop()

    return asyncio.run(asyncio.wait_for(run(), LIMIT))


def edited(text, edit, uri):
    """A text after an edit of the workspace."""
    lines = text.split("\n")
    for change in sorted(
        edit.changes[uri], key=lambda item: (item.range.start.line, item.range.start.character), reverse=True
    ):
        start, end = change.range.start, change.range.end
        assert start.line == end.line
        line = lines[start.line].encode("utf-16-le")
        put = line[: 2 * start.character] + change.new_text.encode("utf-16-le") + line[2 * end.character :]
        lines[start.line] = put.decode("utf-16-le")
    return "\n".join(lines)


@pytest.mark.slow
def test_an_editor_sees_what_is_wrong_as_it_is_typed_and_what_things_are():
    async def trip(editor):
        client = editor.client
        assert await editor.open("# 𝒮\n" + TEXT) == []
        assert await editor.type("A_{seq(i)}", "B = softmax_{sek} 𝒮\n") == [(201, 10, 18)]
        findings = await editor.type("A_{seq(i)}", "C = softmax_{sek} M\n")
        assert (301, 11, 13) in findings
        diagnostic = next(item for item in client.diagnostics[editor.uri] if item.code == 301)
        assert diagnostic.severity == lsp.DiagnosticSeverity.Error and "hint: did you mean seq?" in diagnostic.message

        shown = await client.text_document_hover_async(lsp.HoverParams(**editor.at("M_{key→val}")))
        assert "`M` : `ℝ^{seq[4] × key[3]}`" in shown.contents.value
        await asyncio.sleep(4 * DELAY)

        context = lsp.CodeActionContext([diagnostic])
        actions = await client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(editor.uri), diagnostic.range, context)
        )
        assert [item.title for item in actions] == ["Replace sek by seq"]
        assert "C = softmax_{seq} M" in edited(editor.text, actions[0].edit, editor.uri)

        places = await client.text_document_definition_async(lsp.DefinitionParams(**editor.at("Attention(Q, M")))
        assert [item.range.start.line for item in places] == [2, 3]
        places = await client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(True), **editor.at("M ∈"))
        )
        assert len(places) == 6

        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        hints = await client.text_document_inlay_hint_async(
            lsp.InlayHintParams(lsp.TextDocumentIdentifier(editor.uri), whole)
        )
        assert (7, " : ℝ^{val[3]}") in [(item.position.line, item.label) for item in hints]

    drive(trip)


@pytest.mark.slow
def test_completion_and_renaming():
    async def trip(editor):
        client = editor.client
        await editor.open(TEXT)
        await editor.type("A_{seq(i)}", "B = Y @\n")
        items = await client.text_document_completion_async(lsp.CompletionParams(**editor.at("Y @", 3)))
        (item,) = items.items if hasattr(items, "items") else items
        assert item.text_edit.new_text == "⊙"
        assert item.text_edit.range.end == editor.position("Y @", 3)
        await editor.type("@\n", "+ Z^0 #")

        prepared = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**editor.at("seq × key")))
        assert prepared.placeholder == "seq"
        edit = await client.text_document_rename_async(lsp.RenameParams(new_name="time", **editor.at("seq × key")))
        assert edited(editor.text, edit, editor.uri) == editor.text.replace("seq", "time")
        with pytest.raises(Exception, match="key is an axis already, in line 2"):
            await client.text_document_rename_async(lsp.RenameParams(new_name="key", **editor.at("seq × key")))

    drive(trip)


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "at", "new", "expected"),
    [
        ("a.tex", PAPER, "Y &=", r"Z &= \nsum{\key} V \\\\ ", (301, 6, 13)),
        ("a.py", CODE, "block =", 'nt.evaluate("∑_{b} A", A=A)\n', (301, 4, 16)),
        (
            "a.md",
            "# Norm\n$$ X \\in \\reals^{\\name{a}} $$\n\nEnd",
            "End",
            "$$ Y = \\nsum{\\name{b}} X $$\n",
            (301, 3, 13),
        ),
    ],
)
def test_documents_of_other_kinds(path, text, at, new, expected):
    async def trip(editor):
        before = await editor.open(text)
        assert set(await editor.type(at, new)) - set(before) == {expected}

    drive(trip, path)


@pytest.mark.slow
def test_a_document_includes_what_the_editor_has_open(tmp_path):
    (tmp_path / "macros.tex").write_text(r"\ndef{\seq}{seq}" + "\n", encoding="utf-8")
    (tmp_path / "paper.tex").write_text("", encoding="utf-8")

    async def trip(editor):
        findings = await editor.open("\\input{macros}\n$X \\in \\reals^{\\seq}$ and $$Y = \\nsum{\\sek} X$$\n", "latex")
        assert [item[0] for item in findings] == [301]

    drive(trip, "paper.tex", tmp_path)


@pytest.mark.slow
def test_nothing_in_a_document_ends_the_server():
    async def trip(editor):
        await editor.open("X = 1\n")
        for text in ("\x00", "𝒮" * 50, "(" * 2000, "\\", "_{", "}", "for l = ", "#: exercise x\n"):
            await editor.type("X = 1", text)
            for offset in (0, len(editor.text)):
                at = {"text_document": lsp.TextDocumentIdentifier(editor.uri), "position": lsp.Position(0, offset)}
                await editor.client.text_document_hover_async(lsp.HoverParams(**at))
                await editor.client.text_document_completion_async(lsp.CompletionParams(**at))
        unknown = lsp.TextDocumentIdentifier("file:///nowhere.nt")
        hover = await editor.client.text_document_hover_async(lsp.HoverParams(unknown, lsp.Position(5, 5)))
        assert hover is None

    drive(trip)


@pytest.mark.slow
def test_the_work_of_a_key_in_a_long_file():
    """Processor time of 40 keys in 500 lines; the bound is wide, for machines that are busy."""
    from namedtensor.editor.analysis import EditedDocument

    text = program(500)
    document = EditedDocument("a.nt")
    document.update(text)
    times = []
    for at in range(40):
        index = text.index(f"Q{at + 5} =") + 6
        start = time.process_time()
        document.update(text[:index] + "2 "[at % 2] + text[index:])
        _ = document.problems, document.hints
        times.append(time.process_time() - start)
    assert sorted(times)[int(0.95 * len(times))] < 0.15


@pytest.mark.slow
def test_without_pygls_one_sentence_says_what_to_install(tmp_path):
    code = (
        "import sys, importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'pygls' else found(name, *rest)\n"
        "from namedtensor.cli import main; sys.exit(main(['lsp']))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 2 and run.stdout == ""
    assert run.stderr == "namedtensor: the language server needs pygls; pip install '.[lsp]'\n"


@pytest.mark.slow
def test_a_pause_is_a_number_of_seconds():
    run = subprocess.run([*COMMAND, "--delay", "-1"], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 2 and "--delay -1 is not a pause: expected 0 to 60 seconds" in run.stderr
