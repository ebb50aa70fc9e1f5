// SPDX-License-Identifier: Apache-2.0
//
// The rules of web/src: a folder imports from itself and from folders before it, model/ touches no
// document, no file is longer than 300 lines, and nothing comes from another host.
import { expect, test } from 'vitest';

const kLayers = ['api', 'model', 'draw', 'ui', 'pages'];
const kLinesMax = 300;

const sources = import.meta.glob('./**/*.{ts,svelte}', {
  query: '?raw', import: 'default', eager: true,
}) as Record<string, string>;

// What breaks a rule in a file, in words.
function broken(path: string, text: string): string[] {
  const layer = path.split('/')[1] ?? '';
  const found: string[] = [];
  for (const [, from = ''] of text.matchAll(/(?:from|import)\s*\(?['"](\.[^'"]*)['"]/g)) {
    const target = new URL(from, `file:///${path}`).pathname.split('/')[1] ?? '';
    const isTop = !kLayers.includes(layer);
    if (!isTop && kLayers.indexOf(target) > kLayers.indexOf(layer)) found.push(`imports ${from}`);
    if (!isTop && !kLayers.includes(target)) found.push(`imports ${from}`);
  }
  if (layer === 'model' && /\b(document|window|localStorage|location)\./.test(text)) {
    found.push('touches the document');
  }
  if (text.split('\n').length > kLinesMax + 1) found.push(`has more than ${kLinesMax} lines`);
  if (/['"(]https?:\/\//.test(text)) found.push('names another host');
  if (!text.slice(0, 60).includes('SPDX-License-Identifier: Apache-2.0')) found.push('has no licence');
  return found.map((rule) => `${path} ${rule}`);
}

test('every source keeps the rules', () => {
  expect(Object.keys(sources).length).toBeGreaterThan(20);
  const ours = Object.entries(sources).filter(([path]) => path !== './layers.test.ts');
  expect(ours.flatMap(([path, text]) => broken(path, text))).toEqual([]);
});

test('each rule bites', () => {
  const licence = '// SPDX-License-Identifier: Apache-2.0\n';
  const of = (path: string, text: string) => broken(path, licence + text);
  expect(of('./model/a.ts', "import { b } from '../ui/b';")).toHaveLength(1);
  expect(of('./ui/a.ts', "const b = import('../pages/b');")).toHaveLength(1);
  expect(of('./ui/a.ts', "import { b } from '../main';")).toHaveLength(1);
  expect(of('./ui/a.ts', "import { b } from '../model/b';")).toEqual([]);
  expect(of('./model/a.ts', 'document.title;')).toHaveLength(1);
  expect(of('./ui/a.ts', '\n'.repeat(kLinesMax + 1))).toHaveLength(1);
  expect(of('./ui/a.svelte', "@import url('https://fonts.example');")).toHaveLength(1);
  expect(broken('./ui/a.ts', 'let a;')).toHaveLength(1);
});
