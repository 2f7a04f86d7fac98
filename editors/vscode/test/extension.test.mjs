// The bundle of the extension, loaded with a stand-in for the editor, and driven against the language server where there is one.
// NAMEDTENSOR is the command of the package, such as /path/to/venv/bin/namedtensor.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { unzipSync } from "fflate";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";
import { bundle, packaged } from "../build.mjs";

const require = createRequire(import.meta.url);
const { vscode, said, events, configuration, documents } = require("./stand-in.cjs");
const loaded = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : loaded(name, ...rest));

const folder = mkdtempSync(join(tmpdir(), "extension-"));
const code = await bundle(join(folder, "extension.js"));
const extension = require(code);
const context = { subscriptions: [] };

async function until(condition, seconds = 60) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await new Promise((done) => setTimeout(done, 20))) {
    const found = condition();
    if (found) return found;
  }
  throw new Error("it did not happen in time");
}

test("the bundle is one small file, and needs the editor alone", () => {
  assert.ok(statSync(code).size < 500_000);
  assert.deepEqual(Object.keys(extension).sort(), ["activate", "deactivate"]);
});

test("the package holds what its description names", async () => {
  const files = unzipSync(await packaged(code));
  const description = JSON.parse(new TextDecoder().decode(files["extension/package.json"]));
  const named = [
    description.main,
    ...description.contributes.grammars.map((each) => each.path),
    ...description.contributes.languages.map((each) => each.configuration),
  ];
  for (const name of named) assert.ok(files[`extension/${name.replace("./", "")}`], name);
  const manifest = new TextDecoder().decode(files["extension.vsixmanifest"]);
  assert.match(manifest, new RegExp(`Id="${description.name}" Version="${description.version}"`));
  assert.ok(files["[Content_Types].xml"]);
});

test("the language has brackets, a comment and words", () => {
  const language = JSON.parse(readFileSync(new URL("../language-configuration.json", import.meta.url), "utf8"));
  const word = new RegExp(language.wordPattern, "u");
  for (const each of ["seq", "γ", "X'", "\\ndot", "𝒮1"]) assert.equal(word.exec(each)[0], each);
  assert.equal(language.comments.lineComment, "#");
});

const SCOPES = {
  "softmax_{seq}(Q ⊙_{key[3]} K) # text": {
    softmax: "support.function", seq: "entity.name.type.axis", Q: "variable.other", "⊙": "keyword.operator",
    key: "entity.name.type.axis", 3: "constant.numeric", "# text": "comment.line",
  },
  "FFN^l(X) = X_{a→b} for l = 1, …, L": {
    FFN: "entity.name.function", X: "variable.other", a: "entity.name.type.axis", "→": "keyword.operator",
    for: "keyword.control", "1": "constant.numeric",
  },
  "γ, β ∈ ℝ^{chans × hidden_1}": { β: "variable.other", ℝ: "support.type", chans: "entity.name.type.axis" },
  "√(|key|) and R -> R": { "√": "keyword.operator", key: "entity.name.type.axis", and: "keyword.operator", "->": "keyword.operator" },
  "#: exercise ones": { "#: exercise ones": "comment.line.directive" },
};

test("the grammar gives each part of a line its scope", async () => {
  await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => JSON.parse(readFileSync(new URL("../syntaxes/namedtensor.tmLanguage.json", import.meta.url))),
  });
  const grammar = await registry.loadGrammar("source.namedtensor");
  for (const [line, parts] of Object.entries(SCOPES)) {
    const { tokens } = grammar.tokenizeLine(line, textmate.INITIAL);
    for (const [part, scope] of Object.entries(parts)) {
      const token = tokens.find((each) => line.slice(each.startIndex, each.endIndex).trim() === part);
      assert.ok(token?.scopes.some((each) => each.startsWith(scope)), `${part} of ${line}: ${token?.scopes}`);
    }
  }
});

test("a command that is not there is an error in a sentence", async () => {
  configuration.command = [join(folder, "nothing"), "lsp"];
  await extension.activate(context);
  const said_so = await until(() => said.errors.find((each) => each.includes("did not start")));
  assert.match(said_so, /nothing did not start.*pip install "named-tensor-notation\[lsp\]"/);
  assert.ok(said.commands.has("namedtensor.restart"));
});

test("the server's findings reach the editor", { skip: !process.env.NAMEDTENSOR }, async () => {
  const text = "X ∈ ℝ^{seq}\nY = ∑_{sek} X\n";
  const path = join(folder, "a.nt");
  writeFileSync(path, text);
  documents.push({
    uri: vscode.Uri.file(path), languageId: "namedtensor", version: 1, fileName: path, isClosed: false,
    getText: () => text,
  });
  configuration.command = [process.env.NAMEDTENSOR, "lsp"];
  await said.commands.get("namedtensor.restart")();
  const found = await until(() => said.diagnostics.get(`file://${path}`));
  assert.equal(found.length, 1);
  assert.match(found[0].message, /∑_\{sek\} needs axis sek/);
  const registered = new Set(said.registered.map(([name]) => name));
  for (const kind of ["Hover", "CompletionItem", "Definition", "Rename", "CodeActions", "InlayHints"]) {
    assert.ok([...registered].some((name) => name === `register${kind}Provider`), kind);
  }
  await extension.deactivate();
});
