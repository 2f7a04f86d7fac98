// Builds the page. `node build.mjs [FILE]` writes namedtensor/webpage/page.html; `node build.mjs --whole [FILE]` writes
// playground.html, which needs no server, with Python inside; `--check` compares page.html with what would be written.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { page, ROOT } from "./bundle.mjs";
import { parts } from "./whole.mjs";

const words = process.argv.slice(2);
const whole = words.includes("--whole");
const standing = whole ? join(ROOT, "playground.html") : join(ROOT, "namedtensor", "webpage", "page.html");
const target = words.find((each) => !each.startsWith("--")) ?? standing;
const text = await page(whole ? await parts() : {});
const size = `${(Buffer.byteLength(text) / 1e6).toFixed(2)} MB`;
if (words.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error(`${target} is not what web/ builds: run \`node web/build.mjs\``);
    process.exit(1);
  }
  console.log(`${target} is what web/ builds: ${size}`);
} else {
  writeFileSync(target, text);
  console.log(`${target}: ${size}`);
}
