// One history for the text and for what it is given: undo in the editor, or outside of it, takes back either.

import { invertedEffects, redo, undo, undoDepth } from "@codemirror/commands";
import { EditorState, StateEffect, Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { effect, signal } from "@preact/signals";

const PAUSE = 400; // milliseconds after which changes of data, such as those of a slider, are one entry
const change = StateEffect.define(); // {from, to}: the data before and after

export const undoable = signal(false);

let view = null;
let data = null; // {text, read, write, empty}: the text and the data now, other data, and the data of a new text
let before = null; // the data that the history knows of
let seen = null; // the data when it last changed
let timer = null;
let restoring = false;
let isFilled = false; // whether the page has begun with a text

/** Puts what changed since the last entry into the history. */
function note(now = data.read()) {
  clearTimeout(timer);
  if (now === before || !view) return;
  const entry = change.of({ from: before, to: now });
  before = now;
  view.dispatch({ effects: entry, userEvent: "data" });
}

function write(to) {
  restoring = true;
  data.write(to);
  before = data.read();
  restoring = false;
}

const isTyped = (transaction) => transaction.isUserEvent("input") || transaction.isUserEvent("delete");

/** Whether a reader's edit leaves nothing of the text: what was given goes with it. */
function replacesAll({ changes, startState }) {
  let all = false;
  changes.iterChangedRanges((from, to) => (all ||= from === 0 && to === startState.doc.length));
  return all && startState.doc.length > 0;
}

const inverted = invertedEffects.of((transaction) => transaction.effects.filter((each) => each.is(change)).map(({ value: { from, to } }) => change.of({ from: to, to: from })));

const dropping = EditorState.transactionExtender.of((transaction) => (data && transaction.docChanged && isTyped(transaction) && replacesAll(transaction) ? { effects: change.of({ from: data.read(), to: data.empty() }) } : null));

const applying = EditorView.updateListener.of(({ transactions, state }) => {
  for (const transaction of transactions) {
    if (transaction.isUserEvent("data")) continue;
    for (const each of transaction.effects) if (each.is(change)) write(each.value.to);
  }
  undoable.value = undoDepth(state) > 0;
});

/** Extensions for the editor of the formula. */
export const dataHistory = [inverted, dropping, applying];

/** Follows the data: a change of it is an entry, once nothing moves any more. */
export function follow(editor, given) {
  view = editor;
  data = given;
  before = seen = data.read();
  return effect(() => {
    const now = data.read();
    if (!restoring) {
      if (data.text() !== editor.state.doc.toString()) note(seen); // another text comes with this change, and the one before is by itself
      clearTimeout(timer);
      timer = setTimeout(note, PAUSE);
    }
    seen = now;
  });
}

/** Another text that the page puts in, with the data that came with it, as one entry; the first is none. */
export function withData(text) {
  if (!view) return;
  const first = !isFilled;
  isFilled = true;
  clearTimeout(timer);
  const now = data.read();
  const effects = now === before ? [] : [change.of({ from: before, to: now })];
  before = now;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, effects, userEvent: "data", annotations: Transaction.addToHistory.of(!first) });
}

export function undoLast() {
  note();
  if (view) undo(view);
}

export function redoLast() {
  note();
  if (view) redo(view);
}

addEventListener("focusin", ({ target }) => view?.contentDOM === target && data && note());
addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || event.altKey || !["z", "y"].includes(key)) return;
  const own = event.target.closest?.(".cm-editor, textarea, .type-field, .axes-field, .share, .hand-in"); // which undo by themselves
  if (own) return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) redoLast();
  else undoLast();
});
