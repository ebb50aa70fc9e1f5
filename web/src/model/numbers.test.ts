// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { clock, count, duration, gpus, gpuUnit, ordinal } from './numbers';

test.each([
  [0, '0'], [1, '1'], [0.5, '0.5'], [0.333333, '0.33'], [1.5, '1.5'], [999, '999'],
  [1000, '1,000'], [80_000, '80,000'], [1_234_567.25, '1,234,567.25'],
])('%d GPUs are said as %s', (count, said) => {
  expect(gpus(count)).toBe(said);
});

test.each([
  [-5, 'less than 1 s'], [0, 'less than 1 s'], [999, 'less than 1 s'], [1_000, '1 s'],
  [59_999, '59 s'], [60_000, '1 min'], [125_000, '2 min 5 s'], [600_000, '10 min'],
  [3_599_999, '59 min'], [3_600_000, '1 h'], [11_520_000, '3 h 12 min'], [86_400_000, '1 d'],
  [187_200_000, '2 d 4 h'],
])('%d ms are said as %s', (ms, said) => {
  expect(duration(ms)).toBe(said);
});

test('one is one, all else are several', () => {
  expect(count(1, 'job')).toBe('1 job');
  expect(count(0, 'job')).toBe('0 jobs');
  expect(count(0.5, 'GPU')).toBe('0.5 GPUs');
});

test('a time is said shorter the nearer it is', () => {
  const now = new Date(2026, 10, 27, 14, 38).getTime();
  expect(clock(new Date(2026, 10, 27, 9, 5).getTime(), now)).toBe('09:05');
  expect(clock(new Date(2026, 10, 23, 9, 40).getTime(), now)).toBe('Mon 09:40');
  expect(clock(new Date(2026, 9, 3).getTime(), now)).toBe('2026-10-03');
});

test.each([[1, ' GPU'], [0, ' GPUs'], [0.5, ' GPUs'], [8, ' GPUs']])('the unit of %d is%s', (many, said) => {
  expect(gpuUnit(many)).toBe(said);
});

test.each([[1, '1st'], [2, '2nd'], [3, '3rd'], [4, '4th'], [11, '11th'], [12, '12th'], [21, '21st'], [113, '113th']])(
  'the place %d is %s', (place, words) => expect(ordinal(place)).toBe(words));
