// Builds the extension. `node build.mjs` writes dist/extension.js; `node build.mjs --package [FILE]` also writes the .vsix,
// which `code --install-extension FILE` installs.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { strToU8, zipSync } from "fflate";

const ROOT = dirname(fileURLToPath(import.meta.url));
const FILES = ["package.json", "README.md", "language-configuration.json", "syntaxes/namedtensor.tmLanguage.json"];
const EPOCH = new Date(1980, 0, 1);

/** Write the bundle to a file. */
export async function bundle(file = join(ROOT, "dist", "extension.js")) {
  await build({
    entryPoints: [join(ROOT, "src", "extension.js")],
    outfile: file,
    bundle: true,
    minify: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
    logLevel: "error",
  });
  return file;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[each]);
}

/** The manifest of the package, as the format of Visual Studio extensions has it. */
export function manifest(description) {
  const { name, version, publisher, displayName, description: about, engines, categories } = description;
  const id = `Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"`;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity ${id}/>
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(about)}</Description>
    <Tags>namedtensor,__ext_nt</Tags>
    <Categories>${escaped(categories.join(","))}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escaped(engines.vscode)}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

const TYPES = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/><Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/><Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>
`;

/** The bytes of the .vsix: the same for the same sources. */
export async function packaged(code) {
  const description = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const files = {
    "extension.vsixmanifest": strToU8(manifest(description)),
    "[Content_Types].xml": strToU8(TYPES),
    "extension/dist/extension.js": readFileSync(code),
    "extension/LICENSE.txt": readFileSync(join(ROOT, "..", "..", "LICENSE")),
    ...Object.fromEntries(FILES.map((file) => [`extension/${file}`, readFileSync(join(ROOT, file))])),
  };
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, data]) => [name, [data, { mtime: EPOCH }]])), {
    level: 9,
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const code = await bundle();
  if (words.includes("--package")) {
    const target = words.find((each) => !each.startsWith("--")) ?? join(ROOT, "dist", "namedtensor.vsix");
    const data = await packaged(code);
    writeFileSync(target, data);
    console.log(`${target}: ${(data.length / 1e3).toFixed(0)} kB`);
  } else {
    console.log(code);
  }
}
