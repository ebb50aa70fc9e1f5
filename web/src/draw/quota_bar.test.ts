// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { quotaBar, scaleOf } from './quota_bar';

test('within its quota: solid, then the unused part, and no hatch', () => {
  expect(quotaBar({ quota: 4, used: 1, wanted: 0 }, 8)).toEqual({
    pieces: [{ kind: 'within', from: 0, to: 12.5 }, { kind: 'unused', from: 12.5, to: 50 }],
    tick: 50,
  });
});

test('over its quota: hatched behind the tick, and what waits behind that', () => {
  expect(quotaBar({ quota: 2, used: 4, wanted: 2 }, 8)).toEqual({
    pieces: [
      { kind: 'within', from: 0, to: 25 }, { kind: 'over', from: 25, to: 50 },
      { kind: 'waiting', from: 50, to: 75 },
    ],
    tick: 25,
  });
});

test('without a quota there is no tick, and all use is over it', () => {
  expect(quotaBar({ quota: 0, used: 2, wanted: 0 }, 4)).toEqual({
    pieces: [{ kind: 'over', from: 0, to: 50 }], tick: null,
  });
});

test('one scale holds every bar, and is never 0', () => {
  const uses = [{ quota: 4, used: 1, wanted: 1 }, { quota: 0, used: 3, wanted: 6 }];
  expect(scaleOf(uses)).toBe(9);
  expect(scaleOf([])).toBe(1);
  for (const use of uses) {
    for (const piece of quotaBar(use, 9).pieces) expect(piece.to).toBeLessThanOrEqual(100);
  }
});
