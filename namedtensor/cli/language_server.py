"""The Language Server Protocol for the package `editor`: converts requests to calls, and results to messages.

Findings in the changed part are published at once. Findings in the whole document follow after a pause. The content of
a document never stops the server.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from grammar.errors import NotationError, Span

from ..core.version import __version__
from ..documents.included_files import document_text
from ..editor.analysis import EditedDocument
from ..editor.completions import AXIS, FUNCTION, NAME, TRIGGERS, completions
from ..editor.descriptions import definition, hover, references
from ..editor.fixes import fixes
from ..editor.occurrences import find_occurrence
from ..editor.positions import Lines
from ..editor.renaming import rename
from ..editor.text_programs import Problem
from ..files.text import InputError

SUFFIXES = {"namedtensor": ".nt", "python": ".py", "latex": ".tex", "tex": ".tex", "markdown": ".md", "quarto": ".qmd", "rmd": ".Rmd", "mdx": ".mdx", "restructuredtext": ".rst", "html": ".html"}  # fmt: skip
SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "information": lsp.DiagnosticSeverity.Information,
}
ITEM_KINDS = {
    AXIS: lsp.CompletionItemKind.Field,
    NAME: lsp.CompletionItemKind.Variable,
    FUNCTION: lsp.CompletionItemKind.Function,
}
Answer = TypeVar("Answer")
Handler = Callable[["OpenDocument", Any, Any], Any]


class OpenDocument:
    """A document that is open in the editor, with its lines and its pending check."""

    def __init__(self, uri: str, document: EditedDocument):
        self.uri, self.document = uri, document
        self.lines = Lines("")
        self.waiting: asyncio.TimerHandle | None = None


class EditorSession:
    """The documents that are open in one editor."""

    def __init__(self, server: LanguageServer, delay: float):
        self.server, self.delay = server, delay
        self.documents: dict[str, OpenDocument] = {}

    # ------------------------------------------------------------------------------------------------------- documents
    def opened(self, uri: str, language: str) -> None:
        path = to_fs_path(uri) or uri
        if os.path.splitext(path)[1] == "" and language in SUFFIXES:
            path += SUFFIXES[language]
        document = EditedDocument(path, self.read)
        if document.is_known:
            self.documents[uri] = OpenDocument(uri, document)
            self.changed(uri)

    def changed(self, uri: str) -> None:
        """Update the text of a document and publish its findings. Check the rest of a long program after a pause."""
        opened = self.documents.get(uri)
        if opened is None:
            return
        source = self.server.workspace.get_text_document(uri).source
        encoding: Any = self.server.workspace.position_encoding  # a text, or a member of an enumeration
        opened.lines = Lines(source, getattr(encoding, "value", encoding))
        self.guarded(lambda: opened.document.update(source), None)
        self.publish(opened)
        if opened.waiting is not None:
            opened.waiting.cancel()
        if not opened.document.settled:
            loop = asyncio.get_running_loop()
            opened.waiting = loop.call_later(self.delay, lambda: loop.create_task(self.settle(opened)))

    async def settle(self, opened: OpenDocument) -> None:
        """Check a whole document in another thread, so that the server can answer requests meanwhile.

        Discard the result if the document has changed in the meantime.
        """
        copy = opened.document.copy()
        await asyncio.get_running_loop().run_in_executor(None, lambda: self.guarded(copy.settle, None))
        if self.documents.get(opened.uri) is opened and opened.document.text == copy.text:
            opened.document = copy
            self.publish(opened)
            if self.server.client_capabilities.workspace and self.server.client_capabilities.workspace.inlay_hint:
                self.server.workspace_inlay_hint_refresh(None)

    def closed(self, uri: str) -> None:
        opened = self.documents.pop(uri, None)
        if opened is not None:
            if opened.waiting is not None:
                opened.waiting.cancel()
            self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def read(self, path: str) -> str | None:
        """Return the text of a file as it is in the editor or on disk, or None if it cannot be read."""
        for uri, opened in self.documents.items():
            if opened.document.path == path:
                return self.server.workspace.get_text_document(uri).source
        try:
            return document_text(path)[0]
        except InputError:
            return None

    def guarded(self, answer: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Return the result of `answer`. If it raises an exception, log it in the editor and return `otherwise`.

        A NotationError becomes the error reply of the request instead. The content of a document never stops the
        server.
        """
        try:
            return answer()
        except NotationError as problem:
            raise JsonRpcInvalidParams(message=describe_problem(problem)) from None
        except Exception as problem:
            text = f"namedtensor: {type(problem).__name__}: {problem}"
            self.server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, text))
            return otherwise

    # ----------------------------------------------------------------------------------------------------- conversions
    def publish(self, opened: OpenDocument) -> None:
        problems = self.guarded(lambda: opened.document.problems, [])
        diagnostics = [diagnostic(opened, problem) for problem in problems]
        version = self.server.workspace.get_text_document(opened.uri).version
        self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(opened.uri, diagnostics, version))


def describe_problem(problem: NotationError) -> str:
    """Return an error as one sentence, with its hint in parentheses."""
    return f"{problem.message} ({problem.hint})" if problem.hint else problem.message


def range_of(lines: Lines, span: Span) -> lsp.Range:
    start, end = (lsp.Position(*lines.position(at)) for at in span)
    return lsp.Range(start, end)


def span_of(lines: Lines, range: lsp.Range) -> Span:
    first, last = ((position.line, position.character) for position in (range.start, range.end))
    return lines.offset(first), lines.offset(last)


def diagnostic(opened: OpenDocument, problem: Problem) -> lsp.Diagnostic:
    error, lines = problem.error, opened.lines
    span = error.span if error.source == lines.text and error.span is not None else (0, 0)
    if span[0] == span[1] < len(lines.text):
        span = span[0], span[1] + 1
    text = "\n".join([error.message, *error.notes, *([f"hint: {error.hint}"] if error.hint else [])])
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(opened.uri, range_of(lines, label)), words or "see here")
        for label, words in error.labels
        if error.source == lines.text
    ]
    return lsp.Diagnostic(
        range_of(lines, span), text, SEVERITIES[problem.severity], error.code, source="namedtensor",
        related_information=related or None,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- requests
def create_server(delay: float = 0.4) -> LanguageServer:
    """Return a language server. It checks the whole document after a pause of `delay` seconds."""
    server = LanguageServer("namedtensor", __version__)
    session = EditorSession(server, delay)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        session.opened(params.text_document.uri, params.text_document.language_id)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        session.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        session.closed(params.text_document.uri)

    def on(feature: str, options: Any = None, settled: bool = False) -> Callable[[Handler], Handler]:
        """Return a decorator that registers a function for a kind of request.

        The function accepts an open document, an offset or span in it, and the request. With `settled`, the whole
        document is checked before the function is called.
        """

        def register(handler: Handler) -> Handler:
            def answer(opened: OpenDocument, params: Any) -> Any:
                if settled:
                    opened.document.settle()
                if hasattr(params, "range"):
                    return handler(opened, span_of(opened.lines, params.range), params)
                return handler(opened, opened.lines.offset((params.position.line, params.position.character)), params)

            @server.feature(feature, options)
            def handle(params: Any) -> Any:
                opened = session.documents.get(params.text_document.uri)
                return None if opened is None else session.guarded(lambda: answer(opened, params), None)

            return handler

        return register

    @on(lsp.TEXT_DOCUMENT_HOVER)
    def on_hover(opened: OpenDocument, offset: int, params: lsp.HoverParams) -> lsp.Hover | None:
        shown = hover(opened.document, offset)
        if shown is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, shown.text), range_of(opened.lines, shown.span))

    @on(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def on_inlay_hints(opened: OpenDocument, span: Span, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return [
            lsp.InlayHint(lsp.Position(*opened.lines.position(item.offset)), f" : {item.text}", lsp.InlayHintKind.Type)
            for item in opened.document.hints
            if span[0] <= item.offset <= span[1]
        ]

    @on(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=list(TRIGGERS)))
    def on_completion(opened: OpenDocument, offset: int, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        return [
            lsp.CompletionItem(
                item.label, kind=ITEM_KINDS.get(item.kind, lsp.CompletionItemKind.Operator), detail=item.detail or None,
                filter_text=opened.document.text[slice(*item.span)] or None, sort_text=f"{at:04}",
                text_edit=lsp.TextEdit(range_of(opened.lines, item.span), item.text),
            )
            for at, item in enumerate(completions(opened.document, offset))
        ]  # fmt: skip

    @on(lsp.TEXT_DOCUMENT_DEFINITION, settled=True)
    def on_definition(opened: OpenDocument, offset: int, params: lsp.DefinitionParams) -> list[lsp.Location]:
        return locations(opened, definition(opened.document, offset))

    @on(lsp.TEXT_DOCUMENT_REFERENCES, settled=True)
    def on_references(opened: OpenDocument, offset: int, params: lsp.ReferenceParams) -> list[lsp.Location]:
        return locations(opened, references(opened.document, offset))

    @on(lsp.TEXT_DOCUMENT_PREPARE_RENAME, settled=True)
    def on_prepare_rename(opened: OpenDocument, offset: int, params: Any) -> lsp.PrepareRenamePlaceholder | None:
        mention = find_occurrence(opened.document, offset)
        span = mention and opened.document.regions[mention.region].place(mention.span)
        return lsp.PrepareRenamePlaceholder(range_of(opened.lines, span), mention.name) if mention and span else None

    @on(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True), settled=True)
    def on_rename(opened: OpenDocument, offset: int, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        edits = rename(opened.document, offset, params.new_name)
        return workspace_edit(opened, [(item.span, item.text) for item in edits])

    @on(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
        settled=True,
    )
    def on_code_action(opened: OpenDocument, span: Span, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return [
            lsp.CodeAction(
                item.title, lsp.CodeActionKind.QuickFix, [diagnostic(opened, item.problem)], is_preferred=at == 0,
                edit=workspace_edit(opened, [item.edit]),
            )
            for at, item in enumerate(fixes(opened.document, span))
        ]  # fmt: skip

    return server


def locations(opened: OpenDocument, spans: list[Span]) -> list[lsp.Location]:
    return [lsp.Location(opened.uri, range_of(opened.lines, span)) for span in spans]


def workspace_edit(opened: OpenDocument, edits: list[Any]) -> lsp.WorkspaceEdit:
    changes = [lsp.TextEdit(range_of(opened.lines, span), text) for span, text in edits]
    return lsp.WorkspaceEdit({opened.uri: changes})
