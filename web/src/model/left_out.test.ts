// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { leftOut, many } from './left_out';

const kJobs = { running: 30, waiting: 1_500, paused: 4, on_hold: 2, leaving: 1 };

test('how many jobs are in a state is what the server counts', () => {
  expect(many(kJobs, 'waiting')).toBe(1_504);
  expect(many(kJobs, 'running')).toBe(31);
  expect(many(kJobs, 'hold')).toBe(2);
  expect(many(undefined, 'hold')).toBe(0);
});

test('a list that is cut says by how much', () => {
  expect(leftOut({ shown: 12, found: 12, total: 12, more: 0 })).toBe('');
  expect(leftOut({ shown: 200, found: 970, total: 1_504, more: 504 }))
    .toBe('200 of 1,504 jobs are shown.');
  expect(leftOut({ shown: 200, found: 320, total: undefined, more: 0 }))
    .toBe('200 of 320 jobs are shown.');
});

test('what a filter finds is known only of jobs that were sent', () => {
  expect(leftOut({ shown: 7, found: 7, total: undefined, more: 504 }))
    .toBe('7 jobs are shown; 504 more of all states were not searched.');
});
