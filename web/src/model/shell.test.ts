// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { command } from './shell';

test.each([
  ['nlp', 'nlp'],
  ['team/nlp-2.v_1', 'team/nlp-2.v_1'],
  ['x;id', "'x;id'"],
  ['$(touch x)', "'$(touch x)'"],
  ["a'b", "'a'\\''b'"],
  ['a b', "'a b'"],
  ['~root', "'~root'"],
  ['=ls', "'=ls'"],
  ['größe', "'größe'"],
  ['', "''"],
])('a shell reads the word %s as it is', (word, quoted) => {
  expect(command('berth', 'ls', '-p', word)).toBe(`berth ls -p ${quoted}`);
});

test('a command is one line, and what is copied is what is seen', () => {
  expect(command('berth', 'ls', '-p', 'a\nid>/tmp/owned\n')).toBe("berth ls -p 'aid>/tmp/owned'");
  expect(command('a\r\x1b[2J\x7f\u0085\u2028\u202eb')).toBe("'a[2Jb'");
});
