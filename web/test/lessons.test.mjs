// The exercise boxes of the lessons, graded by the whole file in a hidden frame. Needs PLAYGROUND_FILE; a server refuses frames.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FILE, launch, open, PYTHON, ROOT, send, until } from "./browser.mjs";

const BOXES = `
import sys
sys.path[:0] = ["docs", "docs/_extensions"]
from exercise_boxes import parts_of
for stem, name in (("1_axes", "column-sums"), ("1_axes", "types-of-a-table"), ("8_signatures", "root-mean-square")):
    print('<div class="exercise-box">', *parts_of(stem, name, "", True), "</div>")
`;

let browser;
let folder;
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "lessons-"));
  if (!FILE) return;
  const boxes = execFileSync(PYTHON, ["-c", BOXES], { cwd: ROOT, encoding: "utf8", env: { ...process.env, PYTHONPATH: ROOT, PYTHONUTF8: "1" } });
  copyFileSync(join(ROOT, "docs", "_static", "exercises.js"), join(folder, "exercises.js"));
  symlinkSync(FILE, join(folder, "playground.html"));
  writeFileSync(join(folder, "lesson.html"), `<!doctype html><meta charset="utf-8"><title>lesson</title>${boxes}<script src="exercises.js"></script>`);
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

async function graded(page, name, answer) {
  const field = `#answer-${name}`;
  await page.$eval(field, (each) => (each.value = ""));
  await page.focus(field);
  await send(page, answer);
  const box = (await page.$(field)).evaluateHandle((each) => each.closest(".exercise-box"));
  await (await box).evaluate((each) => (each.querySelector(".feedback").replaceChildren(), each.querySelector("button.grade").click()));
  await until(page, (field) => document.querySelector(field).closest(".exercise-box").querySelector(".feedback.right, .feedback.wrong")?.textContent, [field], 120_000);
  return (await box).evaluate((each) => ({ right: each.querySelector(".feedback").classList.contains("right"), text: each.querySelector(".feedback").textContent, solved: each.classList.contains("solved"), cells: each.querySelectorAll(".feedback td").length }));
}

test("a box grades answers with Python's feedback, in the page", { skip: !FILE }, async () => {
  const page = await open(browser.browser, `file://${join(folder, "lesson.html")}`, { wait: false });
  const wrong = await graded(page, "column-sums", "∑_{width} A");
  assert.equal(wrong.right, false);
  assert.match(wrong.text, /^This sums each row\. The result has one element per row instead of one per column\./);
  assert.equal(wrong.cells, 3); // the value of the answer, which has other axes
  assert.match((await graded(page, "column-sums", "∑_{hieght} A")).text, /error 301[^]*did you mean height\?/);
  const right = await graded(page, "column-sums", "∑_{height} A");
  assert.deepEqual(right, { right: true, text: "Correct on all 8 random tests", solved: true, cells: 0 });
  assert.match((await graded(page, "types-of-a-table", "ℝ^{height}; ℝ; ℝ^{height}")).text, /The contraction over height removes height/);
  assert.ok((await graded(page, "root-mean-square", "√(mean_{chans}(X^2))")).right);
  assert.equal(await page.$$eval("iframe", (frames) => frames.length), 1);
  assert.deepEqual(page.asked.filter((address) => !/^(file|blob|data):/.test(address)), []);
  assert.deepEqual(page.complaints, []);
});

test("answers, attempts and what is solved are those of the playground", { skip: !FILE }, async () => {
  const page = await open(browser.browser, `file://${join(folder, "lesson.html")}`, { wait: false });
  await graded(page, "column-sums", "∑_{width} A");
  await graded(page, "column-sums", "∑_{height} A");
  const kept = await page.evaluate(() => Object.fromEntries(["answer lesson 1 axes: column-sums", "attempts lesson 1 axes: column-sums", "solved"].map((name) => [name, JSON.parse(localStorage.getItem(`named-tensors ${name}`))])));
  assert.deepEqual(kept, { "answer lesson 1 axes: column-sums": "∑_{height} A", "attempts lesson 1 axes: column-sums": ["∑_{width} A", "∑_{height} A"], solved: ["lesson 1 axes: column-sums"] });
  await page.reload();
  assert.equal(await page.$eval("#answer-column-sums", (each) => each.value), "∑_{height} A");
  assert.ok(await page.$eval(".exercise-box", (each) => each.classList.contains("solved")));
  assert.equal((await graded(page, "column-sums", "∑_{width} A")).solved, false);
});

test("signs are inserted by buttons and by their names", { skip: !FILE }, async () => {
  const page = await open(browser.browser, `file://${join(folder, "lesson.html")}`, { wait: false });
  await page.focus("#answer-column-sums");
  await page.keyboard.type("\\sum _{height} A");
  assert.equal(await page.$eval("#answer-column-sums", (each) => each.value), "∑_{height} A");
  await page.$eval("#answer-types-of-a-table", (each) => each.closest("form").querySelector('[data-macro="reals"]').click());
  await page.keyboard.type("width");
  assert.equal(await page.$eval("#answer-types-of-a-table", (each) => each.value), "ℝ^{width}");
});
