// SPDX-License-Identifier: Apache-2.0
//
// Which pieces has a quota bar? Solid: in use within the quota. Hatched: over quota. Outline: the
// quota's unused part. Dotted: what waits. A tick stands at the quota.

export interface Use {
  quota: number;
  used: number;
  wanted: number; // on top, by what waits
}

export interface Piece {
  kind: 'within' | 'over' | 'unused' | 'waiting';
  from: number; // percent of the width, as all here
  to: number;
}

// GPUs at the right edge, one scale for all bars that are compared; never 0.
export function scaleOf(uses: readonly Use[]): number {
  return Math.max(1, ...uses.map((use) => Math.max(use.quota, use.used + use.wanted)));
}

export function quotaBar(use: Use, scale: number): { pieces: Piece[]; tick: number | null } {
  const at = (gpus: number) => Math.min(100, (100 * gpus) / scale);
  const within = Math.min(use.used, use.quota);
  const tail = Math.max(use.used, use.quota);
  const pieces: Piece[] = [
    { kind: 'within', from: 0, to: at(within) },
    { kind: 'over', from: at(use.quota), to: at(Math.max(use.used, use.quota)) },
    { kind: 'unused', from: at(within), to: at(use.quota) },
    { kind: 'waiting', from: at(tail), to: at(Math.max(tail, use.used + use.wanted)) },
  ];
  return {
    pieces: pieces.filter((piece) => piece.to > piece.from),
    tick: use.quota > 0 ? at(use.quota) : null,
  };
}
