// SPDX-License-Identifier: Apache-2.0
//
// What does a list not show? The server sends a part of many jobs, and counts them all.
import type { JobCounts } from '../api/types';
import { count, gpus } from './numbers';
import type { StateFilter } from './view';

// How many jobs the server counts in a state; those that have ended it does not count.
export function many(jobs: JobCounts | undefined, state: Exclude<StateFilter, 'ended'>): number {
  if (jobs === undefined) return 0;
  if (state === 'waiting') return jobs.waiting + jobs.paused;
  return state === 'hold' ? jobs.on_hold : jobs.running + jobs.leaving;
}

export interface Listed {
  shown: number;
  found: number; // that the list is of
  total: number | undefined; // as the server counts them; undefined = it does not
  more: number; // jobs that the server did not send
}

// A sentence, or nothing where the list is whole.
export function leftOut({ shown, found, total, more }: Listed): string {
  if (total === undefined && more > 0) {
    return `${count(shown, 'job')} ${shown === 1 ? 'is' : 'are'} shown; ` +
      `${gpus(more)} more of all states were not searched.`;
  }
  const all = Math.max(found, total ?? 0);
  return all > shown ? `${gpus(shown)} of ${count(all, 'job')} are shown.` : '';
}
