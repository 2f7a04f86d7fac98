// The page as text: scripts bundled and packed, style and faces inside. The same sources give the same bytes everywhere.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { gzipSync } from "fflate";

export const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = dirname(HERE);
const FACES = ["Main-Regular", "Main-Italic", "Main-Bold", "Math-Italic", "AMS-Regular", "SansSerif-Regular", "SansSerif-Bold", "Caligraphic-Regular", "Size1-Regular", "Size2-Regular", "Size3-Regular", "Size4-Regular"];
const read = (...path) => readFileSync(join(HERE, ...path), "utf8");

/** Gzipped and in base64; fflate, whose version is locked, gives the same bytes everywhere, and zlib does not. */
export function packed(bytes) {
  return Buffer.from(gzipSync(bytes, { level: 9, mtime: 0 })).toString("base64");
}

export async function bundled(entry, options = {}) {
  const made = await build({
    entryPoints: [join(HERE, "src", entry)], bundle: true, minify: true, write: false, legalComments: "none",
    charset: "utf8", target: "es2022", format: "iife", jsx: "automatic", jsxImportSource: "preact", absWorkingDir: HERE,
    nodePaths: [join(HERE, "node_modules")], define: { "process.env.NODE_ENV": '"production"' }, metafile: true, ...options,
  });
  for (const path of Object.keys(made.metafile.inputs)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
    if (name) carriedPackages.add(name);
  }
  return made.outputFiles[0].text;
}

const carriedPackages = new Set();

/** The licences of what is in the page: each text once, below the names of those that it is for. */
function licences() {
  const found = new Map();
  for (const name of [...carriedPackages].sort()) {
    const path = join(HERE, "node_modules", name, "LICENSE");
    const terms = existsSync(path) ? readFileSync(path, "utf8").trim() : `${read("node_modules", name, "package.json").match(/"license":\s*"([^"]*)"/)?.[1]} (see the package ${name})`;
    found.set(terms, [...(found.get(terms) ?? []), name]);
  }
  return [...found].map(([terms, names]) => `${names.join(", ")}\n\n${terms}`).join("\n\n----\n\n").replace(/--+>/g, "");
}

/** `import text from "text:./worker.js"`: the bundle of another file, as a string, for a worker made of a Blob. */
const asText = {
  name: "text",
  setup(to) {
    to.onResolve({ filter: /^text:/ }, ({ path }) => ({ path: path.slice(5), namespace: "text" }));
    to.onLoad({ filter: /.*/, namespace: "text" }, async ({ path }) => ({ contents: await bundled(path), loader: "text" }));
  },
};

/** `import sheets from "sheets:"`: the files of exercises that the page offers, [{title, text, lesson}]; `lesson` is its page. */
const sheets = {
  name: "sheets",
  setup(to) {
    to.onResolve({ filter: /^sheets:$/ }, () => ({ path: "sheets", namespace: "sheets" }));
    to.onLoad({ filter: /.*/, namespace: "sheets" }, () => {
      const folder = join(ROOT, "namedtensor", "teaching", "lessons");
      const lessons = readdirSync(folder).filter((name) => /^\d+_\w+\.nt$/.test(name)).sort((a, b) => parseInt(a) - parseInt(b));
      const found = [...lessons.map((name) => [`lesson ${name.replace(/_|\.nt$/g, " ").trim()}`, name, `lessons/${name.replace(/\.nt$/, ".html")}`]), ["twenty-five puzzles", "puzzles.nt", null]];
      return { contents: JSON.stringify(found.map(([title, path, lesson]) => ({ title, text: readFileSync(join(folder, path), "utf8"), lesson }))), loader: "json" };
    });
  },
};

/** The style sheet of KaTeX with the faces that formulas use, inside it. */
function katexStyle() {
  const folder = join(HERE, "node_modules", "katex", "dist");
  const kept = readFileSync(join(folder, "katex.min.css"), "utf8").replace(/@font-face\{[^}]*\}/g, (face) => {
    const name = FACES.find((each) => face.includes(`KaTeX_${each}.woff2`));
    if (!name) return "";
    const font = readFileSync(join(folder, "fonts", `KaTeX_${name}.woff2`)).toString("base64");
    return face.replace(/src:[^}]*/, `src:url(data:font/woff2;base64,${font}) format("woff2")`);
  });
  return kept;
}

async function style() {
  const made = await build({
    stdin: { contents: read("src", "page.css"), loader: "css", resolveDir: join(HERE, "src") },
    bundle: true, minify: true, write: false, charset: "utf8", absWorkingDir: HERE, target: ["chrome110", "firefox113", "safari16.4"],
  });
  return katexStyle() + made.outputFiles[0].text.trim();
}

/** What the browser allows the page: scripts of its own alone, and no address but, where there is a server, the server. */
function policy(loader, whole) {
  const hash = createHash("sha256").update(loader).digest("base64");
  return [
    "default-src 'none'", `script-src 'sha256-${hash}' blob: 'wasm-unsafe-eval'`, "style-src 'unsafe-inline'", "font-src data:",
    "img-src data: blob:", "worker-src blob:", `connect-src ${whole ? "blob: data:" : "'self'"}`, "base-uri 'none'", "form-action 'none'",
  ].join("; ");
}

/** The page; `parts` are what else it carries, by the ids of their elements. */
export async function page(parts = {}) {
  const sheet = await style();
  const script = await bundled("main.jsx", { plugins: [asText, sheets] });
  const loader = read("src", "loader.js").replace(/^\/\/.*\n/gm, "").trim();
  const carried = { script: packed(new TextEncoder().encode(script)), ...parts };
  const notice = `<script type="text/plain" id="licences">\n${licences()}\n</script>`;
  const elements = Object.entries(carried).map(([id, text]) => `<script type="text/plain" id="${id}">${text}</script>`);
  return read("src", "page.html")
    .replace("<!--policy-->", policy(loader, Object.keys(parts).length > 0))
    .replace("<!--style-->", () => `<style>${sheet}</style>`)
    .replace("<!--parts-->", () => [notice, ...elements].join("\n"))
    .replace("<!--loader-->", () => `<script>${loader}</script>`);
}
