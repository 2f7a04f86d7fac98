// The extension: it starts `namedtensor lsp` for the languages that hold formulas, and says in a sentence where that fails.

import { commands, window, workspace } from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";

const SECTION = "namedtensor";
let client;

function settings() {
  const found = workspace.getConfiguration(SECTION);
  const [command, ...args] = found.get("command", ["namedtensor", "lsp"]);
  return { command, args, languages: found.get("languages", ["namedtensor"]) };
}

async function start() {
  const { command, args, languages } = settings();
  if (!command) {
    window.showErrorMessage("Set namedtensor.command to the command of the language server: [\"namedtensor\", \"lsp\"].");
    return;
  }
  const run = { command, args, transport: TransportKind.stdio };
  client = new LanguageClient(SECTION, "Named Tensor Notation", run, {
    documentSelector: languages.map((language) => ({ language })),
  });
  try {
    await client.start();
  } catch (problem) {
    client = undefined;
    const repair = 'install it with: pip install "named-tensor-notation[lsp]", or set namedtensor.command';
    window.showErrorMessage(`${command} did not start (${problem.message ?? problem}); ${repair}.`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

export async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("namedtensor.restart", restart),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration(SECTION) && restart()),
  );
  await start();
}

export function deactivate() {
  return stop();
}
