// Python in a worker of the whole file. It is given the parts of the page that hold Python, and then answers questions.

import "./not_classic.js";
import { loadPyodide } from "pyodide";
import createPyodideModule from "../node_modules/pyodide/pyodide.asm.mjs";
import { unpacked, unpacking } from "./unpack.js";
import CARRIED from "../carried.py";

const FOLDER = "https://inside.invalid/"; // asked of no one: `fetch` below answers for it
let answer = null;

/** Pyodide fetches its files; they are in the page, so there are no network requests. They are unpacked while it reads them. */
function serve(files) {
  self.fetch = async (url) => {
    const name = String(url).split("/").pop();
    if (!(name in files)) throw new TypeError(`${name} is not in this page`);
    return new Response(unpacking(files[name]), { headers: { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream" } });
  };
}

/** Starts Python; gives the milliseconds that each part of it took. */
async function start(parts) {
  const times = { begin: performance.now() };
  serve({ "pyodide.asm.wasm": parts.wasm, "python_stdlib.zip": parts.library });
  const project = unpacked(parts.project);
  const python = await loadPyodide({
    createPyodideModule, indexURL: FOLDER, packageBaseUrl: FOLDER, stdLibURL: `${FOLDER}python_stdlib.zip`, checkAPIVersion: true,
    lockFileContents: { info: LOCK, packages: {} }, stdout: () => {}, stderr: () => {},
  });
  times.python = performance.now();
  python.FS.writeFile("/carried", await project);
  answer = python.runPython(`${CARRIED}\nload()`);
  times.project = performance.now();
  return JSON.stringify({ python: times.python - times.begin, project: times.project - times.python });
}

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ number: data.number, text: data.parts ? await start(data.parts) : answer(data.text) });
  } catch (problem) {
    self.postMessage({ number: data.number, problem: String(problem?.message ?? problem) });
  }
};
