// SPDX-License-Identifier: Apache-2.0
//
// Which words do the pages say of data? The server writes the sentences, the rest is here.
import type { JobState, Overview, ProjectUse, Row } from '../api/types';
import { duration, gpus } from './numbers';

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

// What a job does.
export type Doing = Pick<Row, 'state' | 'held' | 'parked'>;

export function hasEnded({ state }: Pick<Row, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'cancelled';
}

// It goes on when a user resumes it, not by itself.
export function isOnHold(job: Pick<Row, 'state' | 'held'>): boolean {
  return job.held && (job.state === 'queued' || job.state === 'paused');
}

export function stateWord(job: Doing): string {
  if (job.parked) return 'Parked';
  return isOnHold(job) ? 'On hold' : kStates[job.state];
}

// "QuotaFair" -> "Quota fair", as berth ls says it.
export function reasonWords(reason: string): string {
  const words = reason.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// How long it is in its state, in words: "Running 3 h 12 min".
export function stateSince(job: Row, now: number): string {
  const age = duration(now - Date.parse(job.since));
  return `${stateWord(job)} ${age}${hasEnded(job) ? ' ago' : ''}`;
}

// The server's sentences, of which berth status says the same: what is asked first, in front.
export function homeHeadline({ sentences }: Overview): Headline {
  const [own, waiting, ...others] = sentences.map((sentence) => sentence.text);
  return { answer: own ?? '', rest: waiting ?? '', note: others.join(' ') };
}

export function queueHeadline({ sentences }: Overview): Headline {
  const of = (about: string) => sentences.find((sentence) => sentence.about === about)?.text ?? '';
  const waiting = of('waiting');
  const end = waiting.includes('; ') ? waiting.indexOf('; ') + 1 : waiting.length;
  return { answer: waiting.slice(0, end), rest: waiting.slice(end + 1), note: of('quotas') };
}

// Who owes whom.
export function balance(use: ProjectUse): string {
  if (use.above_quota > 0) return `borrows ${gpus(use.above_quota)}`;
  if (use.unused_quota === 0) return use.quota === 0 ? 'uses none' : 'even';
  return use.wanted > 0 ? `${gpus(use.unused_quota)} unused` : `can lend ${gpus(use.unused_quota)}`;
}
