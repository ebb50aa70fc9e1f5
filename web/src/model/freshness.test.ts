// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { freshness } from './freshness';

const kNow = 1_000_000_000;

test('it reads, then is live', () => {
  expect(freshness(0, 0, kNow).state).toBe('reading');
  expect(freshness(kNow - 7_500, 0, kNow)).toEqual({ state: 'live', words: 'Live' });
});

test('a failed try makes it old at once, and says how old', () => {
  expect(freshness(kNow, kNow + 2_000, kNow)).toEqual({ state: 'old', words: '1 s old' });
  expect(freshness(kNow - 12_000, 0, kNow)).toEqual({ state: 'old', words: '12 s old' });
});

test('from 30 s it is disconnected, and says when it tries again', () => {
  expect(freshness(kNow - 30_000, kNow + 8_000, kNow)).toEqual({
    state: 'disconnected', words: 'Disconnected, retrying in 8 s',
  });
  expect(freshness(0, kNow + 500, kNow).words).toBe('Disconnected, retrying');
});
