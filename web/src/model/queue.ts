// SPDX-License-Identifier: Apache-2.0
//
// Which jobs does the queue show, in which order, and in which groups?
import type { Job } from '../api/types';
import { isOnHold, reasonWords } from './words';
import type { StateFilter, View } from './view';

export interface Group {
  name: string;
  jobs: number;
  gpus: number;
}

const kStates: Record<Exclude<StateFilter, 'hold'>, readonly Job['state'][]> = {
  waiting: ['queued', 'paused'],
  running: ['running', 'starting', 'pausing', 'cancelling'],
  ended: ['succeeded', 'failed', 'cancelled'],
};

// What it asks for, or has while it runs.
export function gpusOf(job: Job): number {
  if (job.tasks.length > 0) {
    return job.tasks.reduce((sum, task) => sum + task.gpus.length * task.share, 0);
  }
  return job.spec.tasks_max * job.spec.request.gpus * job.spec.request.share;
}

export function inState(jobs: readonly Job[], state: StateFilter): Job[] {
  return jobs.filter((job) =>
    state === 'hold' ? isOnHold(job) : kStates[state].includes(job.state) && !isOnHold(job));
}

// Of one state, those that the view asks for, in its order.
export function rows(jobs: readonly Job[], view: View): Job[] {
  const words = view.text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const found = inState(jobs, view.state).filter(
    (job) =>
      (view.reason === '' || job.verdict?.reason === view.reason) &&
      (view.project === '' || job.spec.project === view.project) &&
      words.every((word) => isNamed(job, word)),
  );
  const before = view.state === 'ended' && view.sort === 'position' ? latest : kOrders[view.sort];
  return found.sort((one, other) => before(one, other) || one.id - other.id);
}

export function byReason(jobs: readonly Job[]): Group[] {
  return groups(jobs, (job) => job.verdict?.reason ?? '');
}

export function byProject(jobs: readonly Job[]): Group[] {
  return groups(jobs, (job) => job.spec.project);
}

// "project:nlp", "user:maria", "reason:quota", or a part of any of its names.
function isNamed(job: Job, word: string): boolean {
  const [field, value] = word.includes(':') ? split(word) : ['', word];
  const named: Record<string, string> = {
    project: job.spec.project,
    user: job.user,
    reason: reasonWords(job.verdict?.reason ?? ''),
    job: `${job.id} ${job.spec.name}`,
  };
  const texts = field in named ? [named[field] ?? ''] : [...Object.values(named)];
  return texts.some((text) => text.toLowerCase().includes(value));
}

function split(word: string): [string, string] {
  const colon = word.indexOf(':');
  return [word.slice(0, colon), word.slice(colon + 1)];
}

const kOrders: Record<View['sort'], (one: Job, other: Job) => number> = {
  position: (one, other) => position(one) - position(other),
  waiting: (one, other) => waitingSince(one) - waitingSince(other),
  gpus: (one, other) => gpusOf(other) - gpusOf(one),
  project: (one, other) => one.spec.project.localeCompare(other.spec.project),
};

function latest(one: Job, other: Job): number {
  return Date.parse(other.finished ?? '') - Date.parse(one.finished ?? '');
}

// Jobs in no order come behind the others.
function position(job: Job): number {
  return job.verdict?.position || Number.MAX_SAFE_INTEGER;
}

function waitingSince(job: Job): number {
  return Date.parse(job.waiting_since ?? job.created);
}

function groups(jobs: readonly Job[], nameOf: (job: Job) => string): Group[] {
  const found = new Map<string, Group>();
  for (const job of jobs) {
    const name = nameOf(job);
    if (name === '') continue;
    const group = found.get(name) ?? { name, jobs: 0, gpus: 0 };
    found.set(name, { name, jobs: group.jobs + 1, gpus: group.gpus + gpusOf(job) });
  }
  return [...found.values()].sort((one, other) => other.jobs - one.jobs || (one.name < other.name ? -1 : 1));
}
