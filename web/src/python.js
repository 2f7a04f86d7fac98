// The one way to Python: `ask(question)` gives the reply. Behind it is the server that gave the page, or, in the whole
// file, a worker with Python inside. Python that takes too long is stopped, and restarted in the file.

import { signal } from "@preact/signals";
import { carried, unpacked } from "./unpack.js";

export const GRADING_TIMEOUT_MS = 2_000; // milliseconds to grade an answer
export const LIMIT = 12_000; // milliseconds; Python's own limits end sooner, this one is for what they cannot see
const STARTING = 120_000;

/** "starting", "ready", "working" or "away", for the page to say. */
export const python = signal("starting");
export const inside = carried("wasm") !== null;

export class Stopped extends Error {}

// ------------------------------------------------------------------------------------------------------ by the server
async function askServer(text, limit) {
  const reply = await fetch("answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: text, signal: AbortSignal.timeout(limit) }).catch((problem) => {
    throw problem instanceof TypeError ? new Error("the server of this page does not answer: run `namedtensor playground` again and reload; your text is kept") : problem;
  });
  return reply.text();
}

// -------------------------------------------------------------------------------------------------------- by a worker
let worker = null;
let started = null;
let numbers = 0;
const waiting = new Map();

function send(message, limit) {
  return new Promise((resolve, reject) => {
    const number = ++numbers;
    const timer = setTimeout(stop, limit);
    waiting.set(number, { resolve, reject, timer });
    worker.postMessage({ ...message, number });
  });
}

/** What the worker says that the loader has started. */
async function firstReply(reply) {
  const timer = setTimeout(stop, STARTING);
  const { text, problem } = await reply;
  clearTimeout(timer);
  if (problem !== undefined) throw new Error(problem);
  return text;
}

async function start() {
  python.value = "starting";
  const early = window.pythonStart; // by the loader, before this script was unpacked
  window.pythonStart = null;
  worker = early?.worker ?? new Worker(URL.createObjectURL(new Blob([await unpacked(carried("worker"))], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    const { resolve, reject, timer } = waiting.get(data.number) ?? {};
    waiting.delete(data.number);
    clearTimeout(timer);
    if (data.problem === undefined) resolve?.(data.text);
    else reject?.(new Error(data.problem));
  };
  const took = early ? await firstReply(early.reply) : await send({ parts: { wasm: carried("wasm"), library: carried("library"), project: carried("project") } }, STARTING);
  if (python.value === "starting") python.value = "ready"; // nothing was asked that the file did not know
  performance.mark("python", { detail: JSON.parse(took) });
}

/** Ends a worker that does not come back; what was asked of it fails, and the next question starts another. */
function stop() {
  worker?.terminate();
  worker = started = null;
  for (const { reject, timer } of waiting.values()) {
    clearTimeout(timer);
    reject(new Stopped());
  }
  waiting.clear();
  ready();
}

async function askWorker(text, limit) {
  await ready();
  return send({ text }, limit);
}

/** Starts Python where it is inside. */
export function ready() {
  if (inside) started ??= start();
  return started;
}

// ------------------------------------------------------------------------------------- what is known before Python starts
/** A question with its fields in one order, as a key. */
const keyOf = (question) => JSON.stringify(question, (_, value) => (value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value));

let known = null;

/** The replies that the file carries, by the keys of their questions. */
async function knownReplies() {
  const data = carried("known");
  if (data === null) return new Map();
  return new Map(JSON.parse(new TextDecoder().decode(await unpacked(data))).map(([question, reply]) => [keyOf(question), JSON.stringify(reply)]));
}

// -------------------------------------------------------------------------------------------------------------- asking
/** The same for grading an answer: Python in the page is stopped in time, with the feedback that the server gives. */
export async function graded(question) {
  try {
    return await ask(question, inside ? GRADING_TIMEOUT_MS : LIMIT);
  } catch (problem) {
    if (problem instanceof Stopped) return { ok: true, correct: false, counts_as_attempt: false, feedback: `could not be graded in ${GRADING_TIMEOUT_MS / 1000} seconds: make it smaller` };
    throw problem;
  }
}

/** The reply to a question. Raises Stopped where it took too long, and Error where Python cannot be reached. */
export async function ask(question, limit = LIMIT) {
  const found = (await (known ??= knownReplies())).get(keyOf(question));
  if (found) return JSON.parse(found);
  if (python.value !== "starting") python.value = "working";
  try {
    const text = JSON.stringify(question);
    const reply = JSON.parse(await (inside ? askWorker(text, limit) : askServer(text, limit)));
    python.value = "ready";
    return reply;
  } catch (problem) {
    const late = problem instanceof Stopped || problem.name === "TimeoutError";
    python.value = inside ? "starting" : late ? "ready" : "away";
    throw late ? new Stopped("stopped: this took too long") : problem;
  }
}
