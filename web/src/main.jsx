// The page: the text and what is given on the left, tabs on the right.

import { computed, effect } from "@preact/signals";
import { render } from "preact";
import { Attention } from "./attention.jsx";
import { Cards } from "./cards.jsx";
import { Code, library } from "./code_tab.jsx";
import { CopyAs } from "./copy_as.jsx";
import { Compare } from "./compare_tab.jsx";
import { axes } from "./colors.js";
import { loadMacros } from "./completing.js";
import { Derivative } from "./derivative_tab.jsx";
import { Editor } from "./editor.jsx";
import { Exercise, exerciseLink, openExercises, openLinked } from "./exercise_tab.jsx";
import { Formula } from "./formula.jsx";
import { GRADER, serveLessons } from "./grader.js";
import { examples, Header } from "./header.jsx";
import { Inputs } from "./inputs.jsx";
import { Legend } from "./legend.jsx";
import { mend, Problems } from "./problems.jsx";
import { ask, ready } from "./python.js";
import { packedState, site, unpackedState } from "./share.js";
import { begin, checked, data, errors, kept, lit, litPart, notice, open, plan, pointAt, step, superscripts, tab, text, typeset } from "./state.js";
import { Steps } from "./steps.jsx";
import { keep, recall } from "./storage.js";
import "./theme.js";
import { toTypst } from "./typst.js";
import { Translation } from "./translation.jsx";
import { Type, typeText } from "./types.jsx";
import { Value } from "./value_tab.jsx";

const TABS = { steps: Steps, value: Value, code: Code, derivative: Derivative, compare: Compare, exercise: Exercise };
const names = Object.keys(TABS);
const MAX_LATEX_CHARS = 20_000;
const EMBEDDED = new URLSearchParams(location.search).has("embed"); // in slides or on a course page
const shownErrors = computed(() => [...errors.value, ...(checked.value?.warnings ?? [])]);
const state = computed(() => (checked.value?.source !== text.value || !checked.value.latex ? "stale" : errors.value.length ? "wrong" : "right"));

/** How the formula is copied. */
const FORMULA = {
  what: "the formula", name: "formula", target: () => document.querySelector(".formula .katex-html"),
  forms: { text: () => text.value, LaTeX: () => typeset.value.plain, Typst: () => toTypst(typeset.value.plain) },
};

/** One line on the part that is pointed at, or on the whole. */
const told = computed(() => {
  if (errors.value.length) return errors.value[0].message;
  const part = litPart.value;
  if (part) return `${part.text} : ${typeText(part.axes)}`;
  return checked.value?.type ? `the value : ${typeText(checked.value.type.axes)}` : "";
});

function Status() {
  const part = litPart.value;
  const type = checked.value?.type;
  return (
    <p class="status">
      {errors.value.length > 0 ? <span class="quiet">contains an error</span> : part ? <><code>{part.text}</code> : <Type axes={part.axes} /></> : type ? <><span class="quiet">the value</span> : <Type axes={type.axes} /></> : <span class="quiet"> </span>}
      <span class="hidden" aria-live="polite">{told.value}</span>
    </p>
  );
}

/** The step of a part that is clicked becomes the one that is looked at. */
function pick(span) {
  const at = plan.value?.steps.findIndex((each) => each.span && span && each.span[0] === span[0] && each.span[1] === span[1]) ?? -1;
  if (at >= 0) step.value = at;
}

function Tabs() {
  const move = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    tab.value = names[(names.indexOf(tab.value) + by + names.length) % names.length];
    event.currentTarget.querySelector(`#tab-${tab.value}`).focus();
  };
  const Shown = TABS[tab.value];
  return (
    <section class="views" aria-label="views">
      <div role="tablist" aria-label="views" onKeyDown={move}>
        {names.map((name) => <button key={name} id={`tab-${name}`} type="button" role="tab" aria-selected={tab.value === name} aria-controls="view" tabIndex={tab.value === name ? 0 : -1} onClick={() => (tab.value = name)}>{name}</button>)}
      </div>
      <div id="view" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0} class={plan.value && state.value !== "right" ? "stale" : ""}>{plan.value && errors.value.length > 0 && <p class="quiet before">of the last formula that was right</p>}<Shown /></div>
    </section>
  );
}

function openFile(found) {
  if (/^#:\s*exercise\b/m.test(found)) {
    tab.value = "exercise";
    openExercises(found);
  } else open({ text: found });
}

/** A button from an embedded page to the playground, with what the page shows. */
function WholePage() {
  const go = async () => window.open(`${location.href.split(/[?#]/)[0]}#${await packedState(tab.value === "exercise" ? (await exerciseLink()) ?? kept() : kept())}`, "_blank");
  return <p class="whole-page"><button type="button" onClick={go}>open in the playground</button></p>;
}

function Page() {
  return (
    <>
      {!EMBEDDED && <Header onFile={openFile} />}
      {!EMBEDDED && <Cards />}
      <main class={tab.value === "exercise" ? "exercising" : ""}>
        <div class="left">
          <section class="text" aria-label="formula">
            {notice.value && <p class="wrong" role="alert">{notice.value}</p>}
            <Editor text={text} errors={shownErrors.value} lit={lit.value} axes={axes.value} label="formula" id="formula" signs data={data} onRepair={mend} onCaret={(place) => place !== null && pointAt(place)} />
            <div class="sheet">
              {typeset.value ? <Formula latex={typeset.value.latex} lit={lit.value} state={state.value} label="the formula, typeset; arrows walk through its parts" onPoint={(span) => (lit.value = span)} onPick={pick} /> : <div class="formula quiet" data-after-editor tabIndex={-1}>…</div>}
              <div class="row under"><Status />{typeset.value && <CopyAs {...FORMULA} />}<label class="switch"><input type="checkbox" checked={superscripts.value} onChange={(event) => (superscripts.value = event.currentTarget.checked)} /> types</label></div>
            </div>
            <Attention />
            <Legend />
            <Problems />
            <Translation />
          </section>
          <Inputs />
        </div>
        <Tabs />
      </main>
      {EMBEDDED && <WholePage />}
    </>
  );
}

// ------------------------------------------------------------------------------------------------------- its beginning
/** What is to be shown first: a link, the file that the server was given, what was there last, or the first example. */
async function first() {
  const linked = await readLink();
  const last = linked ?? (EMBEDDED ? null : recall("last", null));
  const asked = ask({ ask: "examples" }).catch(() => ({ ok: false }));
  if (last) take(last);
  const reply = await asked;
  if (reply.ok) [examples.value, site.value] = [reply.examples, reply.site];
  const file = reply.file && !linked;
  if (file) openFile(reply.file);
  if (!last?.text && !text.value) open(reply.examples?.[0] ?? { text: "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V" });
}

const DAMAGED = "This link is damaged, perhaps cut off when it was copied: ask for it again.";

/** Returns the state that the address of the page holds, or null. A damaged address leaves a notice. */
async function readLink() {
  const state = location.hash.length > 1 ? await unpackedState(location.hash) : null;
  notice.value = location.hash.length > 1 && !state ? DAMAGED : null;
  return state;
}

/** Opens what a link holds: a formula, exercises, or both. */
function take(state) {
  if (openLinked(state)) tab.value = "exercise";
  if (state.tab === "exercise") requestAnimationFrame(() => matchMedia("(max-width: 56rem)").matches && document.querySelector(".views")?.scrollIntoView());
  if (typeof state.text !== "string" || !state.text) return;
  open(state);
  if (typeof state.latex === "string" && state.latex.length < MAX_LATEX_CHARS) typeset.value = { latex: state.latex, plain: state.latex, macros: "" };
  if (state.tab === "loops") [tab.value, library.value] = ["code", "loops"]; // links of version 0.1
  if (names.includes(state.tab)) tab.value = state.tab;
  if (Number.isInteger(state.step)) step.value = state.step;
  const wanted = Array.isArray(state.lit) && state.lit.length === 2 && state.lit.every(Number.isInteger) ? state.lit : null;
  if (wanted) {
    const stop = effect(() => {
      if (plan.value) queueMicrotask(() => (stop(), (lit.value = wanted)));
    });
  }
}

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.altKey) && !event.shiftKey && /^[1-6]$/.test(event.key)) {
    event.preventDefault();
    tab.value = names[Number(event.key) - 1];
    document.getElementById(`tab-${tab.value}`)?.focus();
  }
});
addEventListener("hashchange", async () => {
  const state = await readLink();
  if (state) take(state);
});

function start() {
  render(<Page />, document.getElementById("app"));
  ready()?.catch(() => {});
  begin();
  loadMacros();
  if (EMBEDDED) document.documentElement.classList.add("embedded");
  first().then(() => {
    if (EMBEDDED) return; // a course page does not replace the last state
    let timer = null;
    effect(() => {
      const state = { ...kept(), latex: typeset.value?.plain }; // typeset before Python has started
      clearTimeout(timer);
      timer = setTimeout(() => keep("last", state), 500);
    });
  });
}

if (GRADER) serveLessons();
else start();
