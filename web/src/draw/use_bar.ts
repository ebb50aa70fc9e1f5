// SPDX-License-Identifier: Apache-2.0
//
// Which pieces has a bar of what GPUs were used for? One for each use that occurred, in the order of the
// words for them.
import type { GpuSeconds, GpuUse } from '../api/ledger_types';
import { kUses } from '../model/ledger';

export interface UsePiece {
  use: GpuUse;
  from: number; // percent of the width
  to: number;
}

// `scale`: GPU seconds at the right edge.
export function useBar(times: GpuSeconds, scale: number): UsePiece[] {
  const pieces: UsePiece[] = [];
  let from = 0;
  for (const { use } of kUses) {
    if (times[use] <= 0 || scale <= 0) continue;
    const to = Math.min(100, from + (100 * times[use]) / scale);
    pieces.push({ use, from, to });
    from = to;
  }
  return pieces;
}
