// A student's answers, stored in this browser only: the text of each, the attempts that were graded, and the file to hand in.

import { effect, signal } from "@preact/signals";
import { keep, recall } from "./storage.js";

const MAX_ATTEMPTS = 50; // of one exercise

export const student = signal(recall("student", ""));
effect(() => keep("student", student.value));

const texts = new Map(); // signals, by the name of an exercise

export function answerOf(name) {
  if (!texts.has(name)) {
    texts.set(name, signal(recall(`answer ${name}`, "")));
    effect(() => keep(`answer ${name}`, texts.get(name).value));
  }
  return texts.get(name);
}

export const attemptsOf = (name) => recall(`attempts ${name}`, []).filter((each) => typeof each === "string");

/** Adds an answer as the last attempt. Above the limit, the first attempt stays, since it may be the one that counts. */
function added(attempts, answer) {
  const all = attempts.at(-1) === answer ? attempts : [...attempts, answer];
  return all.length > MAX_ATTEMPTS ? [all[0], ...all.slice(1 - MAX_ATTEMPTS)] : all;
}

/** Notes an answer by its grade, unless grading failed or the answer does not count. */
export function noteGraded(name, answer, reply) {
  if (!reply.ok || reply.counts_as_attempt === false) return;
  keep(`attempts ${name}`, added(attemptsOf(name), answer));
}

/** The attempts as the file that `namedtensor exercises grade` reads. Ungraded text is the last attempt of an exercise that is not solved. */
export function answersFile(exercises, name, solved = []) {
  const blocks = exercises.flatMap((exercise) => {
    const graded = attemptsOf(exercise.name).map((each) => each.trim()).filter(Boolean);
    const written = answerOf(exercise.name).value.trim();
    const attempts = solved.includes(exercise.name) && graded.length > 0 ? graded : (written ? added(graded, written) : graded);
    return attempts.map((answer) => `#: exercise ${exercise.name}\n${answer}\n`);
  });
  return [...(name.trim() ? [`#: student ${name.trim().replace(/\s+/g, " ")}\n`] : []), ...blocks].join("\n");
}

/** What the file is called: after the student. */
export const answersFileName = (name) => `${name.trim().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() || "answers"}.nt`;

export const download = (text, name) => downloadBlob(new Blob([text], { type: "text/plain" }), name);

export function downloadBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
