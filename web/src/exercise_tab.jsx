// Exercises of a file: the task, an answer, and its feedback. Answers are stored in this browser only.

import sheets from "sheets:";
import { computed, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { answerOf, answersFile, answersFileName, download, keyOf, noteGraded, solved, student } from "./answers.js";
import { Editor } from "./editor.jsx";
import { Drawing } from "./exercise_drawing.jsx";
import { Inline } from "./formula.jsx";
import { Told } from "./paragraph.jsx";
import { ask, graded } from "./python.js";
import { publicAddress, site } from "./share.js";
import { keep, recall } from "./storage.js";

export const file = signal(recall("exercises", ""));
const sheet = signal(null);
const chosen = signal(0);
const MAX_FILE_CHARS = 60_000;
const grades = signal({}); // by the key of an exercise
const problem = signal(null);

const current = computed(() => sheet.value?.[chosen.value] ?? null);

/** Opens a file of exercises, at one of them. */
export async function openExercises(text, name = null) {
  const reply = await ask({ ask: "exercises", file: text }).catch((error) => ({ ok: false, error }));
  if (!reply.ok) {
    problem.value = reply.error;
    return;
  }
  keep("exercises", text);
  problem.value = null;
  file.value = text;
  const title = sheets.find((each) => each.text === text)?.title;
  sheet.value = reply.exercises.map((each) => ({ ...each, key: keyOf(each, title) }));
  chosen.value = Math.max(0, reply.exercises.findIndex((each) => each.name === name));
  grades.value = {};
}

/** What a link to the exercise holds: the name of a sheet of the course, or the released file, which has no solutions. */
export async function exerciseLink() {
  const exercise = current.value?.name;
  if (!exercise) return null;
  const known = sheets.find(({ text }) => text === file.value);
  if (known) return { tab: "exercise", sheet: known.title, exercise };
  const reply = await ask({ ask: "release", file: file.value, name: exercise });
  if (!reply.ok) throw new Error(reply.error.message);
  return { tab: "exercise", exercises: reply.file, exercise };
}

/** Opens the exercises that a link holds, if it does. */
export function openLinked({ exercises, sheet: title, exercise }) {
  const found = typeof exercises === "string" ? exercises.slice(0, MAX_FILE_CHARS) : sheets.find((each) => each.title === title)?.text;
  if (found) openExercises(found, exercise);
  return Boolean(found);
}

async function grade(exercise) {
  const answer = answerOf(exercise.key).value;
  if (!answer.trim()) return true;
  grades.value = { ...grades.value, [exercise.key]: { pending: true } };
  const reply = await graded({ ask: "grade", file: file.value, name: exercise.name, answer }).catch((error) => ({ ok: false, error }));
  noteGraded(exercise.key, answer, reply);
  grades.value = { ...grades.value, [exercise.key]: { of: answer, ...(reply.ok ? reply : { correct: false, feedback: reply.error.message }) } };
  return true;
}

const NONE = [];
const paragraphs = (text) => String(text ?? "").split(/\n\s*\n/).filter(Boolean).map((each, n) => <p key={n}>{each.split(/(`[^`]+`)/).map((part) => (/^`.*`$/.test(part) ? <code>{part.slice(1, -1)}</code> : part))}</p>);

function Hints({ hints }) {
  const shown = useSignal(0);
  useEffect(() => void (shown.value = 0), [hints]);
  return (
    <div class="hints">
      {hints.slice(0, shown.value).map((hint, n) => <p key={n} class="hint">{hint}</p>)}
      {shown.value < hints.length && <button type="button" onClick={() => (shown.value += 1)}>{shown.value ? "another hint" : "a hint"}</button>}
    </div>
  );
}

function Feedback({ grade: found, text }) {
  if (!found || found.pending) return <p class="quiet" role="status">{found ? "grading …" : ""}</p>;
  if (found.of !== text) return <p class="quiet" role="status">{found.correct ? <>Your graded answer <code>{found.of}</code> is correct and is handed in; this text is not graded.</> : "You changed the text: grade it again."}</p>;
  return (
    <div role="status" class={`feedback ${found.correct ? "right" : "wrong"}`}>
      {found.error ? <div class="full"><Told error={found.error} text={found.error.full ?? found.error.message} /></div> : <p>{found.correct && <b>Correct. </b>}{found.feedback}</p>}
      {found.max_points !== undefined && <p class="quiet">{found.points} of {found.max_points} {found.max_points === 1 ? "point" : "points"}</p>}
      {found.solution && <p>Solution: <code>{found.solution}</code></p>}
    </div>
  );
}

/** How many exercises of the sheet are solved, the next one, and the lesson that they belong to. */
function Progress() {
  const all = sheet.value;
  const right = all.filter(({ key }) => solved.value.includes(key)).length;
  const open = (n) => !solved.value.includes(all[n].key);
  const next = [...all.keys()].map((n) => (n + chosen.value + 1) % all.length).find(open) ?? null;
  const go = () => {
    chosen.value = next;
    requestAnimationFrame(() => document.querySelector("#view .exercise")?.scrollIntoView({ block: "nearest" }));
  };
  const lesson = sheets.find(({ text }) => text === file.value)?.lesson;
  const address = lesson && publicAddress(location.href, site.value);
  return (
    <div class="row progress">
      <label class="held"><progress max={all.length} value={right} /> {right} of {all.length} solved</label>
      {next !== null && next !== chosen.value && <button type="button" class={grades.value[current.value.key]?.correct ? "main" : ""} onClick={go}>next exercise</button>}
      {address && <a href={new URL(lesson, address).href} target="_blank" rel="noreferrer">the lesson</a>}
    </div>
  );
}

/** The file with all answers, for anyone who grades them. */
function HandIn() {
  const save = () => download(answersFile(sheet.value, student.value), answersFileName(student.value));
  return (
    <div class="row hand-in">
      <label class="held">your name <input value={student.value} autocomplete="name" maxLength={100} onInput={(event) => (student.value = event.currentTarget.value)} /></label>
      <button type="button" onClick={save}>download my answers</button>
    </div>
  );
}

const FORMULAS = new Set(["formula", "fix", "gradient", "translate"]);

/** The check of an answer while it is typed: its LaTeX, its errors without their repairs, which may be the solution; null for answers that are not formulas. */
function useRead(exercise) {
  const reply = useSignal(null);
  const text = exercise ? answerOf(exercise.key).value : "";
  useEffect(() => {
    if (!exercise || !FORMULAS.has(exercise.kind) || !text.trim()) return void (reply.value = null);
    const inputs = Object.fromEntries(exercise.inputs.map((input) => [input.name, input.type]));
    let stale = false;
    const timer = setTimeout(() => ask({ ask: "check", text, inputs }).then((found) => !stale && (reply.value = found.ok ? { ...found, unrepaired: found.errors.map((error) => ({ ...error, repairs: [] })) } : null), () => {}), 150);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [exercise, text]);
  return reply.value;
}

export function Exercise() {
  useEffect(() => {
    if (file.value && !sheet.value) openExercises(file.value);
  }, []);
  const open = async (event) => {
    const [found] = event.currentTarget.files;
    event.currentTarget.value = "";
    if (found) openExercises(await found.text());
  };
  const choose = (event) => {
    openExercises(sheets[Number(event.currentTarget.value)].text);
    event.currentTarget.value = "";
  };
  const exercise = current.value;
  const read = useRead(exercise);
  return (
    <div class="exercise">
      <div class="row">
        {sheet.value && (
          <label class="held">exercise{" "}
            <select value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
              {sheet.value.map((each, n) => <option key={each.key} value={n}>{solved.value.includes(each.key) ? "✓ " : ""}{each.name}</option>)}
            </select>
          </label>
        )}
        <select aria-label="exercises of the course" onChange={choose} value="">
          <option value="" disabled>exercises of the course</option>
          {sheets.map(({ title }, n) => <option key={title} value={n}>{title}</option>)}
        </select>
        <label class="file"><input type="file" accept=".nt,.txt" aria-label="open a file of exercises" onChange={open} /><span aria-hidden="true">open a file</span></label>
      </div>
      {problem.value && <pre class="wrong full" role="alert">{problem.value.full ?? problem.value.message}</pre>}
      {!exercise && !problem.value && <p class="quiet">Choose those of a lesson, or open a file of your own: prose, what is given, and a reference solution that stays hidden.</p>}
      {exercise && (
        <div class="task" key={exercise.key}>
          <div class="work">
            <div class="prose">{paragraphs(exercise.prose)}</div>
            {exercise.given && <pre class="code small" tabIndex={0} role="group" aria-label="what is given">{exercise.given}</pre>}
            {exercise.forbidden?.length > 0 && <p class="quiet">not allowed: {exercise.forbidden.join(", ")}</p>}
            {exercise.parts?.length > 0 && <p class="quiet">the type of each, one a line: {exercise.parts.map((part) => <code key={part}>{part}</code>)}</p>}
            {exercise.hole && <p class="quiet">the expression at the question mark: <code>{exercise.hole}</code></p>}
            <Editor key={exercise.key} text={answerOf(exercise.key)} label={`your answer to ${exercise.name}`} errors={read?.unrepaired ?? NONE} onSubmit={() => (grade(exercise), true)} />
            {read?.plain_latex && <div class="answer-formula scroll" tabIndex={0} role="group" aria-label="your answer, typeset"><Inline latex={`\\displaystyle ${read.plain_latex}`} /></div>}
            <div class="row"><button type="button" class="main" data-after-editor onClick={() => grade(exercise)}>grade</button><span class="quiet">{exercise.points} {exercise.points === 1 ? "point" : "points"}</span></div>
            <Feedback grade={grades.value[exercise.key]} text={answerOf(exercise.key).value} />
            <Hints hints={exercise.hints ?? []} />
          </div>
          <Drawing file={file.value} exercise={exercise} own={grades.value[exercise.key]?.own} />
          <div class="after-task">
            <Progress />
            <HandIn />
          </div>
        </div>
      )}
    </div>
  );
}
