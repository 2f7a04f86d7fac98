// Values, computed by plans in JavaScript in a worker; nothing here waits for Python.

import source from "text:machine_worker.js";
import { ask } from "./python.js";

export const LIMIT = 5_000; // milliseconds

/** What a formula rejects while it runs, and what takes too long. */
export class Refused extends Error {
  constructor(problem) {
    super(problem.message);
    this.problem = problem;
  }
}

let worker = null;
let runtime = null;
let numbers = 0;
const waiting = new Map();

function open() {
  worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    const held = waiting.get(data.number);
    waiting.delete(data.number);
    clearTimeout(held?.timer);
    if (data.problem) held?.reject(new Refused(data.problem));
    else held?.resolve(data.results);
  };
}

function stop() {
  worker?.terminate();
  worker = null;
  const problem = { code: null, message: `the computation was stopped after ${LIMIT / 1000} seconds`, hint: "make axes smaller", span: null };
  for (const { reject, timer } of waiting.values()) {
    clearTimeout(timer);
    reject(new Refused(problem));
  }
  waiting.clear();
}

function send(message) {
  return new Promise((resolve, reject) => {
    const number = ++numbers;
    waiting.set(number, { resolve, reject, timer: setTimeout(stop, LIMIT) });
    worker.postMessage({ number, ...message });
  });
}

async function ready() {
  runtime ??= ask({ ask: "runtime" }).then((reply) => {
    if (!reply.ok) throw new Error(reply.error.message);
    return reply.source;
  }).catch((problem) => {
    runtime = null;
    throw problem;
  });
  const text = await runtime;
  if (!worker) {
    open();
    await send({ runtime: text });
  }
}

/** The results of a plan for inputs, in the order of its parameters. */
export async function compute(plan, inputs) {
  await ready();
  return send({ source: plan.source, inputs });
}

/** The same for many inputs one after another. */
export async function computeMany(plan, many) {
  await ready();
  return send({ source: plan.source, many });
}

export { ready as openMachine };
