// SPDX-License-Identifier: Apache-2.0
//
// What happened to a job, in words, as berth events says it?
import type { IdleWarning, JobEvent } from '../api/types';
import { gpuTime } from './job';
import { duration } from './numbers';

type NameOf = (job: number) => string;

interface Task { node: string; gpus: number[] }

const kPhrases: Record<string, (event: JobEvent, nameOf: NameOf) => string> = {
  job_submitted: () => 'submitted',
  job_starting: (event) => `attempt ${event.attempt} starts on ${where(event)} (${event.rule})`,
  job_running: () => 'runs',
  job_reserved: (event) => `has reserved ${where(event)} (${event.rule})`,
  reservation_dropped: () => 'lost its reservation',
  pause_requested: (event, nameOf) =>
    `is asked to ${event.whole_job ? 'save and pause' : 'shrink'}${forWhich(event, nameOf)} (${event.rule})`,
  job_paused: (event) => (event.frozen ? 'paused by checkpoint' : event.saved ? 'paused, saved' : 'paused, ended before it saved'),
  job_parked: () => 'parked by checkpoint: it made no call to its GPUs',
  job_woken: () => 'wakes: it asks for its GPUs',
  job_resized: (event) =>
    `${event.saved ? 'saved' : 'ended before it saved'}, continues as attempt ${event.attempt} with the tasks it has`,
  job_size_set: (event) => `wants ${event.tasks === 1 ? '1 task' : `${event.tasks} tasks`} from now on`,
  job_request_set: (event) =>
    `asks another part of its GPUs ${event.requeue ? 'once it has left them' : 'from now on'}`,
  job_held: () => 'is on hold by a user',
  job_released: () => 'may run again',
  checkpoint_saved: () => 'saved a checkpoint',
  job_measured: () => 'was measured: what it takes of a GPU is known',
  jobs_parted: () => 'is no longer packed with another job',
  job_idle: (event) => idleWords(event.warning as IdleWarning),
  job_busy: () => 'is no longer warned that its GPUs idle',
  job_used: (event) => `its GPUs were busy for ${Math.round((100 * Number(event.busy)) / Number(event.measured))} % of ${duration(1000 * Number(event.measured))}`,
  job_kept: () => 'is kept for a while, also while its GPUs idle',
  job_escaped: (event) => `uses GPUs outside its share: ${event.detail}`,
  cancel_requested: (event) => (event.reason ? `is asked to stop: ${event.reason}` : 'is asked to stop'),
  job_finished: (event) => `${event.state}, exit ${event.exit_code}${event.detail ? `: ${event.detail}` : ''}`,
  attempt_lost: (event) => `its attempt was lost: ${event.detail}`,
};

// A type that is not known, of a newer server, is its name.
export function eventWords(event: JobEvent, nameOf: NameOf): string {
  return kPhrases[event.type]?.(event, nameOf) ?? event.type.replaceAll('_', ' ');
}

// What a pause may cost, as foreseen; empty for other events.
export function eventNote(event: JobEvent): string {
  const cost = event.cost as { unsaved_gpu_ms: number } | undefined;
  return cost && cost.unsaved_gpu_ms > 0 ? `${gpuTime(cost.unsaved_gpu_ms)} of work not saved` : '';
}

function idleWords({ act, acts_at, why_not }: IdleWarning): string {
  if (acts_at === null) return `its GPUs do nothing${why_not ? `; it is not parked: ${why_not}` : ''}`;
  return `its GPUs do nothing; it is ${act === 'park' ? 'parked' : 'ended'} soon unless they are used`;
}

function where(event: JobEvent): string {
  const nodes = [...new Set(((event.tasks ?? []) as Task[]).map((task) => task.node))];
  return nodes.length > 3 ? `${nodes.length} nodes` : nodes.join(', ');
}

function forWhich(event: JobEvent, nameOf: NameOf): string {
  return typeof event.beneficiary === 'number' ? ` for ${nameOf(event.beneficiary)}` : '';
}
