// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { kLending } from '../model/projects_of_test';
import { lendingFlow } from './lending_flow';

const kSize = { from: 150, pool: 400, to: 650 };

test('both sides of the pool are as high as the pool', () => {
  const flow = lendingFlow(kLending, kSize)!;
  expect(flow.total).toBe(84);
  for (const side of ['from', 'to']) {
    const ends = flow.ends.filter((end) => end.side === side);
    expect(ends.reduce((sum, end) => sum + end.gpus, 0)).toBe(84);
    expect(ends.reduce((sum, end) => sum + end.height, 0)).toBeCloseTo(flow.pool.height, 0);
  }
  expect(flow.ends.map((end) => `${end.side} ${end.name} ${end.gpus}`)).toEqual([
    'from vision 32', 'from speech 24', 'from unassigned 28', 'to lab 34', 'to nlp 30', 'to free 20',
  ]);
});

test('bars and labels of one side do not lie on each other', () => {
  const tiny = { ...kLending, lenders: [{ project: 'a', gpus: 80 }, { project: 'b', gpus: 1 }, { project: 'c', gpus: 1 }], in_no_quota: 2 };
  const flow = lendingFlow(tiny, kSize)!;
  const middles = flow.ends.filter((end) => end.side === 'from').map((end) => end.y + end.height / 2);
  for (let at = 1; at < middles.length; at += 1) expect(middles[at]! - middles[at - 1]!).toBeGreaterThanOrEqual(30);
  expect(Math.max(...flow.ends.map((end) => end.y + end.height))).toBeLessThanOrEqual(flow.height);
});

test('of many the largest are named and the others are one', () => {
  const lenders = Array.from({ length: 40 }, (_, at) => ({ project: `p${at}`, gpus: 1 }));
  const flow = lendingFlow({ ...kLending, lenders, in_no_quota: 44 }, kSize)!;
  const names = flow.ends.filter((end) => end.side === 'from').map((end) => end.name);
  expect(names).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', '35 others', 'unassigned']);
});

test('nothing is drawn where nothing can be lent', () => {
  const none = { ...kLending, lenders: [], borrowers: [], in_no_quota: 0, free: 0 };
  expect(lendingFlow(none, kSize)).toBeNull();
});
