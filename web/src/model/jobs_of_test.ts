// SPDX-License-Identifier: Apache-2.0
//
// Jobs as tests need them.
import type { Job } from '../api/types';

export const kNow = Date.parse('2026-11-27T14:38:00Z');

export function job(id: number, part: Partial<Job> & { project?: string; gpus?: number } = {}): Job {
  const { project = 'lab', gpus = 1, ...rest } = part;
  return {
    id,
    spec: { name: `job-${id}`, project, tasks_max: 1, request: { gpus, share: 1 } },
    user: 'maria',
    state: 'queued',
    held: false,
    created: '2026-11-27T14:00:00Z',
    waiting_since: '2026-11-27T14:00:00Z',
    last_start: null,
    finished: null,
    tasks: [],
    parked_since: null,
    detail: '',
    verdict: { reason: 'QuotaFair', position: id, blockers: [] },
    foresight: null,
    why: 'lab uses 4 of its fair share of 4 GPUs',
    ...rest,
  };
}
