// The text: CodeMirror with waves under errors, the lit part, axes in their colors, completion. Tab leaves it.

import { acceptCompletion, autocompletion, closeCompletion, completionStatus, moveCompletionSelection, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { nextDiagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, placeholder } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { tint } from "./colors.js";
import { completions, MACRO, signOf } from "./completing.js";
import { axisWords } from "./axis_words.js";
import { dataHistory, follow, withData } from "./data_history.js";
import { edited, point, saidOf, units } from "./places.js";
import { Signs } from "./signs.jsx";

const mark = StateEffect.define();

/** Decorations that the page sets: the lit part and the names of axes. */
const marks = StateField.define({
  create: () => Decoration.none,
  update(found, change) {
    found = found.map(change.changes);
    for (const effect of change.effects) if (effect.is(mark)) found = effect.value;
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function marked(text, span, names) {
  const ranges = axisWords(text, names).map(([from, to, name]) => Decoration.mark({ class: tint(name) }).range(from, to));
  if (span) {
    const [from, to] = units(text, span);
    if (from < to && to <= text.length) ranges.push(Decoration.mark({ class: "lit" }).range(from, to));
  }
  return Decoration.set(ranges, true);
}

/** `\odot` before the caret becomes ⊙; where nothing is to be completed, Tab goes on to the next thing on the page. */
function tab(view) {
  const { head } = view.state.selection.main;
  const macro = MACRO.exec(view.state.sliceDoc(0, head))?.[0];
  const sign = macro && signOf(macro);
  if (sign) {
    closeCompletion(view);
    view.dispatch({ changes: { from: head - macro.length, to: head, insert: sign }, selection: { anchor: head - macro.length + sign.length }, userEvent: "input.complete" });
    return true;
  }
  return acceptCompletion(view);
}

function leave(view) {
  if (completionStatus(view.state)) return closeCompletion(view);
  view.contentDOM.blur();
  view.dom.closest("section")?.querySelector("[data-after-editor]")?.focus();
  return true;
}

const diagnosticsOf = (text, errors, repair) => errors.filter((error) => error.span).map((error) => {
  const [from, to] = units(text, error.span);
  const actions = (error.repairs ?? []).map((each) => ({ name: saidOf(each, text).join(" ").trim(), apply: () => repair(each) }));
  return { from, to: Math.min(text.length, Math.max(to, from + (from < text.length ? 1 : 0))), severity: error.kind === "warning" ? "warning" : "error", message: error.message, actions };
});

/** An editor of a signal. `errors`, `lit` and `axes` are shown in it, with a palette below where `signs` are wished; `onCaret` hears where the caret is, in code points; `data` is what the text is given, whose changes its history holds too. */
export function Editor({ text, errors = [], lit = null, axes = [], label, hint = "a formula, in text or LaTeX", onCaret, onRepair, id, onSubmit, signs = false, data = null }) {
  const host = useRef(null);
  const view = useRef(null);
  const heard = useRef({});
  heard.current = { onCaret, onSubmit };
  useEffect(() => {
    const listener = EditorView.updateListener.of((change) => {
      if (change.docChanged) text.value = change.state.doc.toString();
      if (change.docChanged || change.selectionSet || change.focusChanged) {
        const body = change.state.doc.toString();
        heard.current.onCaret?.(change.view.hasFocus ? point(body, change.state.selection.main.head) : null, change.focusChanged);
      }
    });
    const keys = [
      { key: "Tab", run: tab },
      { key: "Escape", run: leave },
      { key: "F8", run: nextDiagnostic },
      { key: "ArrowDown", run: moveCompletionSelection(true) },
      { key: "ArrowUp", run: moveCompletionSelection(false) },
      { key: "PageDown", run: moveCompletionSelection(true, "page") },
      { key: "PageUp", run: moveCompletionSelection(false, "page") },
      { key: "Ctrl-Space", run: startCompletion },
      { key: "Mod-Enter", run: () => heard.current.onSubmit?.() ?? false },
      ...historyKeymap, ...defaultKeymap,
    ];
    view.current = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: text.value,
        extensions: [
          history(), data ? dataHistory : [], drawSelection(), EditorView.lineWrapping, marks, placeholder(hint), keymap.of(keys), listener,
          autocompletion({ override: [completions], icons: false, defaultKeymap: false, // Enter begins a line and never completes
             activateOnTypingDelay: 60, tooltipClass: () => "completions" }),
          EditorView.contentAttributes.of({ "aria-label": label, id, spellcheck: "false", autocapitalize: "off", "aria-multiline": "true" }),
        ],
      }),
    });
    const unfollow = data && follow(view.current, data);
    return () => {
      unfollow?.();
      view.current.destroy();
    };
  }, []);
  useEffect(() => {
    const held = view.current.state.doc.toString();
    if (held === text.value) return;
    if (data) withData(text.value);
    else view.current.dispatch({ changes: { from: 0, to: held.length, insert: text.value } });
  }, [text.value]);
  useEffect(() => {
    const held = view.current.state.doc.toString();
    view.current.dispatch(setDiagnostics(view.current.state, diagnosticsOf(held, errors, onRepair ?? ((repair) => (text.value = edited(held, repair))))));
  }, [errors]);
  useEffect(() => {
    view.current.dispatch({ effects: mark.of(marked(view.current.state.doc.toString(), lit, new Set(axes.map((axis) => axis.name)))) });
  }, [lit, axes, text.value]);
  const put = (sign, back) => {
    const { from, to } = view.current.state.selection.main;
    view.current.dispatch({ changes: { from, to, insert: sign }, selection: { anchor: from + sign.length - back }, userEvent: "input" });
    view.current.focus();
  };
  return <><div class="editor" ref={host} />{signs && <Signs onPut={put} />}</>;
}
