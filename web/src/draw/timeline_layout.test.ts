// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Bar, Row } from '../model/timeline';
import { barsWithin, hitBar, layoutRows, movedRange, rowAt, scaledRange, timeOf, xOf } from './timeline_layout';

function bar(from: number, to: number, more: Partial<Bar> = {}): Bar {
  return { job: {} as Bar['job'], span: undefined, kind: 'runs', from, to, isOpen: false, latest: 0, isStart: false, top: 0, tall: 1, ...more };
}

function row(bars: Bar[], tracks = 1): Row {
  return { name: 'n1', job: 0, bars, tracks, longest: Math.max(0, ...bars.map(({ from, to }) => to - from)) };
}

test('a time is at one x, and that x is the time', () => {
  const range = { from: 1_000, to: 5_000 };
  expect([xOf(1_000, range, 80, 480), xOf(3_000, range, 80, 480), xOf(5_000, range, 80, 480)]).toEqual([80, 280, 480]);
  for (const time of [1_000, 1_234, 4_999]) expect(timeOf(xOf(time, range, 80, 480), range, 80, 480)).toBeCloseTo(time, 6);
});

test('rows are one below the other, those with tracks are taller, and each height is of one of them', () => {
  const layout = layoutRows([row([]), row([], 4), row([])], 80, 0);
  expect(layout.tops).toEqual([0, 24, 76, 100]);
  expect([-1, 0, 23, 24, 75, 76, 99, 100].map((y) => rowAt(layout, y))).toEqual([-1, 0, 0, 1, 1, 2, 2, -1]);
});

test('only bars that touch the range are looked at', () => {
  const bars = Array.from({ length: 1_000 }, (_, index) => bar(index * 10, index * 10 + 8));
  expect(barsWithin(row(bars), { from: 5_000, to: 5_050 }, 0)).toEqual([500, 505]);
  const [first, last] = barsWithin(row([bar(0, 9_000), ...bars.slice(1)]), { from: 5_000, to: 5_050 }, 0);
  expect([first, last]).toEqual([0, 505]);
});

test('what is pointed at is found, also in a track and where it goes on with now', () => {
  const top = bar(100, 200, { tall: 0.5 });
  const below = bar(150, 200, { top: 0.5, tall: 0.5, isOpen: true });
  const layout = layoutRows([row([top, below])], 80, 200);
  expect(hitBar(layout, 3, 160, 300, 0).bar).toBe(top);
  expect(hitBar(layout, 20, 160, 300, 0).bar).toBe(below);
  expect(hitBar(layout, 20, 290, 300, 0).bar).toBe(below);
  expect(hitBar(layout, 3, 290, 300, 0)).toEqual({ row: 0, bar: undefined });
  expect(hitBar(layout, 3, 205, 300, 10).bar).toBe(top); // near enough
  expect(hitBar(layout, 99, 160, 300, 0)).toEqual({ row: -1, bar: undefined });
});

test('what runs is above the pause of another job', () => {
  const paused = bar(100, 300, { kind: 'paused' });
  const runs = bar(150, 200);
  expect(hitBar(layoutRows([row([paused, runs])], 80, 300), 9, 160, 300, 0).bar).toBe(runs);
});

test('a range moves by parts of itself, and is scaled about a moment that stays', () => {
  expect(movedRange({ from: 100, to: 200 }, -0.5)).toEqual({ from: 50, to: 150 });
  const range = { from: 0, to: 8 * 3_600_000 };
  const near = scaledRange(range, 2, 2 * 3_600_000);
  expect(near).toEqual({ from: 3_600_000, to: 5 * 3_600_000 });
  expect(scaledRange(range, 1e9, 0).to - scaledRange(range, 1e9, 0).from).toBe(60_000);
});
