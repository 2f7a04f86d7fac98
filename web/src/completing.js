// Completion in the editor: macros from a table that is asked for once, names and signs from Python.

import { ask } from "./python.js";
import { checked } from "./state.js";

let macros = null;

/** All macros of signs, `\odot` and what it becomes; asked for once. */
export async function loadMacros() {
  const reply = await ask({ ask: "complete", before: "\\" }).catch(() => null);
  macros ??= reply?.ok ? new Map(reply.completions.map((each) => [each.meaning, each.text])) : null;
}

export const MACRO = /\\[A-Za-z]*$/;

/** The sign that a macro before the caret becomes: its own, or that of the shortest which begins so. */
export function signOf(macro) {
  return macros?.get(macro) ?? [...(macros ?? [])].find(([name]) => macro.length > 1 && name.startsWith(macro))?.[1];
}

function names() {
  const reply = checked.value;
  const inputs = (reply?.inputs ?? []).map((each) => each.name);
  return { tensors: [...new Set([...inputs, ...(reply?.names ?? []).map((each) => each.name)])], functions: [], axes: (reply?.axes ?? []).map((each) => each.name) };
}

/** A source of CodeMirror's autocompletion. */
export async function completions(context) {
  const before = context.state.sliceDoc(0, context.pos);
  const macro = MACRO.exec(before)?.[0];
  if (macro && macros) {
    const options = [...macros].filter(([name]) => name.startsWith(macro)).map(([name, sign]) => ({ label: name, apply: sign, detail: sign, type: "text" }));
    return { from: context.pos - macro.length, options, validFor: /^\\[A-Za-z]*$/ };
  }
  const word = /[\p{L}][\p{L}\p{N}_]*['′]?$/u.exec(before)?.[0];
  if (!word && !context.explicit && !/[_^]\{?$|[×,]\s?$/.test(before)) return null;
  const known = names();
  if (!context.explicit && [...known.tensors, ...known.axes].includes(word)) return null; // the name is whole
  const reply = await ask({ ask: "complete", before, names: known }).catch(() => null);
  if (!reply?.ok || context.aborted || reply.completions.length === 0) return null;
  const length = reply.completions[0].length;
  const same = reply.completions.filter((each) => each.length === length && (each.meaning || context.explicit));
  return { from: context.pos - length, options: same.slice(0, 30).map((each) => ({ label: each.text, detail: each.meaning, type: "text" })), validFor: /^[\p{L}\p{N}'′]*$/u };
}
