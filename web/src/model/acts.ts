// SPDX-License-Identifier: Apache-2.0
//
// What can be done to a job now, and what would that do? The confirmation says the effect.
import type { Right, Verb, WholeJob } from '../api/types';
import { gpusOf, gpuTime, pauseWay, usedMs } from './job';
import { count } from './numbers';
import { isOnHold } from './words';

export interface Act {
  verb: Verb;
  title: string;
  isFinal: boolean; // it cannot be taken back
  effect: string; // what it does, in sentences
}

export function acts(job: WholeJob, rights: readonly Right[], now: number): Act[] {
  if (!rights.includes('steer') || job.finished !== null || job.state === 'cancelling') return [];
  const found: Act[] = [];
  if (job.held || job.parked_since !== null) found.push(resume(job));
  else if (job.state !== 'pausing') found.push(pause(job, now));
  if (job.idle !== null) found.push(keep);
  return [...found, cancel(job, now)];
}

function freed(job: WholeJob): string {
  return `It leaves ${count(gpusOf(job), 'GPU')}`;
}

function pause(job: WholeJob, now: number): Act {
  if (job.tasks.length === 0) {
    return {
      verb: 'pause', title: 'Hold', isFinal: false,
      effect: 'It does not start until a user resumes it. It keeps its place in line.',
    };
  }
  const way = pauseWay(job, now)?.text ?? 'It is asked to save and stop.';
  return {
    verb: 'pause', title: 'Pause', isFinal: false,
    effect: `${freed(job)} and does not start again until a user resumes it. ${way}`,
  };
}

function resume(job: WholeJob): Act {
  const effect = isOnHold(job) || job.parked_since !== null
    ? 'It waits for GPUs again, and starts as soon as it can have them.'
    : 'Once it has left its GPUs it waits for GPUs again.';
  return { verb: 'resume', title: 'Resume', isFinal: false, effect };
}

const keep: Act = {
  verb: 'keep', title: 'Keep 2 h', isFinal: false,
  effect: 'It may leave its GPUs idle for 2 hours. Then it is warned again.',
};

function cancel(job: WholeJob, now: number): Act {
  const has = job.tasks.length > 0;
  const used = usedMs(job, now);
  const worth = used > 0 ? ` It has used ${gpuTime(used)}; what it has saved stays.` : '';
  return {
    verb: 'cancel', title: 'Cancel', isFinal: true,
    effect: `${has ? `${freed(job)} and ends` : 'It leaves the queue'} for good.${worth}`,
  };
}
