// Makes vega.min.js, which every HTML report holds, and LICENSES.txt with the
// licences of all that is in it. `make assets` runs it; both are committed.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const result = await build({
  entryPoints: ["vega.entry.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "ascii",
  legalComments: "none",
  metafile: true,
  write: false,
});
const script = result.outputFiles[0].text;
// What would end a script element, or begin a comment in one, has no place in it.
for (const bad of ["</script", "<script", "<!--"]) {
  if (script.toLowerCase().includes(bad)) throw new Error(`the bundle holds ${bad}`);
}
writeFileSync("vega.min.js", script);

const packages = new Set();
for (const file of Object.keys(result.metafile.inputs)) {
  const found = file.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
const parts = [...packages].sort().map((name) => {
  const dir = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  const file = readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
  const text = file ? readFileSync(join(dir, file), "utf8").trim() : "";
  return { head: `${name} ${version} (${license})`, text };
});
// Packages of one licence text stand together.
const byText = new Map();
for (const p of parts) byText.set(p.text, [...(byText.get(p.text) ?? []), p.head]);
let out = "vega.min.js holds these packages from npm.\n";
for (const [text, heads] of byText) {
  if (text === "") throw new Error(`no licence file: ${heads.join(", ")}`);
  out += `\n${"-".repeat(72)}\n${heads.join("\n")}\n\n${text}\n`;
}
writeFileSync("LICENSES.txt", out);
