// Bundle the console's scripts: htmx for all pages, charts for those that draw.
// Writes ../static/built, each file with its gzip next to it. Run by `make assets`.
// The API reference is a page of the documentation alone: it goes to .build/api for `make docs`.
import { build } from "esbuild";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const here = new URL(".", import.meta.url).pathname;
const out = new URL("../static/built/", import.meta.url).pathname;
const bundles = { "htmx.min": "htmx.js", "charts.min": "charts.js" };
const options = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome110", "firefox115", "safari16"],
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "linked",
  logLevel: "warning",
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({ ...options, entryPoints: bundles, outdir: out });
for (const name of Object.keys(bundles)) {
  const script = `${out}${name}.js`;
  writeFileSync(`${script}.gz`, gzipSync(readFileSync(script), { level: 9 }));
}
const api = new URL("../../../../.build/api/", import.meta.url).pathname;
await build({ ...options, entryPoints: { "api.min": "api.js" }, outdir: api });
