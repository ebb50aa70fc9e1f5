// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { when } from './when';

const kNow = new Date(2026, 10, 27, 14, 0).getTime();
const kNothing = { optimistic: null, expected: null, pessimistic: null, after: null };

function at(hour: number, minute: number, second = 0): string {
  return new Date(2026, 10, 27, hour, minute, second).toISOString();
}

function said(part: object) {
  return when({ ...kNothing, ...part }, kNow, (job) => `job-${job}`);
}

test('an estimate has a time and a band', () => {
  expect(said({ optimistic: at(14, 10), expected: at(14, 20, 10), pessimistic: at(14, 31) }))
    .toEqual({ said: 'about 14:20', band: '14:10\u201314:31' });
  expect(said({ optimistic: at(14, 10), expected: at(14, 20) }).band).toBe('from 14:10 on');
});

test('the farther a time is, the rounder', () => {
  expect(said({ expected: at(17, 2), pessimistic: at(17, 2) })).toEqual({
    said: 'about 17:00', band: '' });
  expect(said({ expected: at(22, 14) }).said).toBe('about 22:00');
});

test('what has passed is about now', () => {
  expect(said({ expected: at(13, 59) }).said).toBe('about now');
});

test('what is not known is said in words', () => {
  expect(said({ optimistic: at(14, 10) })).toEqual({ said: 'after 14:10', band: 'open end' });
  expect(said({ after: 7 })).toEqual({ said: 'after job-7', band: 'no time yet' });
  expect(said({})).toEqual({ said: 'no estimate yet', band: '' });
  expect(when(undefined, kNow, String)).toEqual({ said: '', band: '' });
});
