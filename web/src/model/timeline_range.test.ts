// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { fitting, kPast, rangeOf, timelineCommand } from './timeline_range';

const kNow = Date.parse('2026-11-27T14:38:00Z');
const kHour = 3_600_000;

test('without a begin now stays at its place, and the time does not change each moment', () => {
  const { from, to } = rangeOf({ minutes: 840, at: 0 }, kNow);
  expect(to - from).toBe(14 * kHour);
  expect((kNow - from) / (to - from)).toBeCloseTo(kPast, 2);
  expect(rangeOf({ minutes: 840, at: 0 }, from + kPast * (to - from) + 1)).toEqual({ from, to });
});

test('with one it stays where it is', () => {
  expect(rangeOf({ minutes: 120, at: kNow }, kNow + 9 * kHour)).toEqual({ from: kNow, to: kNow + 2 * kHour });
});

test('a young log is seen from near', () => {
  expect(fitting(kNow - kHour / 60, kNow)).toBe(15);
  expect(fitting(kNow - kHour / 4, kNow)).toBe(120);
  expect(fitting(kNow - 2 * kHour, kNow)).toBe(840);
  expect(fitting(kNow - 900 * kHour, kNow)).toBe(840);
  expect(timelineCommand({ minutes: 0, at: 0 })).toBe('berth timeline');
});

test('the command line shows the same time', () => {
  expect(timelineCommand({ minutes: 100, at: 0 })).toBe('berth timeline --from 62m --to 38m');
  expect(timelineCommand({ minutes: 840, at: 0 })).toBe('berth timeline --from 9h --to 5h');
  expect(timelineCommand({ minutes: 120, at: kNow })).toBe('berth timeline --from 2026-11-27T14:38:00Z --to 2026-11-27T16:38:00Z');
});
