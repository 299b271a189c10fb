// Bundle the console's scripts: htmx for all pages, charts for those that draw.
// Writes ../static/built, each file with its gzip next to it. Run by `make assets`.
import { build } from "esbuild";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const out = new URL("../static/built/", import.meta.url).pathname;
const bundles = { "htmx.min": "htmx.js", "charts.min": "charts.js" };

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: bundles,
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome110", "firefox115", "safari16"],
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "linked",
  logLevel: "warning",
});
for (const name of Object.keys(bundles)) {
  const script = `${out}${name}.js`;
  writeFileSync(`${script}.gz`, gzipSync(readFileSync(script), { level: 9 }));
}
