// SPDX-License-Identifier: Apache-2.0
//
// Builds the dashboard and packs it into the one file that src/api/pages reads: the number of files,
// a line for each (address, type, ETag, whether a hash of it is in its name, sizes), then what is in
// them, plain and gzipped. The same sources give the same bytes.
//
//   node build.js FILE
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const kTypes = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

function pack(folder) {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  const lines = [];
  const bodies = [];
  for (const name of names) {
    const type = kTypes[extname(name)];
    if (type === undefined) throw new Error(`${name}: build.js knows no type for it`);
    const plain = readFileSync(join(folder, name));
    const smaller = gzipSync(plain, { level: 9 });
    const gzipped = smaller.length < plain.length ? smaller : Buffer.alloc(0);
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    // Vite names what it puts into assets/ by a hash.
    const kept = name.startsWith('assets/') ? 'hashed' : 'named';
    lines.push([name, type, etag, kept, plain.length, gzipped.length].join('\t'));
    bodies.push(plain, gzipped);
  }
  return Buffer.concat([Buffer.from(`${names.length}\n${lines.join('\n')}\n`), ...bodies]);
}

const [target] = process.argv.slice(2);
mkdirSync(dirname(target), { recursive: true });
const folder = mkdtempSync(`${target}.`);
try {
  await build({ root: import.meta.dirname, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } });
  writeFileSync(target, pack(folder));
} finally {
  rmSync(folder, { recursive: true });
}
