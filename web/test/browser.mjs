// What the tests of the page share: a browser, the page in it, a reader's hands and eyes.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

export const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(HERE, "..", "..");
export const NAME = process.env.PLAYGROUND_BROWSER ?? "chromium";
export const PYTHON = process.env.PYTHON ?? "python3";
/** A file that holds all, or nothing where the page comes from a server. */
export const FILE = process.env.PLAYGROUND_FILE ?? null;
export const SHOTS = process.env.PLAYGROUND_SHOTS ?? null;

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update", "--disable-sync", "--no-default-browser-check"];

export async function launch() {
  const userDataDir = mkdtempSync(join(tmpdir(), "playground-"));
  const browser = NAME === "firefox"
    ? await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true, userDataDir })
    : await puppeteer.launch({ executablePath: CHROMIUM, headless: true, userDataDir, args: FLAGS });
  const close = async () => {
    await browser.close();
    rmSync(userDataDir, { recursive: true, force: true });
  };
  return { browser, close };
}

/** The server of the page, at an address of its own. */
export async function serve(...words) {
  const child = spawn(PYTHON, ["-m", "namedtensor", "playground", "--no-browser", "--port", "0", ...words], { cwd: ROOT, env: { ...process.env, PYTHONPATH: ROOT, PYTHONUNBUFFERED: "1" } });
  let said = "";
  const address = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server said only ${JSON.stringify(said)}`)), 30_000);
    const hear = (text) => {
      said += text;
      const found = /http:\/\/[\w.:]+\/?/.exec(said);
      if (found) resolve((clearTimeout(timer), found[0]));
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", () => reject(new Error(said)));
  });
  return { address, close: () => child.kill() };
}

/** Where the page is: {address, close}. */
export async function place() {
  if (FILE) return { address: pathToFileURL(FILE).href, close() {} };
  return process.env.PLAYGROUND_ADDRESS ? { address: process.env.PLAYGROUND_ADDRESS, close() {} } : serve();
}

/** A page that has a first value; what it complains of is in `page.complaints`. */
export async function open(browser, address, { fragment = "", width = 1280, height = 900, wait = true } = {}) {
  const page = await (await browser.createBrowserContext()).newPage();
  page.complaints = [];
  page.asked = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (problem) => page.complaints.push(String(problem)));
  page.on("request", (request) => page.asked.push(request.url()));
  await page.setViewport({ width, height });
  if (address.startsWith("file:") && NAME === "chromium") await page.setOfflineMode(true);
  await page.goto(address + fragment, { waitUntil: "domcontentloaded" });
  if (wait) await until(page, () => document.querySelector(".step, .numbers td, output.scalar"), [], 90_000);
  return page;
}

export const until = (page, test, args = [], timeout = 30_000) => page.waitForFunction(test, { timeout, polling: 20 }, ...args);

/** The text of the editor. */
export const textOf = (page) => page.$eval("#formula", (each) => [...each.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));

/** Waits until Python and the plan have followed the text. */
export const settled = (page) => until(page, () => document.querySelector(".formula[data-state=right]") && document.querySelector(".python.ready") && document.fonts.status === "loaded", [], 30_000);

export async function clear(page, editor = "#formula") {
  await page.waitForSelector(editor); // a tab's own comes with the tab
  await page.focus(editor);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.press("Backspace");
}

/** Writes a text anew. Firefox is sent one character at a time, and lines by their key. */
export async function write(page, text, editor = "#formula") {
  await clear(page, editor);
  await send(page, text);
}

/** Writes on where the caret is. */
export async function send(page, text) {
  if (NAME !== "firefox") return page.keyboard.sendCharacter(text);
  for (const each of text) await (each === "\n" ? page.keyboard.press("Enter") : page.keyboard.sendCharacter(each));
}

export async function show(page, name) {
  await page.click(`#tab-${name}`);
  await until(page, (name) => document.querySelector(`#tab-${name}[aria-selected=true]`), [name]);
}

/** The numbers of the tab that is shown, as they are and not as they are rounded. */
export const numbers = (page, within = "#view") => page.$$eval(`${within} td[title], ${within} output.scalar`, (cells) => cells.map((cell) => Number(cell.title)));

/** What the page's formula is given, from the grids: {name: [label, number] of each cell}. */
export const given = (page) => page.$$eval(".input", (inputs) => Object.fromEntries(inputs.map((input) => [input.querySelector(".name").dataset.name, {
  type: input.querySelector(".type")?.getAttribute("aria-label") ?? "ℝ",
  data: [...input.querySelectorAll("input.cell, .slider input[type=number]")].map((cell) => Number(cell.value.replace("−", "-"))),
}])));

/** What Python says with NumPy: `oracle.py`, asked once. */
export const oracle = (question) => JSON.parse(execFileSync(PYTHON, [join(HERE, "oracle.py")], { input: JSON.stringify(question), cwd: ROOT, env: { ...process.env, PYTHONPATH: ROOT } }));

export async function shot(page, name) {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${NAME}-${FILE ? "file" : "served"}-${name}.png`) });
}

export const close = (a, b, tolerance = 1e-9) => a.length === b.length && a.every((x, n) => Math.abs(x - b[n]) <= tolerance * Math.max(1, Math.abs(b[n])));

/** Closes a page, and with it the storage that it alone had. */
export const leave = (page) => page.browserContext().close();
