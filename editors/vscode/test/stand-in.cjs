// A stand-in for the module `vscode`: what the extension and its client ask of an editor, written down.
"use strict";

class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
}
class EventEmitter {
  constructor() {
    this.listeners = [];
    this.event = (listener) => {
      this.listeners.push(listener);
      return new Disposable();
    };
  }
  fire(value) {
    for (const each of this.listeners) each(value);
  }
  dispose() {}
}
class CancellationTokenSource {
  constructor() {
    this.token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  }
  cancel() {}
  dispose() {}
}
class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(start, end) {
    Object.assign(this, { start, end });
  }
}
class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}
class Uri {
  constructor(path) {
    Object.assign(this, { path, fsPath: path, scheme: "file" });
  }
  static parse(text) {
    return new Uri(text.replace(/^file:\/\//, ""));
  }
  static file(path) {
    return new Uri(path);
  }
  toString() {
    return `file://${this.path}`;
  }
}

const said = { errors: [], diagnostics: new Map(), registered: [], commands: new Map() };
const events = {};
const event = (name) => (events[name] ??= new EventEmitter()).event;
const configuration = {};
const documents = [];

const own = {
  CancellationTokenSource, Disposable, EventEmitter, Position, Range, Diagnostic, Uri,
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  version: "1.91.0",
  env: { language: "en", appName: "stand-in", machineId: "none" },
  commands: {
    registerCommand: (name, run) => (said.commands.set(name, run), new Disposable()),
  },
  window: {
    showErrorMessage: async (text) => void said.errors.push(text),
    createOutputChannel: () => new Proxy({}, { get: () => () => {} }),
    onDidChangeActiveTextEditor: event("activeEditor"),
    onDidChangeVisibleTextEditors: event("visibleEditors"),
    tabGroups: { all: [], onDidChangeTabs: event("tabs"), onDidChangeTabGroups: event("groups") },
    visibleTextEditors: [],
  },
  workspace: {
    workspaceFolders: undefined,
    textDocuments: documents,
    notebookDocuments: [],
    getConfiguration: () => ({ get: (key, otherwise) => configuration[key] ?? otherwise }),
    createFileSystemWatcher: () => new Disposable(),
    ...Object.fromEntries(
      "onDidChangeConfiguration onDidOpenTextDocument onDidCloseTextDocument onDidChangeTextDocument onWillSaveTextDocument onDidSaveTextDocument onDidChangeWorkspaceFolders onDidOpenNotebookDocument onDidCloseNotebookDocument onDidChangeNotebookDocument onDidCreateFiles onDidRenameFiles onDidDeleteFiles onWillCreateFiles onWillRenameFiles onWillDeleteFiles"
        .split(" ")
        .map((name) => [name, event(name)]),
    ),
  },
  languages: new Proxy(
    {
      match: (selector, document) => (selector.some((each) => each.language === document.languageId) ? 10 : 0),
      createDiagnosticCollection: () => ({
        set: (uri, found) => void said.diagnostics.set(uri.toString(), found),
        delete: (uri) => void said.diagnostics.delete(uri.toString()),
        clear() {},
        dispose() {},
      }),
    },
    {
      get: (known, name) =>
        known[name] ?? ((...given) => (said.registered.push([name, ...given]), new Disposable())),
    },
  ),
};

/** A class for every name that is not written down: the client derives its own from them. */
const anything = new Proxy(own, {
  get: (known, name) => (name in known || typeof name === "symbol" ? known[name] : (known[name] = class {})),
});
Object.assign(anything, {
  CompletionItemKind: {}, SymbolKind: {}, CodeActionKind: { QuickFix: { value: "quickfix" } }, SymbolTag: {}, CompletionItemTag: {},
  DiagnosticTag: {}, TextDocumentSaveReason: {}, FoldingRangeKind: {}, InlayHintKind: {}, CompletionTriggerKind: {},
  SignatureHelpTriggerKind: {}, CodeActionTriggerKind: {}, ProgressLocation: {}, StatusBarAlignment: {}, ViewColumn: {}, FileType: {},
});

module.exports = { vscode: anything, said, events, configuration, documents };
