// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { logLines } from './log_lines';

function texts(text: string, search = '', most = 100): string[] {
  return logLines(text, search, most).lines.map((line) => line.text);
}

test('lines are in order, and the last one may be unfinished', () => {
  expect(texts('a\nb\nc')).toEqual(['a', 'b', 'c']);
  expect(texts('a\nb\n')).toEqual(['a', 'b']);
  expect(texts('')).toEqual([]);
  expect(texts('\n\n')).toEqual(['', '']);
});

test('of many lines the newest are shown', () => expect(texts('a\nb\nc\n', '', 2)).toEqual(['b', 'c']));

test('a search finds in any case of letters, and counts what is not shown', () => {
  const { lines, found } = logLines('Loss 1\nstep\nloss 2\nLOSS 3\n', 'loss', 2);
  expect(lines.map((line) => [line.number, line.text])).toEqual([[3, 'loss 2'], [4, 'LOSS 3']]);
  expect(found).toBe(3);
});

test("Berth's own lines are known, and those that only speak of it are not", () => {
  const ours = logLines('berth: waits to start: no room\n[berth: 4 MiB are cut out here]\nmy berth: x\n', '', 9);
  expect(ours.lines.map((line) => line.isOurs)).toEqual([true, true, false]);
});

test('a progress bar is its last state, and colours of terminals go', () => {
  expect(texts('10 %\r20 %\r30 %\n\u001b[31mred\u001b[0m\n\u001b]0;title\u0007t\ndos\r\n')).toEqual(['30 %', 'red', 't', 'dos']);
});
