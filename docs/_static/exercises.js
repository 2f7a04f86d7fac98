// The exercise boxes of the lessons. Answers are graded by the playground, which a hidden frame loads with the first answer.

const PREFIX = "named-tensors "; // as the playground keeps answers, attempts and what is solved, so that both show the same
const MAX_ATTEMPTS = 50; // of one exercise
const STARTING_LIMIT = 120_000; // milliseconds until Python in the playground has started
const STARTING = "starting Python in this page …";

function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // private windows and full disks keep nothing
  }
}

/** Adds an answer as the last attempt. Above the limit, the first attempt stays, since it may be the one that counts. */
function noteAttempt(key, answer) {
  const before = recall(`attempts ${key}`, []);
  const all = before.at(-1) === answer ? before : [...before, answer];
  keep(`attempts ${key}`, all.length > MAX_ATTEMPTS ? [all[0], ...all.slice(1 - MAX_ATTEMPTS)] : all);
}

/** Notes an answer and whether it solves the exercise, unless grading failed or the answer does not count. */
function noteGraded(key, answer, reply) {
  if (!reply.ok || reply.counts_as_attempt === false) return;
  noteAttempt(key, answer);
  const others = recall("solved", []).filter((each) => each !== key);
  keep("solved", reply.correct ? [...others, key] : others);
}

// -------------------------------------------------------------------------------------------------------- the grader
let grader = null;
const waiting = new Map();

/** The window of the hidden playground, when it is ready. */
function opened(address) {
  grader ??= new Promise((resolve, reject) => {
    const frame = document.createElement("iframe");
    frame.hidden = true;
    frame.title = "grader";
    frame.src = address;
    addEventListener("message", ({ data, source }) => {
      if (source !== frame.contentWindow) return;
      if (data?.ready) resolve(frame.contentWindow);
      waiting.get(data?.number)?.(data.reply);
      waiting.delete(data?.number);
    });
    setTimeout(() => reject(new Error("Python could not be started in this page: open the exercise in the playground instead")), STARTING_LIMIT);
    document.body.append(frame);
  });
  return grader;
}

let count = 0;
async function graded(address, question) {
  const to = await opened(address);
  const number = ++count;
  return new Promise((resolve) => {
    waiting.set(number, resolve);
    to.postMessage({ ask: "grade", number, ...question }, "*");
  });
}

// --------------------------------------------------------------------------------------------------------- a value
const element = (tag, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};

const shown = (x) => (x === null ? "∞" : Number(x.toPrecision(3)).toString().replace("-", "−"));

/** A value as tables of its last two axes; the elements that differ are framed. */
function grid(name, { axes, data, differs }) {
  const sizes = axes.map(([, size]) => size);
  const [rows, columns] = [sizes.at(-2) ?? 1, sizes.at(-1) ?? 1];
  const largest = Math.max(1e-300, ...data.map((x) => Math.abs(x ?? 0)));
  const wrong = new Set(differs ?? []);
  const tables = [];
  for (let start = 0; start < data.length; start += rows * columns) {
    const table = element("table");
    for (let row = 0; row < rows; row++) {
      const line = table.insertRow();
      for (let column = 0; column < columns; column++) {
        const at = start + row * columns + column;
        const cell = line.insertCell();
        cell.textContent = shown(data[at]);
        cell.className = `${(data[at] ?? 0) < 0 ? "cold" : "warm"}${wrong.has(at) ? " differs" : ""}`;
        cell.style.setProperty("--heat", `${Math.round((38 * Math.abs(data[at] ?? 0)) / largest)}%`);
      }
    }
    tables.push(table);
  }
  const kind = axes.length ? `ℝ^{${axes.map(([axis, size]) => `${axis}[${size}]`).join(" × ")}}` : "ℝ";
  return element("figure", { className: "grid" }, element("figcaption", {}, element("b", {}, name), ` ∈ ${kind}`), element("div", {}, ...tables));
}

function show(into, reply) {
  const feedback = reply.ok ? reply.feedback : reply.error.message;
  const text = reply.correct ? feedback.replace(/^./, (first) => first.toUpperCase()) : feedback;
  into.className = `feedback ${reply.correct ? "right" : "wrong"}`;
  into.replaceChildren(/\n/.test(text) ? element("pre", {}, text) : element("p", {}, text));
  if (reply.own && !reply.correct) {
    into.append(grid("your value", reply.own));
    if (reply.own.differs?.length) into.append(element("p", { className: "quiet" }, `${reply.own.differs.length} of ${reply.own.data.length} elements differ from the expected value.`));
  }
}

// ------------------------------------------------------------------------------------------------------------ the box
/** Puts a sign where the caret is; `back` characters of it are behind the caret then. */
function put(field, sign, back, from = field.selectionStart) {
  field.setRangeText(sign, from, field.selectionEnd, "end");
  field.selectionStart = field.selectionEnd = field.selectionEnd - back;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

function begin(form) {
  const { sheet, exercise } = form.dataset;
  const key = `${sheet}: ${exercise}`;
  const box = form.closest(".exercise-box");
  const address = box.querySelector(".opens a").href.replace(/#.*/, "?grader");
  const field = form.querySelector("textarea");
  const feedback = form.querySelector(".feedback");
  const buttons = [...form.querySelectorAll(".signs button")];
  field.value = recall(`answer ${key}`, "");
  box.classList.toggle("solved", recall("solved", []).includes(key));
  field.addEventListener("focus", () => opened(address).catch(() => {}), { once: true });
  field.addEventListener("input", () => {
    keep(`answer ${key}`, field.value);
    field.rows = Math.max(field.rows, field.value.split("\n").length);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && (field.rows === 1 || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
    if (event.key !== " " && event.key !== "Tab") return;
    const macro = /\\([A-Za-z]+)$/.exec(field.value.slice(0, field.selectionStart));
    const button = macro && buttons.find((each) => each.dataset.macro === macro[1]);
    if (!button) return;
    event.preventDefault();
    put(field, button.textContent.replace("−", ""), 0, field.selectionStart - macro[0].length);
  });
  for (const button of buttons) button.addEventListener("click", () => put(field, button.dataset.put, Number(button.dataset.back)));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = field.value.trim();
    if (!answer) return field.focus();
    feedback.className = "feedback quiet";
    feedback.textContent = "grading …";
    const late = setTimeout(() => (feedback.textContent = STARTING), 700);
    const reply = await graded(address, { sheet, name: exercise, answer }).catch((error) => ({ ok: false, error }));
    clearTimeout(late);
    show(feedback, reply);
    noteGraded(key, answer, reply);
    box.classList.toggle("solved", recall("solved", []).includes(key));
  });
  form.hidden = false;
}

document.querySelectorAll(".exercise-box form").forEach(begin);
