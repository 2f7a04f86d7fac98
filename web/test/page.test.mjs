// The page in a browser: by a server, or, with PLAYGROUND_FILE, the whole file with the network off.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clear, close, FILE, given, launch, leave, NAME, numbers, open, oracle, place, ROOT, send, serve, settled, shot, show, textOf, until, write } from "./browser.mjs";
import { packedState, unpackedState } from "../src/share.js";
import readQr from "jsqr";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V";
const DECLARED = "Q ∈ ℝ^{key[4]}\nK ∈ ℝ^{seq[5] × key[4]}\nV ∈ ℝ^{seq[5] × val[3]}\n";
let browser, end, where;

before(async () => {
  ({ browser, close: end } = await launch());
  where = await place();
});
after(async () => {
  await end?.();
  where?.close();
});

/** The page with a text in it that has a value. */
async function reading(text, options) {
  const page = await open(browser, where.address, options);
  await write(page, text);
  await until(page, (wanted) => document.querySelector(".formula[data-state=right]") && document.querySelector("#formula").textContent.replace(/\s/g, "") === wanted.replace(/\s/g, ""), [text]);
  await settled(page);
  return page;
}

const wholeNumbers = async (page) => {
  await show(page, "value");
  await until(page, () => document.querySelector("#view td[title], #view output.scalar"));
  return numbers(page);
};

test("1. a formula is typeset, its axes have colors, its value is NumPy's", async () => {
  const page = await reading(DECLARED + ATTENTION);
  const colors = await page.$$eval(".formula .katex-html .nt-axis", (names) => new Set(names.map((each) => getComputedStyle(each).color)).size);
  assert.equal(colors, 3);
  const found = await wholeNumbers(page);
  const inputs = await given(page);
  assert.deepEqual(Object.fromEntries(Object.entries(inputs).map(([name, { data }]) => [name, data.length])), { Q: 4, K: 20, V: 15 });
  const due = oracle({ ask: "value", text: ATTENTION, inputs });
  assert.equal(found.length, 3);
  assert.ok(close(found, due), `${found} is not ${due}`);
  await shot(page, "value");
  assert.deepEqual(page.complaints, []);
  await leave(page);
});

test("2. macros become signs, an error has a wave, its hint is a button", async () => {
  const page = await open(browser, where.address);
  await write(page, DECLARED);
  for (const part of ["softmax_{sek}(Q \\odot", "Tab", "_{key} K / √|key|) \\odot", "Tab", "_{seq} V"]) {
    if (part === "Tab") await page.keyboard.press("Tab");
    else for (const letter of part) await page.keyboard.sendCharacter(letter);
  }
  assert.equal((await textOf(page)).split("⊙").length, 3, await textOf(page));
  await until(page, () => document.querySelector(".problem .message"));
  assert.match(await page.$eval(".problem .message", (each) => each.textContent), /^shape error 301: .*sek/);
  assert.deepEqual(await page.$$eval(".cm-lintRange-error", (marks) => marks.map((each) => each.textContent)), ["sek"]);
  assert.match(await page.$eval(".problem", (each) => each.textContent), /did you mean seq\?/);
  await page.click(".problem .numbered");
  await until(page, () => document.querySelector(".paragraph .fixed"));
  assert.match(await page.$eval(".paragraph", (each) => each.textContent), /^301: missing axis.*Fixed:/s);
  await shot(page, "error");
  await page.click(".problem .numbered");
  assert.equal(await page.$(".paragraph"), null);
  await page.click(".problem .repairs button");
  await until(page, () => !document.querySelector(".problem") && document.querySelector(".formula[data-state=right]"));
  assert.ok((await textOf(page)).includes("softmax_{seq}("));
  assert.equal((await wholeNumbers(page)).length, 3);
  await leave(page);
});

test("2. a formula that is ambiguous has a button for each reading", async () => {
  const page = await reading("x ∈ ℝ^{n}\n");
  for (const [number, text] of [[0, "(mean_{n} (x − 1))^2"], [1, "mean_{n}((x − 1)^2)"]]) {
    await write(page, "x ∈ ℝ^{n}\nmean_{n} (x − 1)^2");
    await until(page, () => document.querySelectorAll(".problem .repairs button").length === 2);
    assert.match(await page.$eval(".problem .message", (each) => each.textContent), /it could mean \(mean_\{n\}\(…\)\)\^2 or mean_\{n\}\(\(…\)\^2\)$/);
    const buttons = await page.$$(".problem .repairs button");
    assert.equal(await buttons[number].evaluate((each) => each.textContent), `put in ${text}`);
    await buttons[number].click();
    await until(page, () => !document.querySelector(".problem") && document.querySelector(".formula[data-state=right]"));
    assert.equal(await textOf(page), `x ∈ ℝ^{n}\n${text}`);
  }
  await leave(page);
});

const offered = (page, count) => until(page, (due) => document.querySelectorAll(".translation .reading button").length === due, [count]);

test("2. matrices, indices and array code have their formula as a button", async () => {
  const page = await reading("x ∈ ℝ^{n}\n∑_{n} x");
  for (const [text, formula, declared] of [
    ["QK^⊤", "Q ⊙_{j} K", "Q ∈ ℝ^{i × j}\nK ∈ ℝ^{k × j}\n"],
    ["W_{ij} x_j", "W ⊙_{j} x", "W ∈ ℝ^{i × j}\nx ∈ ℝ^{j}\n"],
    ["np.einsum('ij,jk->ik', A, B)", "A ⊙_{j} B", "A ∈ ℝ^{i × j}\nB ∈ ℝ^{j × k}\n"],
  ]) {
    await write(page, text);
    await until(page, (due) => document.querySelector(".translation .reading button")?.textContent === `put in ${due}`, [formula]);
    await page.click(".translation .reading button");
    await until(page, () => !document.querySelector(".translation") && document.querySelector(".formula[data-state=right]"));
    assert.equal(await textOf(page), declared + formula);
  }
  await write(page, "A^2 B^⊤");
  await offered(page, 2);
  await shot(page, "translation");
  assert.deepEqual(page.complaints, []);
  await leave(page);
});

test("2. array code waits for the axes of its inputs, and a formula follows them", async () => {
  const page = await reading("x ∈ ℝ^{n}\n∑_{n} x");
  await write(page, "A @ B");
  await until(page, () => document.querySelectorAll(".axes-field input").length === 2);
  assert.match(await page.$eval(".translation", (each) => each.textContent), /Name the axes of each, in order/);
  for (const [number, axes] of [[0, "out chans"], [1, "chans batch"]]) await (await page.$$(".axes-field input"))[number].type(axes);
  await offered(page, 1);
  assert.equal(await page.$eval(".translation .reading button", (each) => each.textContent), "put in A ⊙_{chans} B");
  await (await page.$$(".axes-field input"))[1].type("x y");
  await until(page, () => document.querySelector(".translation .wrong"));
  await page.click(".axes-field input", { count: 3 });
  await page.keyboard.type("chans");
  await leave(page);
});

test("2. while a formula is written, what it is given stays in sight", async () => {
  const page = await reading(DECLARED + ATTENTION);
  await page.focus("#formula");
  await page.keyboard.down("Control");
  await page.keyboard.press("End");
  await page.keyboard.up("Control");
  await send(page, " +");
  await until(page, () => document.querySelector(".problem .message"));
  assert.equal((await page.$$(".input")).length, 3);
  assert.equal((await page.$$(".legend input[type=number]")).length, 3);
  await until(page, () => document.querySelector("#view .before"));
  await leave(page);
});

test("3. the part that is pointed at, by mouse or keyboard, has its type told and its step lit", async () => {
  const page = await reading(ATTENTION);
  await until(page, () => document.querySelector(".formula .katex-html [data-at]"));
  await until(page, () => document.querySelector(".step"));
  const odot = await page.$$eval(".formula .katex-html [data-at='14-25']", (found) => {
    const sign = [...found[0].querySelectorAll("span")].find((each) => each.textContent === "⊙" && each.children.length === 0) ?? found[0];
    const { x, y, width, height } = sign.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  });
  await page.mouse.move(...odot);
  await until(page, () => /Q ⊙_\{key\} K/.test(document.querySelector(".status").textContent));
  assert.match(await page.$eval(".status .type", (each) => each.getAttribute("aria-label")), /^ℝ\^\{seq\[\d\]\}$/);
  await until(page, () => document.querySelector(".step.lit"));
  assert.equal(await page.$eval(".step.lit .number", (each) => each.textContent), "3");
  assert.equal(await page.$$eval(".cm-content .lit", (found) => found.map((each) => each.textContent).join("")), "Q ⊙_{key} K");
  await page.mouse.move(5, 5);
  await page.focus(".formula");
  for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  const told = await page.$eval(".status [aria-live]", (each) => each.textContent);
  assert.match(told, / : ℝ/);
  await settled(page);
  for (let turn = 0; turn < 3; turn++) { // Firefox loses a key that comes while the page is busy
    await page.focus("#formula");
    await page.keyboard.down("Control");
    await page.keyboard.press("Home");
    await page.keyboard.up("Control");
    for (let n = 0; n < 17; n++) await page.keyboard.press("ArrowRight");
    const lit = until(page, () => /Q ⊙_\{key\} K/.test(document.querySelector(".status").textContent), [], 10_000);
    if (await lit.then(() => true, () => false)) break;
    assert.notEqual(turn, 2, "the caret's part is not told of");
  }
  await shot(page, "steps");
  await leave(page);
});

test("4. a changed cell changes the value without a question, and the steps with it", async () => {
  const page = await reading(DECLARED + ATTENTION);
  const old = await wholeNumbers(page);
  const asked = page.asked.length;
  const cell = await page.$("input[aria-label='K at seq 2, key 3']");
  await cell.click({ count: 3 });
  await page.keyboard.type("2.5");
  const [before] = old;
  const start = Date.now();
  await until(page, (before) => Number(document.querySelector("#view td[title]").title) !== before, [before]);
  assert.ok(Date.now() - start < 2000);
  const found = await numbers(page);
  assert.ok(close(found, oracle({ ask: "value", text: ATTENTION, inputs: await given(page) })));
  assert.equal(page.asked.length, asked);
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "K at seq 3, key 3");
  await leave(page);
});

test("5. the numbers of every step are those of `explain`", async () => {
  const page = await reading(DECLARED + ATTENTION);
  await show(page, "steps");
  const inputs = await given(page);
  const due = oracle({ ask: "steps", text: DECLARED + ATTENTION, inputs });
  const heads = await page.$$(".step-head");
  let compared = 0;
  for (const head of heads) {
    await head.click();
    await until(page, () => document.querySelector(".step.open .detail"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const found = (await numbers(page, ".step.open .detail")).sort((a, b) => a - b);
    if (due.some((each) => close(found, each.numbers))) compared++;
  }
  assert.ok(heads.length >= 8 && compared === heads.length, `${compared} of ${heads.length} agree`);
  await leave(page);
});

test("5. the axis that is summed collapses, step by step", async () => {
  const page = await reading(DECLARED + ATTENTION);
  await show(page, "steps");
  await page.$$eval(".step-head", (heads) => heads.find((each) => each.querySelector(".number").textContent === "3").click());
  await until(page, () => document.querySelector(".collapse.pairs"));
  const next = async () => page.$$eval(".player button", (buttons) => buttons.find((each) => each.textContent === "next").click());
  await next();
  await until(page, () => document.querySelector(".collapse.apart:not(.pairs)"));
  const products = await page.$$eval(".collapse-row:not(.head):nth-child(2) .collapse-cell", (cells) => cells.map((each) => Number(each.textContent.replace("−", "-"))));
  await next();
  await until(page, () => document.querySelector(".collapse.sliding"));
  await next();
  await until(page, () => document.querySelector(".collapse.done"));
  const sum = await page.$eval(".collapse-row:nth-child(2) .collapse-result", (each) => Number(each.textContent.replace("−", "-")));
  assert.ok(Math.abs(products.reduce((total, each) => total + each, 0) - sum) < 0.02);
  await shot(page, "collapse");
  await leave(page);
});

test("5. the code as loops and for NumPy gives the value, where Python runs it", async () => {
  const page = await reading(DECLARED + ATTENTION);
  const found = await wholeNumbers(page);
  const inputs = await given(page);
  await show(page, "code");
  await until(page, () => document.querySelector("#view pre.code")?.textContent.includes("import numpy"));
  const code = await page.$eval("#view pre.code", (each) => each.textContent);
  const shapes = { Q: [4], K: [5, 4], V: [5, 3] };
  const arrays = Object.entries(shapes).map(([name, shape]) => ({ shape, data: inputs[name].data }));
  assert.ok(close(found, oracle({ ask: "code", code, arrays, inputs: {} })));
  const choose = (title) => page.$$eval("[name=library]", (choices, title) => choices.find((each) => each.nextSibling.textContent === title).click(), title);
  await choose("loops");
  await until(page, () => document.querySelector("#view pre.code")?.textContent.includes("for seq in range(5):"));
  const loops = await page.$eval("#view pre.code", (each) => each.textContent);
  assert.ok(close(found, oracle({ ask: "code", code: loops, arrays, inputs: {} })));
  await page.hover("#view pre.code .line:nth-child(10)");
  await until(page, () => document.querySelector(".formula .lit") && document.querySelector("#view .line.lit"));
  for (const [library, sign] of [["torch", "import torch"], ["jax", "import jax"], ["javascript", "export function"], ["einsum", "no einsum"]]) {
    await choose({ torch: "PyTorch", jax: "JAX", javascript: "JavaScript", einsum: "einsum" }[library]);
    await until(page, (sign) => document.querySelector("#view").textContent.includes(sign), [sign]);
  }
  await leave(page);
});

test("5. the derivative agrees with differences", async () => {
  const page = await reading(DECLARED + ATTENTION);
  await show(page, "derivative");
  for (const name of ["Q", "K", "V"]) {
    await page.$$eval("[name=by]", (choices, name) => choices.find((each) => each.nextSibling.textContent === name).click(), name);
    await until(page, (name) => document.querySelector("[name=by]:checked").nextSibling.textContent === name && document.querySelector("[data-worst]"), [name], 30_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal((await numbers(page)).length, { Q: 12, K: 20, V: 9 }[name]);
    assert.ok(Number(await page.$eval("[data-worst]", (each) => each.dataset.worst)) < 1e-6);
  }
  await shot(page, "derivative");
  await leave(page);
});

test("3. two formulas side by side: how they differ, in words and cell by cell", async () => {
  const page = await reading(DECLARED + ATTENTION);
  await show(page, "compare");
  const second = "#view [aria-label='the second formula']";
  const told = (words) => until(page, (words) => document.querySelector(".verdict")?.textContent.includes(words) && !document.querySelector("#view .problem"), [words]);
  await write(page, ATTENTION.replace(" / √|key|", ""), second);
  await told("the second equals the first without / √|key|");
  await until(page, () => document.querySelectorAll(".side:nth-child(2) td.differs").length === 3);
  await shot(page, "compare");
  await page.$$eval(".compare button", (buttons) => buttons.find((each) => each.textContent === "copy the first").click());
  await told("equal");
  await until(page, () => document.querySelectorAll(".side:nth-child(2) td[title]").length === 3 && !document.querySelector("td.differs"));
  assert.deepEqual(await numbers(page, ".side:nth-child(1)"), await numbers(page, ".side:nth-child(2)"));
  await write(page, ATTENTION.replace("_{key}", "_{kex}"), second);
  await until(page, () => document.querySelector("#view .problem .repairs button"));
  await page.click("#view .problem .repairs button");
  await told("equal");
  await leave(page);
});

test("3. what mends an error is a button, and the palette puts in signs", async () => {
  const page = await open(browser, where.address);
  for (const [wrong, said, right] of [
    ["A ** 2", "put in ^", "A ^ 2"], ["(A + 1", "put in )", "(A + 1)"], ["A + 1)", "remove )", "A + 1"], ["A^-1", "put in {-1}", "A^{-1}"],
    ["A ∈ ℝ^{a[2] × b[3]}\nmean A", "put in mean_{b}", "A ∈ ℝ^{a[2] × b[3]}\nmean_{b} A"],
  ]) {
    await write(page, wrong);
    await until(page, (said) => [...document.querySelectorAll(".repairs button")].some((each) => each.textContent === said), [said]);
    await page.$$eval(".repairs button", (buttons, said) => buttons.find((each) => each.textContent === said).click(), said);
    await until(page, () => !document.querySelector(".problem") && document.querySelector(".formula[data-state=right]"));
    assert.equal(await textOf(page), right);
  }
  await clear(page);
  await send(page, "A ");
  await page.click(".signs button[title^='⊙ with an axis']");
  await page.keyboard.sendCharacter("b");
  assert.equal(await textOf(page), "A ⊙_{b}");
  await leave(page);
});

test("3. numbers are pasted, slid, drawn by seed and read from files", async () => {
  const page = await reading(DECLARED + "V a");
  const data = async (name) => (await given(page))[name].data;
  await page.click("button[aria-label='paste numbers for V']");
  await page.focus(".paste textarea");
  await send(page, "[[1, 2, 3], [4, 5, 6]]");
  await page.$$eval(".paste button", ([button]) => button.click());
  await until(page, () => document.querySelectorAll("input[aria-label^='V at']").length === 6);
  assert.deepEqual(await data("V"), [1, 2, 3, 4, 5, 6]);
  assert.match(await textOf(page), /seq\[2\]/); // the size is that of what was pasted
  const files = mkdtempSync(join(tmpdir(), "numbers-"));
  const input = await page.$("input[aria-label='a file of numbers for V']");
  for (const [name, text, due] of [["V.csv", "x,y,z\n1,2,3\n4,5,7\n", 7], ["V.json", "[[1, 2, 3], [4, 5, 8]]", 8], ["V.tsv", "1\t2\t3\n4\t5\t9", 9]]) {
    writeFileSync(join(files, name), text);
    await input.uploadFile(join(files, name));
    await until(page, (due) => Number(document.querySelector("input[aria-label='V at seq 2, val 3']").value) === due, [due]);
  }
  rmSync(files, { recursive: true });
  await page.click("button[aria-label^='other random numbers for V, seed 2']");
  await until(page, () => document.querySelector("button[aria-label^='other random numbers for V, seed 3']"));
  assert.notDeepEqual(await data("V"), [1, 2, 3, 4, 5, 9]);
  await page.focus("input[aria-label='a, by a slider']");
  const [before] = await data("a");
  await page.keyboard.press("ArrowRight");
  await until(page, (before) => Number(document.querySelector("input[aria-label='a']").value) !== before, [before]);
  await leave(page);
});

test("1. a newcomer sees what this is, clicks a word and has an example", async () => {
  const page = await open(browser, where.address, { wait: false });
  await until(page, () => document.querySelector(".attention .lines path"), [], 90_000);
  assert.match(await page.$eval("header", (each) => each.textContent), /Type a formula with named axes/);
  assert.equal(await page.$$eval(".card svg :is(rect, circle)", (shapes) => shapes.length > 100), true);
  assert.match(await page.$eval(".player", (each) => each.textContent), /step 1 of 7/);
  const map = () => page.$$eval(".attention .percent", (each) => each.map(({ textContent }) => parseInt(textContent)));
  const widths = () => page.$$eval(".attention path", (each) => each.map(({ style }) => parseFloat(style.strokeWidth)));
  const inputs = await given(page);
  const due = oracle({ ask: "value", text: "softmax_{seq}(Q ⊙_{key} K / √|key|)", inputs, order: ["seq'", "seq"] });
  for (const [word, n] of [["it", 4], ["was", 5], ["cat", 1]]) {
    await page.$$eval(".attention .from button", (buttons, word) => buttons.find((each) => each.textContent === word).click(), word);
    await until(page, (n) => document.querySelectorAll(".attention .from button")[n].ariaPressed === "true", [n]);
    const row = due.slice(7 * n, 7 * n + 7);
    assert.deepEqual(await map(), row.map((x) => Math.round(100 * x)));
    assert.equal((await widths()).indexOf(Math.max(...(await widths()))), row.indexOf(Math.max(...row)));
  }
  await page.$$eval(".player button", (buttons) => buttons.find((each) => each.textContent === "play").click());
  await until(page, () => /step 2 of 7/.test(document.querySelector(".player").textContent));
  for (const [title, said] of [["Clusters", "argmin"], ["Image filter", "unroll"], ["Derivative", "∂"]]) {
    await page.$$eval(".card", (cards, title) => cards.find((each) => each.querySelector("b").textContent === title).click(), title);
    await until(page, (said) => document.querySelector("#formula").textContent.includes(said) && document.querySelector(".formula[data-state=right]"), [said]);
    assert.equal(await page.$(".attention"), null);
  }
  await page.click(".cards .close");
  await until(page, () => !document.querySelector(".cards"));
  await page.reload({ waitUntil: "domcontentloaded" });
  await until(page, () => document.querySelector(".python.ready"), [], 90_000);
  assert.equal(await page.$(".cards"), null);
  assert.deepEqual(page.complaints, []);
  await leave(page);
});

test("1. the file has its first picture before Python has started", { skip: !FILE }, async () => {
  const page = await open(browser, where.address, { wait: false });
  await until(page, () => document.querySelector(".attention .lines path") && document.querySelector(".card") && document.querySelector(".step.open .numbers"));
  assert.ok(await page.$(".python.starting"));
  await until(page, () => document.querySelector(".python.ready"), [], 90_000);
  await leave(page);
});

test("6. a link is typeset before anything is asked, and hostile LaTeX in it is refused", async () => {
  for (const [latex, shown] of [["\\sum_{\\mathsf{a}} X", "∑"], ["\\href{javascript:window.harm=1}{x}", null], ["\\htmlStyle{position:fixed}{x}", null], ["}{", null]]) {
    const page = await (await browser.createBrowserContext()).newPage();
    await page.evaluateOnNewDocument(() => (window.fetch = () => new Promise(() => {})));
    await page.goto(`${where.address}#${await packedState({ text: "∑_{a} X", inputs: { X: "ℝ^{a[3]}" }, latex })}`, { waitUntil: "domcontentloaded" });
    await until(page, () => document.querySelector("#formula")?.textContent.includes("X"));
    if (shown) await until(page, (shown) => document.querySelector(".formula .katex-html")?.textContent.includes(shown), [shown]);
    assert.equal(await page.evaluate(() => document.querySelectorAll("main a[href], .formula [style*=fixed]").length + (window.harm ?? 0)), 0);
    await leave(page);
  }
});

test("1. an empty text begins anew, and undo brings back what was given", async () => {
  const page = await open(browser, where.address);
  const words = () => page.$$eval(".input th", (cells) => cells.map((each) => each.textContent));
  await until(page, () => document.querySelector(".input th"));
  assert.ok((await words()).includes("tired"));
  await clear(page);
  await send(page, "Q ⊙_{key} K");
  await until(page, () => document.querySelector(".formula[data-state=right]") && document.querySelectorAll(".input").length === 2);
  assert.ok(!(await words()).includes("tired"));
  for (let n = 0; n < 3 && !(await textOf(page)).includes("softmax"); n++) {
    await page.focus("#formula");
    await page.keyboard.down("Control");
    await page.keyboard.press("z");
    await page.keyboard.up("Control");
  }
  await until(page, () => [...document.querySelectorAll(".input th")].some((each) => each.textContent === "tired"));
  await leave(page);
});

test("6. a link holds exercises, and a hostile file of exercises is text", async () => {
  const state = { tab: "exercise", exercise: "b", exercises: "#: exercise a\n# <img src=x onerror=window.harm=1>\nX ∈ ℝ^{n}\nanswer = X\n#: hint <b onclick=x>h</b>\n\n#: exercise b\n# `<script>window.harm=1</script>` \\href{javascript:window.harm=1}{x}\nX ∈ ℝ^{n}\nanswer = 2 X\n" };
  const page = await open(browser, where.address, { fragment: `#${await packedState(state)}`, wait: false });
  await until(page, () => document.querySelector("#view [aria-label='your answer to b']"), [], 90_000);
  await write(page, "3 X", "#view [aria-label='your answer to b']");
  await page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "grade").click());
  await until(page, () => document.querySelector(".feedback"), [], 60_000);
  assert.match(await page.$eval(".prose", (each) => each.textContent), /<script>window\.harm/);
  await page.select("#view label select", "0");
  await until(page, () => document.querySelector("#view [aria-label='your answer to a']"));
  await page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "a hint").click());
  await until(page, () => document.querySelector(".hints .hint"));
  assert.equal(await page.evaluate(() => [document.querySelectorAll("main img:not(.cm-widgetBuffer), main a[href], main script, main b[onclick]").length, window.harm ?? 0].join()), "0,0");
  await page.$$eval(".share > button", ([button]) => button.click());
  await until(page, () => document.querySelector(".popover input"));
  const link = await page.$eval(".popover input", (each) => each.value);
  const kept = await unpackedState(link.slice(link.indexOf("#")));
  assert.deepEqual(Object.keys(kept).sort(), ["exercise", "exercises", "tab"]);
  assert.ok(kept.exercise === "a" && kept.tab === "exercise" && kept.exercises.includes("#: expected ") && !/answer|2 X/.test(kept.exercises), kept.exercises);
  await page.keyboard.press("Escape");
  await page.select("select[aria-label='exercises of the course']", "1");
  await until(page, () => document.querySelector("#view label select option")?.value === "0" && !document.querySelector("#view [aria-label='your answer to a']"));
  await page.$$eval(".share > button", ([button]) => button.click());
  await until(page, (link) => (document.querySelector(".popover input")?.value ?? link) !== link, [link]);
  const course = await page.$eval(".popover input", (each) => each.value);
  const named = await unpackedState(course.slice(course.indexOf("#")));
  assert.deepEqual(Object.keys(named).sort(), ["exercise", "sheet", "tab"]);
  const other = await open(browser, where.address, { fragment: course.slice(course.indexOf("#")), wait: false });
  await until(other, (name) => document.querySelector(`#view [aria-label="your answer to ${name}"]`), [named.exercise], 90_000);
  await leave(other);
  await leave(page);
});

test("6. a link to a published page has a QR code, and one to this computer says so", { skip: FILE !== null || NAME === "firefox" }, async () => {
  const here = await open(browser, where.address);
  await here.$$eval(".share > button", ([button]) => button.click());
  await until(here, () => document.querySelector(".popover p"));
  assert.match(await here.$eval(".popover", (each) => each.textContent), /works only on this computer/);
  assert.equal(await here.$(".popover svg"), null);
  await leave(here);
  const published = await serve("--site", "https://example.org/playground.html");
  const page = await open(browser, published.address);
  await page.$$eval(".share > button", ([button]) => button.click());
  const code = await page.waitForSelector(".popover .qr svg");
  const link = await page.$eval(".popover input", (each) => each.value);
  assert.match(link, /^https:\/\/example\.org\/playground\.html#[\w-]+$/);
  await page.setViewport({ width: 1280, height: 900, deviceScaleFactor: 3 });
  const image = await code.screenshot({ encoding: "base64" });
  const { data, width, height } = await page.evaluate(async (source) => {
    const picture = Object.assign(new Image(), { src: `data:image/png;base64,${source}` });
    await picture.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const found = context.getImageData(0, 0, picture.width, picture.height);
    return { data: Array.from(found.data), width: found.width, height: found.height };
  }, image);
  assert.equal(readQr(Uint8ClampedArray.from(data), width, height)?.data, link);
  await shot(page, "share");
  await leave(page);
  published.close();
});

test("6. an embedded page has no header, keeps nothing, and leads to the whole one", async () => {
  const state = { text: "∑_{a} X", inputs: { X: "ℝ^{a[3]}" }, tab: "value" };
  const page = await open(browser, where.address, { fragment: `?embed#${await packedState(state)}` });
  await until(page, () => document.querySelector("#tab-value[aria-selected=true]"));
  assert.equal(await page.$("header"), null);
  assert.equal(await page.$eval(".whole-page button", (each) => each.textContent), "open in the playground");
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(await page.evaluate(() => localStorage.getItem("named-tensors last")), null);
  await shot(page, "embedded");
  await leave(page);
});

test("9. the page is allowed nothing but itself, and what it keeps is under its own name", async () => {
  const page = await reading(ATTENTION);
  const policy = await page.$eval("meta[http-equiv=Content-Security-Policy]", (each) => each.content);
  for (const said of ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]) assert.ok(policy.includes(said), policy);
  assert.doesNotMatch(policy, /unsafe-eval'(?<!wasm-unsafe-eval')|https?:|script-src[^;]*unsafe-inline|\*/);
  const refused = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.harm = 1";
    document.body.append(script);
    const fetched = await fetch("https://elsewhere.invalid/").then(() => "answered", () => "refused");
    return [window.harm ?? 0, fetched];
  });
  assert.deepEqual(refused, [0, "refused"]);
  await until(page, () => Object.keys(localStorage).length > 0);
  const names = await page.evaluate(() => Object.keys(localStorage));
  assert.deepEqual(names.filter((name) => !name.startsWith("named-tensors ")), []);
  assert.equal(await page.evaluate(() => document.cookie), "");
  await leave(page);
});

test("6. a link holds text, numbers, tab and the lit part; sharing twice replaces", async () => {
  const page = await reading(ATTENTION);
  await show(page, "code");
  const share = async () => {
    await page.$$eval(".share > button", ([button]) => button.click());
    await until(page, () => document.querySelector(".popover input"));
    return page.$eval(".popover input", (each) => each.value);
  };
  const link = await share();
  assert.equal(link, await share());
  await page.keyboard.press("Escape");
  await until(page, () => !document.querySelector(".popover") && document.activeElement.textContent === "share");
  assert.ok(link.length < 2000, `${link.length}`);
  assert.equal(link.split("#").length, 2);
  const other = await open(browser, where.address, { fragment: link.slice(link.indexOf("#")), wait: false });
  await until(other, () => document.querySelector("#tab-code[aria-selected=true]") && document.querySelector(".input"), [], 90_000);
  assert.equal(await textOf(other), ATTENTION);
  assert.deepEqual(await given(other), await given(page));
  await leave(page);
  await leave(other);
  const earlier = await open(browser, where.address, { fragment: `#${await packedState({ text: "∑_{a} X", inputs: { X: "ℝ^{a[3]}" }, tab: "loops" })}`, wait: false });
  await until(earlier, () => document.querySelector("#view pre.code")?.textContent.includes("for a in range(3):"), [], 90_000); // links of version 0.1
  await leave(earlier);
});

test("7. a text that asks for too much is stopped, and stays", async () => {
  const page = await reading(ATTENTION);
  const endless = "f(n) = f(n + 1)\nf(1)";
  await write(page, endless);
  await until(page, () => document.querySelector(".problem .message"), [], 30_000);
  assert.equal(await textOf(page), endless);
  await write(page, "1 + 1");
  await until(page, () => !document.querySelector(".problem") && document.querySelector(".formula[data-state=right]"), [], 90_000);
  await leave(page);
});

test("8. a phone has no sideways scroll", async () => {
  const page = await reading(DECLARED + ATTENTION, { width: 390, height: 844 });
  for (const tab of ["steps", "value", "code"]) {
    await show(page, tab);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(wide <= seen, `${tab}: ${wide} > ${seen}`);
  }
  await show(page, "steps");
  await shot(page, "phone");
  await leave(page);
});

test("8. axe finds nothing, light and dark, right and wrong, at every tab", { skip: NAME === "firefox" }, async () => {
  const page = await reading(DECLARED + ATTENTION);
  const check = async (state) => {
    await page.evaluate(() => Promise.all(document.getAnimations().map((each) => each.finished.catch(() => {}))));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((each) => each.html.slice(0, 200) + " " + each.any.map((one) => one.message).join(" ").slice(0, 200))]));
    assert.deepEqual(found, [], state);
  };
  await page.evaluate(AXE);
  for (const tab of ["steps", "value", "code", "derivative", "compare", "exercise"]) {
    await show(page, tab);
    await new Promise((resolve) => setTimeout(resolve, 400));
    await check(`light, ${tab}`);
  }
  await show(page, "value");
  for (const what of ["the formula", "the value"]) await page.click(`button[aria-label="copy ${what}"]`);
  await check("light, copies");
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  for (const tab of ["value", "steps"]) {
    await show(page, tab);
    await check(`dark, ${tab}`);
    await shot(page, `dark-${tab}`);
  }
  await write(page, DECLARED + ATTENTION.replace("seq", "sek"));
  await until(page, () => document.querySelector(".problem"));
  await page.evaluate(() => document.activeElement.blur());
  await check("dark, wrong");
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await check("light, wrong");
  await leave(page);
});

test("8. letters are large for a projector", async () => {
  const page = await reading(ATTENTION, { width: 1600, height: 900 });
  await page.click("button[aria-label='large letters for a projector']");
  assert.ok((await page.$eval(".formula .katex", (each) => parseFloat(getComputedStyle(each).fontSize))) > 30);
  await shot(page, "projector");
  await leave(page);
});

test("8. Tab alone goes through the page and is never held", async () => {
  const page = await reading(ATTENTION);
  await page.evaluate(() => document.activeElement.blur());
  await page.focus("#formula");
  const seen = [];
  for (let n = 0; n < 120; n++) {
    await page.keyboard.press("Tab");
    seen.push(await page.evaluate(() => {
      const each = document.activeElement;
      return each === document.body ? "" : each.id || each.getAttribute("aria-label") || each.textContent.slice(0, 20);
    }));
  }
  for (const wanted of ["the formula, typeset; arrows walk through its parts", "Q at key 1", "tab-steps", "play"]) assert.ok(seen.includes(wanted), `${wanted} is not among ${seen}`);
  for (let n = 0; n + 3 < seen.length; n++) assert.ok(new Set(seen.slice(n, n + 4)).size > 1, `held at ${seen[n]}`);
  await leave(page);
});

test("10. every example of the gallery has a value", async () => {
  const page = await open(browser, where.address);
  await until(page, () => document.querySelector("select[aria-label=examples]"));
  const many = await page.$$eval("select[aria-label=examples] option[value]:not([disabled])", (options) => options.length);
  assert.ok(many >= 20, `${many}`);
  await show(page, "value");
  for (let n = 0; n < many; n++) {
    const before = await textOf(page);
    await page.select("select[aria-label=examples]", String(n));
    await until(page, (before, n) => (n === 0 || [...document.querySelectorAll("#formula .cm-line")].map((line) => line.textContent).join("\n") !== before) && document.querySelector(".formula[data-state=right]") && document.querySelector("#view td[title], #view output.scalar"), [before, n], 30_000);
    assert.equal(await page.$$eval(".problem:not(.warned)", (found) => found.map((each) => each.textContent).join()), "", `example ${n}`);
  }
  assert.deepEqual(page.complaints, []);
  await leave(page);
});

test("11. answers are marked in the words of Python", async () => {
  const page = await open(browser, where.address);
  const file = readFileSync(join(ROOT, "namedtensor", "teaching", "lessons", "puzzles.nt"), "utf8");
  await show(page, "exercise");
  await (await page.$("input[aria-label='open a file of exercises']")).uploadFile(join(ROOT, "namedtensor", "teaching", "lessons", "puzzles.nt"));
  await until(page, () => document.querySelectorAll("#view label select option").length === 25, [], 30_000);
  const names = await page.$$eval("#view label select option", (options) => options.map((each) => each.textContent));
  const answers = [[names[0], "x"], [names[0], "0"], [names[1], "X ⊙_{n} X"], [names[3], "A_{row(iota_{row})}"], [names[3], "A_{kolumn(1)}"]];
  const due = oracle({ ask: "grades", file, answers });
  for (const [n, [name, answer]] of answers.entries()) {
    await page.select("#view label select", String(names.indexOf(name)));
    await until(page, (name) => document.querySelector(`#view [aria-label="your answer to ${name}"]`), [name]);
    const editor = `#view [aria-label="your answer to ${name}"]`;
    await write(page, answer, editor);
    await page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "grade").click());
    await until(page, () => document.querySelector(".feedback"), [], 30_000);
    const told = (said) => document.querySelector(".feedback")?.textContent.replace(/\s+/g, " ").includes(said.replace(/\s+/g, " "));
    await until(page, told, [due[n].feedback]).catch(async () => assert.equal(await page.$eval(".feedback", (each) => each.textContent), due[n].feedback));
    assert.equal(await page.$eval(".feedback", (each) => each.classList.contains("right")), due[n].correct);
  }
  await shot(page, "exercise");
  await leave(page);
});

test("11. every model of the course is right, and every slip is told in the words of Python", { skip: NAME === "firefox" || FILE !== null }, async () => {
  const course = oracle({ ask: "course" });
  assert.equal(new Set(course.map(({ file }) => file)).size, 15);
  assert.ok(course.every(({ answers: [[, right], ...slips] }) => right && slips.every(([, right]) => !right)));
  const page = await open(browser, where.address);
  await show(page, "exercise");
  const files = [...new Set(course.map(({ file }) => file))];
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  let marked = 0;
  for (const { file, place, name, answers } of course) {
    if (place === 0) {
      await page.select("select[aria-label='exercises of the course']", String(files.indexOf(file)));
      await until(page, (name) => document.querySelector("#view label select option")?.textContent.replace("✓ ", "") === name, [name]);
    }
    await page.select("#view label select", String(place));
    const editor = `#view [aria-label="your answer to ${name}"]`;
    for (const [answer, right, feedback] of answers) {
      await write(page, answer, editor);
      await page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "grade").click());
      await until(page, () => document.querySelector("#view [role=status]")?.textContent === "grading …" || document.querySelector(".feedback"));
      await until(page, (feedback) => document.querySelector(".feedback")?.textContent.replace(/\s+/g, " ").includes(feedback), [plain(feedback)], 20_000)
        .catch(async () => assert.equal(await page.$eval(".feedback", (each) => each.textContent), feedback, `${name}: ${answer}`));
      assert.equal(await page.$eval(".feedback", (each) => each.classList.contains("right")), right, `${name}: ${answer}`);
      marked++;
    }
  }
  assert.ok(marked > 200, `${marked}`);
  await leave(page);
});

test("11. an exercise is seen as grids, the answer beside the expected value with its wrong cells framed", async () => {
  const page = await open(browser, where.address);
  await show(page, "exercise");
  const path = join(mkdtempSync(join(tmpdir(), "sheet-")), "week.nt");
  writeFileSync(path, "#: exercise upper\nA ∈ ℝ^{row × column}\nanswer = A ⊙ 𝕀[iota_{row} ≤ iota_{column}]\n\n#: exercise total\nX ∈ ℝ^{n × m}\nanswer = ∑_{m} X\n\n#: exercise type kind types\nX ∈ ℝ^{n × m}\nanswer = ∑_{m} X\n");
  await (await page.$("input[aria-label='open a file of exercises']")).uploadFile(path);
  const numbersOf = (title) => page.$$eval(`.drawing [aria-label="${title}"] td[title]`, (cells) => cells.map((cell) => Number(cell.title)));
  const grade = () => page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "grade").click());
  await page.waitForSelector('.drawing section[aria-label="expected"]');
  assert.equal(await page.$eval(".left", (each) => getComputedStyle(each).display), "none"); // no other formula is beside it
  const [given, expected] = [await numbersOf("input A"), await numbersOf("expected")];
  assert.equal(given.length, 12);
  assert.deepEqual(expected, given.map((x, at) => (Math.floor(at / 4) <= at % 4 ? x : 0)));
  await write(page, "A ⊙ 𝕀[iota_{row} < iota_{column}]", '#view [aria-label="your answer to upper"]');
  await grade();
  await page.waitForSelector('.drawing section[aria-label="your value"]');
  assert.deepEqual(await page.$$eval('.drawing [aria-label="your value"] td[title]', (cells) => cells.flatMap((cell, at) => (cell.classList.contains("differs") ? [at] : []))), [0, 5, 10]);
  assert.match(await page.$eval(".drawing > p", (each) => each.textContent), /^3 of 12 elements differ/);
  assert.match(await page.$eval(".progress", (each) => each.textContent), /0 of 3 solved/);
  await write(page, "A ⊙ 𝕀[iota_{column} ≥ iota_{row}]", '#view [aria-label="your answer to upper"]');
  await grade();
  await until(page, () => /1 of 3 solved/.test(document.querySelector(".progress").textContent));
  await page.$$eval(".progress button.main", ([button]) => button.click());
  await page.waitForSelector('#view [aria-label="your answer to total"]');
  await until(page, () => document.querySelector('.drawing [aria-label="input X"]'));
  assert.equal(await page.$('.drawing section[aria-label="your value"]'), null);
  await page.$$eval(".progress button", ([button]) => button.click());
  await page.waitForSelector('#view [aria-label="your answer to type"]');
  assert.equal(await page.$(".drawing"), null);
  await page.click("#tab-steps");
  assert.equal(await page.$eval(".left", (each) => getComputedStyle(each).display), "flex");
  assert.deepEqual(page.complaints, []);
  rmSync(join(path, ".."), { recursive: true });
  await leave(page);
});

test("11. answers are downloaded as the file that graders read, every attempt in its order", async () => {
  const page = await open(browser, where.address);
  await show(page, "exercise");
  const file = "#: exercise total\nX ∈ ℝ^{n × m}\nanswer = ∑_{m} X\n\n#: exercise half\nX ∈ ℝ^{n}\nanswer = X / 2\n";
  const path = join(mkdtempSync(join(tmpdir(), "sheet-")), "week.nt");
  writeFileSync(path, file);
  await (await page.$("input[aria-label='open a file of exercises']")).uploadFile(path);
  await page.waitForSelector('#view [aria-label="your answer to total"]');
  for (const answer of ["∑_{n} X", "X", "∑_{m} X"]) {
    await write(page, answer, '#view [aria-label="your answer to total"]');
    if (answer !== "X") {
      await page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "grade").click());
      await until(page, (right) => document.querySelector(".feedback")?.classList.contains(right ? "right" : "wrong"), [answer === "∑_{m} X"]);
    }
  }
  await write(page, "∑_{m} X + 1", '#view [aria-label="your answer to total"]'); // not graded after the correct answer
  await until(page, () => !document.querySelector(".feedback.right") && /∑_\{m\} X is correct and is handed in/.test(document.querySelector("#view").textContent));
  await page.type(".hand-in input", "Ada Lovelace");
  const found = await page.evaluate(async () => {
    let blob, name;
    URL.createObjectURL = (given) => ((blob = given), "blob:none");
    HTMLAnchorElement.prototype.click = function () { name = this.download; };
    [...document.querySelectorAll("#view button")].find((each) => each.textContent === "download my answers").click();
    return { text: await blob.text(), name };
  });
  assert.deepEqual(found, { name: "ada-lovelace.nt", text: "#: student Ada Lovelace\n\n#: exercise total\n∑_{n} X\n\n#: exercise total\n∑_{m} X\n" });
  rmSync(join(path, ".."), { recursive: true });
  await leave(page);
});

test("11. a graded answer is handed in although the server dies over the next one", { skip: FILE !== null }, async () => {
  const page = await open(browser, where.address);
  await show(page, "exercise");
  const path = join(mkdtempSync(join(tmpdir(), "sheet-")), "week.nt");
  writeFileSync(path, "#: exercise total\nX ∈ ℝ^{n × m}\nanswer = ∑_{m} X\n");
  await (await page.$("input[aria-label='open a file of exercises']")).uploadFile(path);
  const editor = '#view [aria-label="your answer to total"]';
  await page.waitForSelector(editor);
  const grade = () => page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "grade").click());
  const handed = () => page.evaluate(async () => {
    let blob;
    URL.createObjectURL = (given) => ((blob = given), "blob:none");
    HTMLAnchorElement.prototype.click = function () {};
    [...document.querySelectorAll("#view button")].find((each) => each.textContent === "download my answers").click();
    return blob.text();
  });
  await write(page, "∑_{m} X", editor);
  await grade();
  await until(page, () => document.querySelector(".feedback.right"));
  await page.setOfflineMode(true);
  await write(page, "∑_{n} X", editor);
  await grade();
  await until(page, () => /does not answer/.test(document.querySelector(".feedback.wrong")?.textContent));
  assert.equal(await handed(), "#: exercise total\n∑_{m} X\n");
  await page.setOfflineMode(false);
  await page.reload();
  await page.waitForSelector("#tab-exercise");
  await show(page, "exercise");
  await page.waitForSelector(editor);
  assert.equal(await page.$eval(editor, (each) => each.querySelector(".cm-line").textContent), "∑_{n} X");
  assert.equal(await handed(), "#: exercise total\n∑_{m} X\n");
  await grade();
  await until(page, () => document.querySelector(".feedback.wrong") && !/does not answer/.test(document.querySelector(".feedback").textContent));
  assert.equal(await handed(), "#: exercise total\n∑_{m} X\n\n#: exercise total\n∑_{n} X\n");
  rmSync(join(path, ".."), { recursive: true });
  await leave(page);
});

test("7. an answer that takes too long is told so in time, and the next one is marked", { skip: !FILE }, async () => {
  const page = await open(browser, where.address);
  await show(page, "exercise");
  const course = "select[aria-label='exercises of the course']";
  await page.select(course, await page.$eval(course, (list) => [...list.options].find((option) => /puzzle/i.test(option.textContent)).value));
  await until(page, () => document.querySelectorAll("#view label select option").length === 25);
  const mark = () => page.$$eval("#view button", (buttons) => buttons.find((each) => each.textContent === "grade").click());
  const editor = "#view .exercise .cm-content";
  await page.waitForSelector(editor);
  const large = Array.from({ length: 11 }, (_, n) => `a${n + 1} = a${n} ⊙ a${n}_{n→n${n + 1}}`); // 3^12 numbers
  await write(page, ["a0 = X", ...large, "a11"].join("\n"), editor);
  await settled(page);
  await mark();
  await until(page, () => document.querySelector(".feedback")?.textContent.includes("could not be graded in 2 seconds"), [], 30_000);
  await write(page, "0 X + 1", editor);
  await until(page, () => document.querySelector(".python.ready"), [], 90_000);
  await mark();
  await until(page, () => document.querySelector(".feedback.right"), [], 30_000);
  await leave(page);
});

test("9. what is hostile stays text", async () => {
  const page = await reading(ATTENTION);
  for (const text of ["\\href{javascript:window.harm=1}{x}", "<img src=x onerror=window.harm=1>", "\\htmlData{at=1}{x}", "x </script><script>window.harm=1</script>", "A_{<b>}"]) {
    await write(page, text);
    await until(page, () => document.querySelector(".problem .message"), [], 30_000);
    assert.equal(await page.evaluate(() => [document.querySelectorAll("main img:not(.cm-widgetBuffer), main a[href], main script").length, window.harm ?? 0].join()), "0,0");
  }
  await clear(page);
  for (const fragment of ["#AAAA", "#" + "A".repeat(5000), "#%00", "#eyJ0ZXh0IjoxfQ"]) {
    const other = await open(browser, where.address, { fragment, wait: false });
    await until(other, () => document.querySelector("#formula"));
    await until(other, () => document.querySelector(".text [role=alert]"));
    assert.deepEqual(other.complaints, []);
    await leave(other);
  }
  await leave(page);
});

test("a damaged link says so, and a whole one afterwards does not", async () => {
  const whole = await packedState({ text: "∑_{a} X", inputs: { X: "ℝ^{a[3]}" } });
  const page = await open(browser, where.address, { fragment: `#${whole.slice(0, -12)}` });
  assert.match(await page.$eval(".text [role=alert]", (each) => each.textContent), /This link is damaged/);
  await page.evaluate((fragment) => (location.hash = fragment), whole);
  await until(page, () => !document.querySelector(".text [role=alert]") && document.querySelector("#formula").textContent === "∑_{a} X");
  await leave(page);
});

test("Enter begins a line, with completions open and without, and a known name opens none", async () => {
  const page = await reading("g ∈ ℝ^{a[3]}\n2 g");
  await write(page, "g ∈ ℝ^{a[3]}\n");
  for (const letter of "2 g") await page.keyboard.sendCharacter(letter);
  await settled(page);
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(await page.$(".completions"), null);
  await page.keyboard.press("Enter");
  assert.equal(await textOf(page), "g ∈ ℝ^{a[3]}\n2 g\n");
  for (const letter of "sof") await page.keyboard.sendCharacter(letter);
  await page.waitForSelector(".completions li");
  await new Promise((resolve) => setTimeout(resolve, 200)); // a list that has just opened takes no key
  await page.keyboard.press("Enter");
  assert.match(await textOf(page), /\nsof\n$/);
  for (const letter of "standar") await page.keyboard.sendCharacter(letter);
  await page.waitForSelector(".completions li");
  await new Promise((resolve) => setTimeout(resolve, 200)); // a list that has just opened takes no key
  await page.keyboard.press("Tab");
  assert.match(await textOf(page), /\nsof\nstandardize$/);
  await leave(page);
});

test("an exercise shows where an answer is wrong, without a button that repairs it", async () => {
  const page = await open(browser, where.address);
  await show(page, "exercise");
  const path = join(mkdtempSync(join(tmpdir(), "sheet-")), "week.nt");
  writeFileSync(path, "#: exercise slip kind fix\nX ∈ ℝ^{seq × key}\n∑_{sek} X\nanswer = ∑_{seq} X\n");
  await (await page.$("input[aria-label='open a file of exercises']")).uploadFile(path);
  const editor = '#view [aria-label="your answer to slip"]';
  await page.waitForSelector(editor);
  await write(page, "∑_{sek} X", editor);
  await page.waitForSelector("#view .cm-lintRange-error");
  assert.equal(await page.$("#view .repairs button"), null);
  await page.hover("#view .cm-lintRange-error");
  await page.waitForSelector(".cm-tooltip .cm-diagnosticText");
  assert.equal(await page.$(".cm-tooltip button"), null);
  rmSync(join(path, ".."), { recursive: true });
  await leave(page);
});

test("nothing is asked of anyone else", { skip: !FILE && NAME === "firefox" }, async () => {
  const page = await reading(ATTENTION);
  const others = page.asked.filter((each) => !each.startsWith("blob:") && !each.startsWith("data:") && !each.startsWith(where.address));
  assert.deepEqual(others, []);
  if (FILE) assert.ok(statSync(FILE).size <= 10e6);
  await leave(page);
});
