// Measures the page: `node test/measure.mjs`, or with PLAYGROUND_FILE the whole file. Times of the clock are those of this
// machine as it is; the processor time of all of the browser's processes says what they would be were it idle.

import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { FILE, launch, NAME, open, place, settled, write } from "./browser.mjs";

const ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V";
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const { browser, close } = await launch();
const { address, close: end } = await place();

/** Seconds of processor time of the browser, all processes together. */
async function processor() {
  if (NAME === "firefox") return NaN;
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo.reduce((sum, each) => sum + each.cpuTime, 0);
}

/** Megabytes that the process of a page keeps in memory for itself. */
function resident(pids) {
  return Math.max(...pids.map((pid) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024));
}

async function renderers() {
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo.filter((each) => each.type === "renderer").map((each) => each.id);
}

/** Milliseconds from a click to what is said of wrong answers to the puzzles, the first of all left out. */
async function marking() {
  const other = await open(browser, address);
  await other.click("#tab-exercise");
  const course = "select[aria-label='exercises of the course']";
  await other.waitForSelector(course);
  const puzzles = await other.$eval(course, (list) => [...list.options].find((option) => /puzzle/i.test(option.textContent)).value);
  await other.select(course, puzzles);
  await other.waitForFunction(() => document.querySelectorAll("#view label select option").length === 25);
  const found = [];
  for (const [place, answer] of [["0", "X"], ["1", "X ⊙_{n} X"], ["2", "x + y"], ["8", "∑_{n} X"], ["9", "mean_{n} X"], ["11", "exp X"], ["14", "x ⊙ y"]]) {
    await other.select("#view label select", place);
    await other.waitForSelector("#view .exercise .cm-content");
    await write(other, answer, "#view .exercise .cm-content");
    await new Promise((resolve) => setTimeout(resolve, 600)); // while it is written it is checked too
    found.push(await other.evaluate(async () => {
      const start = performance.now();
      [...document.querySelectorAll("#view button")].find((each) => each.textContent === "grade").click();
      while (!document.querySelector(".feedback")) await new Promise((resolve) => setTimeout(resolve, 5));
      return performance.now() - start;
    }));
  }
  return found.slice(1);
}

/** Seconds from the address of the static page, with a formula that was typed into its link, to values. */
async function linked() {
  const { packedState } = await import("../src/share.js");
  const body = gzipSync(readFileSync(FILE));
  const server = createServer((_, reply) => reply.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Encoding": "gzip" }).end(body)).listen(0);
  const fragment = await packedState({ text: "X ∈ ℝ^{rows[3] × columns[4]}\nY ∈ ℝ^{columns[4] × out[2]}\nrelu(X ⊙_{columns} Y − mean_{columns} X)", tab: "value" });
  const found = [];
  for (let n = 0; n < 5; n++) {
    const before = await processor();
    const page = await open(browser, `http://127.0.0.1:${server.address().port}/playground.html#${fragment}`, { wait: false });
    await page.waitForFunction(() => performance.getEntriesByName("values").length, { timeout: 120_000 });
    found.push([await page.evaluate(() => performance.getEntriesByName("values")[0].startTime / 1000), (await processor()) - before]);
    await page.browserContext().close();
  }
  server.close();
  return { median: median(found.map(([time]) => time)), "processor time, median": median(found.map(([, time]) => time)) };
}

/** Milliseconds from a changed number to the values of attention over 512 positions. */
async function large() {
  const page = await open(browser, address);
  await write(page, `Q ∈ ℝ^{seq'[512] × key[64]}\nK ∈ ℝ^{seq[512] × key[64]}\nV ∈ ℝ^{seq[512] × val[64]}\n${ATTENTION}`);
  await settled(page);
  await page.waitForSelector("input[aria-label='Q at seq\\' 1, key 1']", { timeout: 60_000 });
  const found = [];
  for (let n = 0; n < 7; n++) {
    await page.evaluate(() => performance.clearMarks());
    await page.click("input[aria-label='Q at seq\\' 1, key 1']", { count: 3 });
    await page.keyboard.type(String(n + 1));
    await page.waitForFunction(() => performance.getEntriesByName("values").length, { timeout: 30_000 });
    found.push(await page.evaluate(() => performance.getEntriesByName("values").at(-1).startTime - performance.getEntriesByName("computing").at(-1).startTime));
  }
  await page.browserContext().close();
  return { best: Math.min(...found), median: median(found) };
}

const first = [];
const busy = [];
for (let n = 0; n < (FILE ? 3 : 5); n++) {
  const before = await processor();
  const page = await open(browser, address);
  await page.waitForFunction(() => performance.getEntriesByName("values").length, { timeout: 120_000 });
  first.push(await page.evaluate(() => performance.getEntriesByName("values")[0].startTime));
  busy.push((await processor()) - before);
  await page.browserContext().close();
}

const page = await open(browser, address);
await write(page, ATTENTION);
await settled(page);
const memory = NAME === "firefox" ? NaN : resident(await renderers());
const typed = [];
const values = [];
for (let n = 0; n < 12; n++) {
  await page.evaluate(() => performance.clearMarks());
  const before = await processor();
  await page.focus("#formula");
  await page.keyboard.down("Control");
  await page.keyboard.press("End");
  await page.keyboard.up("Control");
  await page.keyboard.sendCharacter(n % 2 ? "1" : " ");
  await page.waitForFunction(() => performance.getEntriesByName("values").length && performance.getEntriesByName("pause").length, { timeout: 30_000 });
  const [pause, value] = await page.evaluate(() => ["pause", "values"].map((name) => performance.getEntriesByName(name).at(-1).startTime));
  typed.push(value - pause);
  values.push(((await processor()) - before) * 1000);
}
const marks = await marking();
const attention = await large();
const link = FILE ? await linked() : null;
const load = Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
console.log(JSON.stringify({
  browser: NAME, page: FILE ? "whole file" : "served", load,
  "first value, s": { best: Math.min(...first) / 1000, median: median(first) / 1000, "processor time, median": median(busy) },
  "from the end of the pause to types and values, ms": { best: Math.min(...typed), median: median(typed), "processor time of a keystroke, median": median(values) },
  ...(link && { "values of a typed link to the static page, s": link }), "attention 512 × 512 × 64, ms": attention,
  "marking an answer, ms": { median: median(marks), worst: Math.max(...marks) },
  "memory of the tab, MB": memory, "file, MB": FILE ? statSync(FILE).size / 1e6 : statSync(new URL("../../namedtensor/webpage/page.html", import.meta.url)).size / 1e6,
}, (_, value) => (typeof value === "number" ? Math.round(value * 1000) / 1000 : value), 1));
await close();
end();
