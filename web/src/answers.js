// A student's answers, stored in this browser only: the text of each, the attempts that were graded, and the file to hand in.

import { effect, signal } from "@preact/signals";
import { streamOf } from "./random.js";
import { keep, recall } from "./storage.js";

const MAX_ATTEMPTS = 50; // of one exercise

export const student = signal(recall("student", ""));
effect(() => keep("student", student.value));

/** The key of an exercise in this browser. In a file without a title, the key depends on the text of the exercise, since other files have exercises of the same name. */
export const keyOf = ({ name, prose, given }, title) => `${title ?? streamOf(`${prose}\n${given}`)}: ${name}`;

export const solved = signal(recall("solved", [])); // keys of exercises
effect(() => keep("solved", solved.value));

const texts = new Map(); // signals, by the key of an exercise

export function answerOf(key) {
  if (!texts.has(key)) {
    texts.set(key, signal(recall(`answer ${key}`, "")));
    effect(() => keep(`answer ${key}`, texts.get(key).value));
  }
  return texts.get(key);
}

export const attemptsOf = (key) => recall(`attempts ${key}`, []).filter((each) => typeof each === "string");

/** Adds an answer as the last attempt. Above the limit, the first attempt stays, since it may be the one that counts. */
function added(attempts, answer) {
  const all = attempts.at(-1) === answer ? attempts : [...attempts, answer];
  return all.length > MAX_ATTEMPTS ? [all[0], ...all.slice(1 - MAX_ATTEMPTS)] : all;
}

/** Notes an answer and whether it solves the exercise, unless grading failed or the answer does not count. */
export function noteGraded(key, answer, reply) {
  if (!reply.ok || reply.counts_as_attempt === false) return;
  keep(`attempts ${key}`, added(attemptsOf(key), answer));
  const others = solved.value.filter((each) => each !== key);
  solved.value = reply.correct ? [...others, key] : others;
}

/** The attempts as the file that `namedtensor exercises grade` reads. Ungraded text is the last attempt of an exercise that is not solved. */
export function answersFile(exercises, name) {
  const blocks = exercises.flatMap((exercise) => {
    const graded = attemptsOf(exercise.key).map((each) => each.trim()).filter(Boolean);
    const written = answerOf(exercise.key).value.trim();
    const attempts = solved.value.includes(exercise.key) && graded.length > 0 ? graded : (written ? added(graded, written) : graded);
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
