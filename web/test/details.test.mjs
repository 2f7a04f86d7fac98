// What a reader notices while writing: colors that stay, data that undo brings back, sets, sizes, words for screen readers.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, leave, open, place, send, settled, show, textOf, until, write } from "./browser.mjs";

const DECLARED = "Q ∈ ℝ^{key[4]}\nK ∈ ℝ^{seq[5] × key[4]}\n";
let browser, end, where;

before(async () => {
  ({ browser, close: end } = await launch());
  where = await place();
});
after(async () => {
  await end?.();
  where?.close();
});

async function reading(text) {
  const page = await open(browser, where.address);
  await write(page, text);
  await right(page, text);
  return page;
}

const right = async (page, text) => {
  await until(page, (wanted) => document.querySelector(".formula[data-state=right]") && document.querySelector("#formula").textContent.replace(/\s/g, "") === wanted.replace(/\s/g, ""), [text]);
  await settled(page);
};

const press = async (page, key, ...held) => {
  for (const each of held) await page.keyboard.down(each);
  await page.keyboard.press(key);
  for (const each of held.reverse()) await page.keyboard.up(each);
};

/** The number of the color in which a name of an axis is set, in the formula and in what it is given. */
const colors = (page, name) => page.evaluate((name) => [...document.querySelectorAll(".formula .katex-html .nt-axis, .input .nt-axis, .legend .nt-axis, .step .katex-html .nt-axis, .cm-content .nt-axis")]
  .filter((each) => each.textContent.replace("′", "'") === name).map((each) => /nt-(\d)/.exec(each.className)[1]), name);

test("an axis keeps its color while other axes come before it", async () => {
  const page = await reading(DECLARED + "(∑_{seq} K)");
  const before = new Set(await colors(page, "key"));
  assert.equal(before.size, 1);
  await page.focus("#formula");
  await press(page, "Home", "Control");
  await send(page, "V ∈ ℝ^{val[2] × new[3]}\n");
  await press(page, "End", "Control");
  await send(page, " ⊙ V");
  await until(page, () => document.querySelector(".input .name[data-name=V]"));
  await settled(page);
  const found = await colors(page, "key");
  assert.ok(found.length >= 4 && new Set([...found, ...before]).size === 1, `${found} is not ${[...before]}`);
  const all = await Promise.all(["key", "seq", "val", "new"].map(async (name) => (await colors(page, name))[0]));
  assert.equal(new Set(all).size, 4, `${all}`);
  await leave(page);
});

test("what is typed over all of an example has nothing of it, and undo brings all of it back", async () => {
  const page = await open(browser, where.address);
  await until(page, () => [...document.querySelectorAll(".input th")].some((each) => each.textContent === "tired"));
  const example = await textOf(page);
  await page.focus("#formula");
  await press(page, "a", "Control");
  await send(page, "Q ⊙_{key} K");
  await until(page, () => document.querySelector(".formula[data-state=right]") && document.querySelectorAll(".input").length === 2 && /guessed/.test(document.querySelector(".input").textContent));
  assert.ok(!(await page.$eval("main", (each) => each.textContent)).includes("tired"));
  for (let n = 0; n < 20 && (await textOf(page)) !== example; n++) {
    await page.focus("#formula");
    await press(page, "z", "Control");
  }
  assert.equal(await textOf(page), example);
  await until(page, () => [...document.querySelectorAll(".input th")].some((each) => each.textContent === "tired"));
  await leave(page);
});

test("undo takes back numbers, sizes and random draws, from the page and by its button", async () => {
  const page = await reading(DECLARED + "K ⊙_{key} Q");
  const cell = () => page.$eval("input[aria-label='K at seq 2, key 3']", (each) => each.value);
  const first = await cell();
  await page.click("input[aria-label='K at seq 2, key 3']", { count: 3 });
  await page.keyboard.type("42");
  await until(page, () => [...document.querySelectorAll("input.cell")].some((each) => each.value === "42"));
  await new Promise((resolve) => setTimeout(resolve, 500));
  await page.evaluate(() => document.activeElement.blur());
  await page.$$eval(".inputs .row button", (buttons) => buttons.find((each) => each.textContent === "all random").click());
  await until(page, () => ![...document.querySelectorAll("input.cell")].some((each) => each.value === "42"));
  await press(page, "z", "Control");
  await until(page, () => [...document.querySelectorAll("input.cell")].some((each) => each.value === "42"));
  await page.$$eval(".inputs .row button", (buttons) => buttons.find((each) => each.textContent === "undo").click());
  await until(page, (first) => document.querySelector("input[aria-label='K at seq 2, key 3']").value === first, [first]);
  await press(page, "y", "Control");
  await until(page, () => [...document.querySelectorAll("input.cell")].some((each) => each.value === "42"));
  await press(page, "z", "Control");
  await until(page, (first) => document.querySelector("input[aria-label='K at seq 2, key 3']").value === first, [first]);
  assert.equal(await textOf(page), DECLARED + "K ⊙_{key} Q"); // of the text nothing was taken back
  await page.click(".legend input[aria-label='size of seq']", { count: 3 });
  await page.keyboard.type("3");
  await until(page, () => /seq\[3\]/.test(document.querySelector("#formula").textContent));
  await new Promise((resolve) => setTimeout(resolve, 500));
  await page.$$eval(".inputs .row button", (buttons) => buttons.find((each) => each.textContent === "undo").click());
  await until(page, () => /seq\[5\]/.test(document.querySelector("#formula").textContent));
  assert.deepEqual(page.complaints, []);
  await leave(page);
});

test("a size that is too large is refused in words", async () => {
  const page = await reading(DECLARED + "K ⊙_{key} Q");
  await page.click(".legend input[aria-label='size of seq']", { count: 3 });
  await page.keyboard.type("100000");
  await until(page, () => /from 1 to 512/.test(document.querySelector(".legend [role=alert]")?.textContent));
  await leave(page);
});

test("an input is shown in the set of its declaration", async () => {
  const page = await reading("I ∈ [5]^{seq[4]}\nE ∈ ℝ^{vocab[5] × emb[3]}\nB ∈ {0, 1}^{seq}\nE_{vocab(I)} ⊙ B");
  const types = await page.$$eval(".input .type", (found) => found.map((each) => each.getAttribute("aria-label")));
  assert.deepEqual(types, ["[5]^{seq[4]}", "ℝ^{vocab[5] × emb[3]}", "{0, 1}^{seq[4]}"]);
  await leave(page);
});

test("x is read as × in a type, and numbers have no types in a step", async () => {
  const page = await reading("A ∈ ℝ^{a[2] x b[3]}\nx^2 + 1 + ∑_{a} A");
  assert.match(await page.$eval(".status .type", (each) => each.getAttribute("aria-label")), /^ℝ\^\{b\[3\]\}$/);
  await page.$$eval(".step-head", (heads) => heads.find((each) => each.textContent.includes("2")).click());
  for (const head of await page.$$(".step-head")) {
    await head.click();
    await until(page, () => document.querySelector(".step.open .detail"));
    await new Promise((resolve) => setTimeout(resolve, 60));
    const [own, shapes] = await page.evaluate(() => [
      document.querySelector(".step.open .katex-mathml annotation").textContent,
      [...document.querySelectorAll(".step.open dt")].filter((each) => each.textContent === "shapes").length,
    ]);
    if (/^\\htmlData\{at=\d+-\d+\}\{\\htmlData\{at=\d+-\d+\}\{x\}\^\{?2\}?\}$/.test(own)) assert.equal(shapes, 0);
  }
  await leave(page);
});

test("compare tells the numbers that are shown, and no others", async () => {
  const page = await reading("K ∈ ℝ^{seq[2] × key[3]}\n∑_{key} K");
  await show(page, "compare");
  await write(page, "∑_{key} K^3 + 1", "#view [aria-label='the second formula']");
  await until(page, () => document.querySelectorAll("#view td.differs").length === 2 && document.querySelector(".verdict"));
  assert.doesNotMatch(await page.$eval(".verdict", (each) => each.textContent), /\d\.\d/);
  await write(page, "∑_{key} K + L", "#view [aria-label='the second formula']");
  await until(page, () => /the second needs L/.test(document.querySelector(".verdict")?.textContent));
  await leave(page);
});

test("names of operators and axes are words for who hears the page", async () => {
  const page = await reading(DECLARED + "softmax_{seq}(Q ⊙_{key} K)");
  const words = await page.$$eval(".formula .katex-mathml mi", (found) => found.map((each) => each.textContent));
  for (const word of ["softmax", "seq", "key", "Q", "K"]) assert.ok(words.includes(word), `${word} is not among ${words}`);
  await leave(page);
});

test("what was there last is drawn before Python has checked it", async () => {
  const page = await reading("X ∈ ℝ^{a[3]}\n∑_{a} X^2");
  await until(page, () => /"latex":"[^"]*X\^2/.test(localStorage.getItem("named-tensors last") ?? ""));
  await page.evaluateOnNewDocument(() => {
    new MutationObserver(() => {
      if (document.querySelector(".formula .katex")) window.drawn ??= document.querySelector(".python")?.classList.contains("starting") ?? true;
    }).observe(document, { childList: true, subtree: true });
  });
  await page.reload({ waitUntil: "domcontentloaded" });
  await until(page, () => document.querySelector(".formula .katex"), [], 60_000);
  assert.match(await page.$eval(".formula annotation", (each) => each.textContent), /X\}?\^\{?2/);
  assert.equal(await page.evaluate(() => window.drawn), true);
  await leave(page);
});

/** What a button of an opened list of copies gives: a text of the clipboard, or a file or picture as bytes. */
async function copied(page, list, title) {
  return page.evaluate(async (list, title) => {
    let found = null;
    const bytes = async (blob) => [...new Uint8Array(await blob.arrayBuffer())];
    const clipboard = { writeText: async (text) => (found = text), write: async ([item]) => (found = item.blob) };
    Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
    window.ClipboardItem = class { constructor(kinds) { this.blob = kinds["image/png"]; } };
    URL.createObjectURL = (blob) => ((found = blob), "blob:none");
    HTMLAnchorElement.prototype.click = () => {};
    const box = document.querySelector(`button[aria-label="${list}"]`);
    if (box.getAttribute("aria-expanded") !== "true") box.click();
    const button = () => [...box.parentElement.querySelectorAll(".copies button")].find((each) => each.textContent === title);
    while (!button()) await new Promise((resolve) => setTimeout(resolve, 50)); // for a while it says "copied"
    button().click();
    for (let n = 0; found === null && n < 200; n++) await new Promise((resolve) => setTimeout(resolve, 20));
    return typeof found === "string" ? found : bytes(found);
  }, list, title);
}

/** The share of a PNG's pixels that are not its corner's, and its size. */
const inked = (page, bytes) => page.evaluate(async (bytes) => {
  const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  let other = 0;
  for (let n = 0; n < data.length; n += 4) if ([0, 1, 2].some((part) => Math.abs(data[n + part] - data[part]) > 40)) other++;
  return { light: data[0] > 200, share: (4 * other) / data.length, width: image.width, height: image.height };
}, bytes);

test("a formula and a table are copied as text, LaTeX, Typst, SVG and PNG", async () => {
  const page = await reading("K ∈ ℝ^{seq[2] × key[3]}\nsoftmax_{seq}(K / √|key|)");
  assert.equal(await copied(page, "copy the formula", "text"), "K ∈ ℝ^{seq[2] × key[3]}\nsoftmax_{seq}(K / √|key|)");
  assert.match(await copied(page, "copy the formula", "LaTeX"), /\\mathop\{\\mathrm\{softmax\}\}\\limits_\{\\mathsf\{seq\}\}/);
  assert.match(await copied(page, "copy the formula", "Typst"), /op\("softmax", limits: #true\)_\(sans\("seq"\)\) lr\(\\\( frac\(K, sqrt\(\| sans\("key"\) \|\)\) \\\)\)/);
  const drawing = Buffer.from(await copied(page, "copy the formula", "SVG")).toString();
  assert.match(drawing, /^<svg [^>]*>.*@font-face.*KaTeX_Main.*<text [^>]*>softmax<\/text>/s);
  assert.match(drawing, /<svg [^>]*viewBox="0 0 400000/); // the root
  const formula = await inked(page, await copied(page, "copy the formula", "PNG"));
  assert.ok(formula.width > 200 && formula.share > 0.01 && formula.share < 0.5, JSON.stringify(formula));
  await show(page, "value");
  await until(page, () => document.querySelectorAll("#view td[title]").length === 6);
  const table = await copied(page, "copy the value", "table");
  const cells = table.split("\n").map((line) => line.split("\t"));
  assert.deepEqual(cells.map((row) => row.length), [4, 4, 4]);
  assert.equal(cells[0][0], "seq \\ key");
  const shown = await page.$$eval("#view td[title]", (found) => found.map((each) => Number(each.title)));
  cells.slice(1).flatMap((row) => row.slice(1).map(Number)).forEach((x, n) => assert.ok(Math.abs(x - shown[n]) < 1e-4));
  assert.match(await copied(page, "copy the value", "LaTeX"), /^\\begin\{array\}\{r\|rrr\}\n\\text\{seq\} \\backslash \\text\{key\} & 1 & 2 & 3 \\\\ \\hline\n1 & 0\.\d+ &/);
  assert.match(await copied(page, "copy the value", "Typst"), /^#table\(\n {2}columns: 4,.*table\.header\(\[seq ╲ key\], \[1\]/s);
  const grid = await inked(page, await copied(page, "copy the value", "PNG"));
  assert.ok(grid.width > 300 && grid.share > 0.005 && grid.light, JSON.stringify(grid));
  if (process.env.PLAYGROUND_SHOTS) {
    const { writeFileSync } = await import("node:fs");
    for (const list of ["copy the formula", "copy the value"]) writeFileSync(`${process.env.PLAYGROUND_SHOTS}/${list.replaceAll(" ", "-")}.png`, Buffer.from(await copied(page, list, "PNG")));
  }
  assert.deepEqual(page.complaints, []);
  await leave(page);
});

test("nothing is to be undone before anything was done", async () => {
  const page = await open(browser, where.address);
  await until(page, () => document.querySelector(".inputs .row"));
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(await page.$$eval(".inputs .row button", (buttons) => buttons.find((each) => each.textContent === "undo").disabled), true);
  await leave(page);
});

test("an example that was chosen is undone with all that came with it", async () => {
  const page = await reading("K ∈ ℝ^{seq[2] × key[3]}\n∑_{key} K");
  await page.click("input[aria-label='K at seq 1, key 1']", { count: 3 });
  await page.keyboard.type("42");
  await until(page, () => document.querySelector("#formula") && [...document.querySelectorAll("input.cell")].some((each) => each.value === "42"));
  await page.evaluate(() => document.activeElement.blur());
  await page.select("select[aria-label=examples]", "0");
  await until(page, () => [...document.querySelectorAll(".input th")].some((each) => each.textContent === "tired"));
  await new Promise((resolve) => setTimeout(resolve, 600));
  await page.$$eval(".inputs .row button", (buttons) => buttons.find((each) => each.textContent === "undo").click());
  await right(page, "K ∈ ℝ^{seq[2] × key[3]}\n∑_{key} K");
  await until(page, () => document.querySelector("input[aria-label='K at seq 1, key 1']")?.value === "42");
  assert.ok(!(await page.$eval("main", (each) => each.textContent)).includes("tired"));
  await leave(page);
});
