// Python in a worker of the whole file. It is given the parts of the page that hold Python, and then answers questions.

import "./not_classic.js";
import { loadPyodide } from "pyodide";
import createPyodideModule from "../node_modules/pyodide/pyodide.asm.mjs";
import { unpacked } from "./unpack.js";

const FOLDER = "https://inside.invalid/"; // asked of nobody: `fetch` below answers for it
let answer = null;

/** Pyodide fetches its files; they are in the page, so nothing goes over a wire. */
function serve(files) {
  self.fetch = async (url) => {
    const name = String(url).split("/").pop();
    if (!(name in files)) throw new TypeError(`${name} is not in this page`);
    return new Response(files[name], { headers: { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream" } });
  };
}

/** Starts Python; gives the milliseconds that each part of it took. */
async function start(parts) {
  const times = { begin: performance.now() };
  const [wasm, library, project] = await Promise.all([parts.wasm, parts.library, parts.project].map(unpacked));
  times.unpacked = performance.now();
  serve({ "pyodide.asm.wasm": wasm, "python_stdlib.zip": library });
  const python = await loadPyodide({
    createPyodideModule, indexURL: FOLDER, packageBaseUrl: FOLDER, stdLibURL: `${FOLDER}python_stdlib.zip`, checkAPIVersion: true,
    lockFileContents: { info: LOCK, packages: {} }, stdout: () => {}, stderr: () => {},
  });
  times.python = performance.now();
  python.unpackArchive(project, "zip", { extractDir: "/lib/python3.14/site-packages" });
  answer = python.runPython(`
import json
from namedtensor.webpage.answers import answer
lambda request: json.dumps(answer(request), ensure_ascii=False)`);
  times.project = performance.now();
  return JSON.stringify({ unpacked: times.unpacked - times.begin, python: times.python - times.unpacked, project: times.project - times.python });
}

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ number: data.number, text: data.parts ? await start(data.parts) : answer(data.text) });
  } catch (problem) {
    self.postMessage({ number: data.number, problem: String(problem?.message ?? problem) });
  }
};
