// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { GpuSeconds } from '../api/ledger_types';
import { kUses } from '../model/ledger';
import { useBar } from './use_bar';

const kNone = Object.fromEntries(kUses.map(({ use }) => [use, 0])) as GpuSeconds;

test('the pieces of a bar follow each other, and end where the row does', () => {
  const pieces = useBar({ ...kNone, free: 25, busy: 50, lost_to_pause: 5 }, 160);
  expect(pieces).toEqual([
    { use: 'busy', from: 0, to: 31.25 }, { use: 'lost_to_pause', from: 31.25, to: 34.375 }, { use: 'free', from: 34.375, to: 50 },
  ]);
  expect(useBar(kNone, 0)).toEqual([]);
});
