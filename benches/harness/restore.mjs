// Restores one version-0 session log with the harness's own package, as its persistence does: lines, JSON, storage records,
// `Session.fromRestore`. Prints the number of events and of nodes on the surface.
//
// usage: node restore.mjs FOLDER LOG, where FOLDER holds node_modules with @deepseek-ai/dsh-session

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, path] = process.argv.slice(2);
const entry = createRequire(join(folder, "package.json")).resolve("@deepseek-ai/dsh-session/package.json");
const { Session, decodeStorageRecord } = await import(pathToFileURL(join(entry, "..", "lib", "index.js")));

const bytes = readFileSync(path);
let start = bytes.indexOf(10) + 1;
const { type, ...header } = JSON.parse(bytes.toString("utf8", 0, start));
const events = [];
for (let end = bytes.indexOf(10, start); end !== -1; end = bytes.indexOf(10, start)) {
  for (const event of decodeStorageRecord(JSON.parse(bytes.toString("utf8", start, end)))) events.push(event);
  start = end + 1;
}
const session = Session.fromRestore(header.id, events, header);
console.log(session.events.length, session.surface.nodes.length);
