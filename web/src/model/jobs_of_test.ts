// SPDX-License-Identifier: Apache-2.0
//
// Jobs as tests need them.
import type { Row } from '../api/types';

export const kNow = Date.parse('2026-11-27T14:38:00Z');

export function job(id: number, part: Partial<Row> = {}): Row {
  const isWaiting = part.state === undefined || part.state === 'queued';
  return {
    id,
    name: `job-${id}`,
    project: 'lab',
    user: 'maria',
    gpus: 1,
    state: 'queued',
    held: false,
    parked: false,
    since: '2026-11-27T14:00:00Z',
    position: isWaiting ? id : 0,
    reason: isWaiting ? 'QuotaFair' : null,
    why: isWaiting ? 'lab uses 4 of its fair share of 4 GPUs' : '',
    blockers: [],
    nodes: [],
    ...part,
  };
}
