// What the page knows, as signals: the text and what is given → checked by Python → a plan → values.

import { batch, computed, effect, signal } from "@preact/signals";
import { fromLists, resized, sizesOf, count } from "./arrays.js";
import { axes as coloredAxes, chosen, forgetColors, repaint, withLastingColors } from "./colors.js";
import { compute, openMachine, Refused } from "./machine.js";
import { smallestAt } from "./places.js";
import { ask, python } from "./python.js";
import { drawn } from "./random.js";

// ------------------------------------------------------------------------------------------------- what a reader says
export const text = signal("");
export const types = signal({}); // by name, where the text declares none
export const numbers = signal({}); // those that a formula needs before it is planned
export const sizes = signal({});
export const given = signal({}); // by name: {seed} or {seed, array}
export const labels = signal({}); // words for the positions of axes
export const superscripts = signal(false);
export const tab = signal("steps");
export const record = signal({}); // a place on each axis, counted from 1
export const lit = signal(null); // the span that is pointed at
export const step = signal(null); // the step that is looked at
export const other = signal(""); // a second formula, to be compared
export const by = signal(null); // the name by which is derived
export const notice = signal(null); // a message about the link that was opened

// ------------------------------------------------------------------------------------------------ what Python replies
export const checked = signal(null);
export const typeset = signal(null); // the last reply that has a formula to show
export const plan = signal(null);
export const results = signal(null); // {plan, values: of each step, inputs: by name}
export const failure = signal(null); // why there are no values, though the text is right

export const errors = computed(() => {
  const found = [...(checked.value?.errors ?? [])];
  if (failure.value) found.push(failure.value);
  return found;
});
export const inputs = computed(() => checked.value?.inputs ?? []);
export const parts = computed(() => (checked.value?.errors?.length ? [] : (checked.value?.parts ?? [])));

/** The value of an input: what was given, fitted to the sizes of now, or generated from its seed. */
export function valueOf(input, held = given.value[input.name]) {
  const shape = sizesOf(input.axes);
  const fresh = { shape, data: drawn(count(shape), held?.seed ?? 1, input.name, input.domain) };
  return held?.array ? resized(held.array, shape, fresh) : fresh;
}

/** A formula as questions take it, with all that is known of what is given. */
export function formula(reply = checked.value, body = text.value) {
  const known = Object.fromEntries((reply?.inputs ?? []).map((input) => [input.name, input.needed === "number" ? (numbers.value[input.name] ?? input.number ?? 1) : input.type]));
  return { text: body, inputs: known, sizes: knownSizes(reply) };
}

const knownSizes = (reply) => ({ ...Object.fromEntries((reply?.axes ?? []).filter(({ size }) => Number.isInteger(size)).map(({ name, size }) => [name, size])), ...sizes.value });

// ------------------------------------------------------------------------------------------------------------ checking
const PAUSE = 120; // milliseconds after the last key
let turn = 0;
let timer = null;

const said = (problem) => ({ kind: "page", code: null, message: problem.message, labels: [], notes: [], repairs: [], span: null, hint: null });

/** The names that the text itself declares or defines: of these it says the types. */
function own(source) {
  const heads = [...source.matchAll(/^[ \t&]*([^=∈\n]+?)[ \t&]*(?:∈|\\in\b|=|≝|:=)/gm)].map((match) => match[1]);
  return new Set(heads.flatMap((head) => head.split(",")).map((name) => name.trim()));
}

async function check() {
  const mine = ++turn;
  performance.mark("pause");
  if (!text.value.trim()) return settle({ errors: [], warnings: [], parts: [], inputs: [], axes: [], latex: null, type: null });
  const declared = own(text.value);
  const inputs = Object.fromEntries(Object.entries({ ...types.value, ...numbers.value }).filter(([name]) => !declared.has(name)));
  const asked = { text: text.value, inputs, sizes: sizes.value };
  try {
    const reply = await ask({ ask: "check", ...asked, superscripts: superscripts.value, plan: true });
    if (mine !== turn) return;
    settle(reply.ok ? reply : { errors: [reply.error], warnings: [], parts: [], inputs: [] });
  } catch (problem) {
    if (mine === turn) batch(() => ((plan.value = results.value = null), (failure.value = said(problem))));
  }
}

/** The reply with axes in the colors that their names have had. */
function inLastingColors(reply) {
  const axes = withLastingColors(reply.axes);
  const plan = reply.plan?.ok ? { ...reply.plan, steps: reply.plan.steps.map((each) => ({ ...each, latex: repaint(each.latex) })) } : reply.plan;
  return { ...reply, axes, latex: repaint(reply.latex), plan };
}

function settle(reply) {
  const unread = text.value.trim() && !reply.latex; // while a formula is being written, what it is given stays in sight
  if (unread && checked.value) reply = { ...reply, inputs: checked.value.inputs, axes: checked.value.axes };
  if (reply.axes?.length && !unread) reply = inLastingColors(reply);
  batch(() => {
    if (checked.value?.source !== text.value) lit.value = null; // its span is of another text
    checked.value = { ...reply, source: text.value };
    failure.value = reply.plan?.error ?? null;
    if (reply.latex) typeset.value = { latex: reply.latex, plain: reply.plain_latex, macros: reply.macros_latex };
    if (reply.axes?.length) coloredAxes.value = reply.axes;
    if (reply.plan?.ok) plan.value = { ...reply.plan, of: reply };
    else if (!reply.errors.length) plan.value = results.value = null; // where it is wrong, the last that was right stays in sight
    if (!text.value.trim()) typeset.value = null;
  });
}

// -------------------------------------------------------------------------------------------------------------- values
let computing = false;
let again = false;

async function recompute() {
  if (computing) {
    again = true;
    return;
  }
  computing = true;
  try {
    do {
      again = false;
      await computed_(plan.value);
    } while (again);
  } finally {
    computing = false;
  }
}

async function computed_(current) {
  if (!current) return;
  const known = Object.fromEntries(current.of.inputs.map((input) => [input.name, valueOf(input)]));
  performance.mark("computing");
  try {
    const arrays = await compute(current, current.inputs.map((name) => known[name]));
    if (current !== plan.value) return;
    batch(() => {
      results.value = { plan: current, inputs: known, values: current.steps.map((each) => (each.result === null ? null : arrays[each.result])), arrays };
      failure.value = null;
    });
    performance.mark("values");
  } catch (problem) {
    if (current !== plan.value) return;
    batch(() => {
      results.value = null;
      failure.value = problem instanceof Refused ? { ...said(problem), ...problem.problem, kind: problem.problem.code ? "value" : "page" } : said(problem);
    });
  }
}

// ---------------------------------------------------------------------------------------------------------- what moves
/** Points at the part of the text at a place, counted in code points; at nothing where no part is. */
export function pointAt(place) {
  const found = place === null ? null : smallestAt(parts.value, place);
  lit.value = found?.span ?? null;
}

export const litPart = computed(() => {
  const span = lit.value;
  return span && (parts.value.find((part) => part.span[0] === span[0] && part.span[1] === span[1]) ?? null);
});

/** Gives a name a value. What was given numbers keeps its type from then on, though it was guessed before. */
export function give(name, array, seed = given.value[name]?.seed ?? 1) {
  const input = inputs.value.find((each) => each.name === name);
  batch(() => {
    given.value = { ...given.value, [name]: array ? { seed, array } : { seed } };
    if (array && input?.from === "guessed") types.value = { ...types.value, [name]: input.type };
  });
}

/** Changes the size of an axis: in the text where it says it, in a type that was given, or by itself. */
export function resize(axis, size) {
  const stated = new RegExp(`(?<![\\p{L}\\p{N}_'])${axis.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\[\\d+\\]`, "gu");
  const put = (type) => (typeof type === "string" ? type.replace(stated, `${axis}[${size}]`) : type);
  batch(() => {
    text.value = put(text.value);
    types.value = Object.fromEntries(Object.entries(types.value).map(([name, type]) => [name, put(type)]));
    const before = text.value.match(stated) || Object.values(types.value).some((type) => typeof type === "string" && type.match(stated));
    const { [axis]: _, ...others } = sizes.value;
    sizes.value = before ? others : { ...others, [axis]: size };
  });
}

/** Takes up an example, or what a link holds. */
export function open(state) {
  const plain = (found) => (found && typeof found === "object" && !Array.isArray(found) ? found : {});
  const values = {};
  forgetColors();
  for (const [name, held] of Object.entries(plain(state.values))) {
    try {
      values[name] = { seed: 1, array: fromLists(held) };
    } catch {
      // inputs without an array get random values
    }
  }
  for (const [name, seed] of Object.entries(plain(state.seeds))) if (Number.isInteger(seed) && seed >= 0) values[name] ??= { seed };
  batch(() => {
    text.value = String(state.text ?? "").slice(0, 20_000);
    types.value = Object.fromEntries(Object.entries(plain(state.inputs)).filter(([, type]) => typeof type === "string"));
    numbers.value = Object.fromEntries(Object.entries({ ...plain(state.inputs), ...plain(state.numbers) }).filter(([, number]) => typeof number === "number"));
    sizes.value = Object.fromEntries(Object.entries(plain(state.sizes)).filter(([, size]) => Number.isInteger(size)));
    labels.value = Object.fromEntries(Object.entries(plain(state.labels)).filter(([, words]) => Array.isArray(words)).map(([axis, words]) => [axis, words.map(String)]));
    chosen.value = Object.fromEntries(Object.entries(plain(state.colors)).filter(([, color]) => /^#[0-9a-f]{6}$/i.test(color)));
    given.value = values;
    record.value = Object.fromEntries(Object.entries(plain(state.record)).filter(([, place]) => Number.isInteger(place) && place > 0));
    step.value = null;
    by.value = typeof state.by === "string" ? state.by : null;
    other.value = typeof state.other === "string" ? state.other : "";
    superscripts.value = state.superscripts === true;
    checked.value = plan.value = results.value = typeset.value = failure.value = null;
  });
}

/** All that a link or the page's storage keeps. */
export function kept() {
  const array = ({ shape, data }) => {
    const nest = (axis, start, width) => (axis === shape.length ? data[start] : Array.from({ length: shape[axis] }, (_, n) => nest(axis + 1, start + (n * width) / shape[axis], width / shape[axis])));
    return nest(0, 0, data.length);
  };
  const present = new Set(inputs.value.map(({ name }) => name));
  const held = Object.entries(given.value).filter(([name]) => present.has(name));
  const full = {
    text: text.value, inputs: types.value, numbers: numbers.value, sizes: sizes.value, labels: labels.value, colors: chosen.value,
    values: Object.fromEntries(held.filter(([, each]) => each.array).map(([name, each]) => [name, array(each.array)])),
    seeds: Object.fromEntries(held.filter(([, each]) => !each.array).map(([name, each]) => [name, each.seed])),
    tab: tab.value, record: record.value, step: step.value, lit: lit.value, by: by.value, other: other.value, superscripts: superscripts.value,
  };
  const empty = (found) => found === null || found === false || found === "" || (typeof found === "object" && Object.keys(found).length === 0);
  return Object.fromEntries(Object.entries(full).filter(([, found]) => !empty(found)));
}

const DATA = [types, numbers, sizes, labels, given];
const current = computed(() => DATA.map((part) => part.value));

/** What the text is given, as its history keeps it. */
export const data = {
  text: () => text.peek(),
  read: () => current.value,
  write: (values) => batch(() => {
    DATA.forEach((part, n) => (part.value = values[n]));
    if (values === NOTHING) record.value = {};
  }),
  empty: () => NOTHING,
};
const NOTHING = DATA.map(() => ({}));

export function begin() {
  openMachine().catch(() => (python.value = "away"));
  effect(() => {
    void [text.value, types.value, numbers.value, sizes.value, superscripts.value];
    clearTimeout(timer);
    timer = setTimeout(check, checked.peek() === null ? 0 : PAUSE);
  });
  effect(() => {
    void [plan.value, given.value];
    recompute();
  });
}
