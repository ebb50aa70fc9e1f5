// SPDX-License-Identifier: Apache-2.0
//
// Which sentences do the pages say? Numbers first, no moods. All words that depend on data are here.
import type { Job, JobState, Status } from '../api/types';
import { gpusOf, inState } from './queue';
import { count, duration, gpus } from './numbers';

// The answer in front, the rest of the sentence behind it.
export interface Headline {
  answer: string;
  rest: string;
  note: string; // the line below; may be empty
}

const kStates: Record<JobState, string> = {
  queued: 'Queued',
  starting: 'Starting',
  running: 'Running',
  pausing: 'Pausing',
  paused: 'Paused',
  cancelling: 'Cancelling',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function stateWord(job: Job): string {
  return job.parked_since === null ? kStates[job.state] : 'Parked';
}

// "QuotaFair" -> "Quota fair", as berth ls says it.
export function reasonWords(reason: string): string {
  const words = reason.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// How long it is in its state, in words: "Running 3 h 12 min".
export function stateSince(job: Job, now: number): string {
  const since =
    job.parked_since ?? (job.state === 'running' ? job.last_start : job.finished ?? job.waiting_since);
  const word = stateWord(job);
  if (since === null) return word;
  const age = duration(now - Date.parse(since));
  return job.finished === null ? `${word} ${age}` : `${word} ${age} ago`;
}

export function queueHeadline(jobs: readonly Job[], status: Status): Headline {
  const waiting = inState(jobs, 'waiting');
  const verbOfFree = status.gpus.idle === 1 ? 'is' : 'are';
  const free = `${gpus(status.gpus.idle)} of ${count(status.gpus.total, 'GPU')} ${verbOfFree} free.`;
  if (waiting.length === 0) {
    return { answer: 'Nothing waits.', rest: free, note: 'Jobs start at once when GPUs are free.' };
  }
  const asked = waiting.reduce((sum, job) => sum + gpusOf(job), 0);
  const verb = waiting.length === 1 ? 'waits' : 'wait';
  const paused = waiting.filter((job) => job.state === 'paused').length;
  return {
    answer: `${count(waiting.length, 'job')} ${verb} for ${count(asked, 'GPU')}.`,
    rest: free,
    note: paused === 0 ? '' : `${gpus(paused)} of them ${paused === 1 ? 'is' : 'are'} paused.`,
  };
}

export function homeHeadline(jobs: readonly Job[], status: Status): Headline {
  const live = jobs.filter((job) => job.finished === null);
  const free = `${gpus(status.gpus.used)} of ${count(status.gpus.total, 'GPU')} are allocated.`;
  if (live.length === 0) {
    const hasRun = status.jobs.succeeded || status.jobs.failed || jobs.length > 0;
    return { answer: hasRun ? 'No job is live.' : 'No job has run yet.', rest: free, note: '' };
  }
  const running = inState(live, 'running').length;
  const waits = live.find((job) => job.state === 'queued' || job.state === 'paused');
  return {
    answer: running === live.length
      ? `${live.length === 1 ? 'The only job is' : `All ${gpus(live.length)} jobs are`} running.`
      : `${gpus(running)} of ${count(live.length, 'job')} ${running === 1 ? 'is' : 'are'} running.`,
    rest: free,
    note: waits === undefined || waits.why === ''
      ? ''
      : `${waits.spec.name} ${waits.state === 'paused' ? 'is paused' : 'waits'}: ${waits.why}.`,
  };
}

// What a project's use says of its quota: who owes whom.
export function balance(use: { quota: number; used: number; waiting: number }): string {
  const over = use.used - use.quota;
  if (over > 0) return `borrows ${gpus(over)}`;
  if (over === 0) return use.quota === 0 ? 'uses none' : 'even';
  return use.waiting > 0 ? `${gpus(-over)} unused` : `can lend ${gpus(-over)}`;
}
