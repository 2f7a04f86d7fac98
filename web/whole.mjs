// What the whole file carries besides the page: Python, and compiled by it what is needed of its library and the project.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";
import { bundled, HERE, ROOT } from "./bundle.mjs";

const ROOMS = ["grammar", "namedtensor"];
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString("base64");

function* filesOf(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "__pycache__") yield* filesOf(path);
    else if (entry.isFile() && !/\.(pyi|pyc|html)$/.test(entry.name)) yield path;
  }
}

/** The sources of the project and of lark, as the Python at hand has it: [path in the archive, bytes]. */
function sources() {
  const lark = execFileSync(process.env.PYTHON ?? "python3", ["-c", "import lark; print(lark.__path__[0])"], { encoding: "utf8" }).trim();
  const roots = [...ROOMS.map((room) => [join(ROOT, room), ROOT]), [lark, join(lark, "..")]];
  return roots.flatMap(([folder, above]) => [...filesOf(folder)].map((path) => [relative(above, path), new Uint8Array(readFileSync(path))]));
}

/** Replies to what the page asks first. */
const known = () => execFileSync(process.env.PYTHON ?? "python3", [join(HERE, "known.py")], { encoding: "utf8", maxBuffer: 10e6, env: { ...process.env, PYTHONUTF8: "1" } });

const COMPILE = readFileSync(join(HERE, "archives.py"), "utf8");

/** The two archives; a traceback of Python, without the source of Pyodide around it. */
function archived(python, files) {
  try {
    return python.globals.get("archives")(python.toPy(files)).toJs();
  } catch (problem) {
    console.error(problem.message);
    process.exit(1);
  }
}

export async function parts() {
  const python = await loadPyodide({ stdout: () => {}, stderr: () => {} });
  python.runPython(COMPILE);
  const node = join(HERE, "node_modules", "pyodide");
  python.FS.writeFile("/library.zip", new Uint8Array(readFileSync(join(node, "python_stdlib.zip"))));
  const made = archived(python, new Map(sources()));
  const { info } = JSON.parse(readFileSync(join(node, "pyodide-lock.json"), "utf8"));
  const define = { "import.meta.url": "'https://inside.invalid/'", LOCK: JSON.stringify(info) };
  const found = {
    worker: packed(Buffer.from(await bundled("python_worker.js", { external: ["node:*", "ws"], define, loader: { ".py": "text" } }))),
    wasm: packed(readFileSync(join(node, "pyodide.asm.wasm"))),
    library: packed(made[0]),
    project: packed(made[1]),
    known: packed(known()),
  };
  for (const [name, text] of Object.entries(found)) console.log(`  ${name} ${(text.length / 1e6).toFixed(2)} MB`);
  return found;
}
