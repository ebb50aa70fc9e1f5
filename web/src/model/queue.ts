// SPDX-License-Identifier: Apache-2.0
//
// Which jobs does the queue show, in which order, and in which groups?
import type { Row } from '../api/types';
import { hasEnded, isOnHold, reasonWords } from './words';
import type { StateFilter, View } from './view';

export interface Group {
  name: string;
  jobs: number;
  gpus: number;
}

const kStates: Record<Exclude<StateFilter, 'hold'>, readonly Row['state'][]> = {
  waiting: ['queued', 'paused'],
  running: ['running', 'starting', 'pausing', 'cancelling'],
  ended: ['succeeded', 'failed', 'cancelled'],
};

export function inState(jobs: readonly Row[], state: StateFilter): Row[] {
  return jobs.filter((job) =>
    state === 'hold' ? isOnHold(job) : kStates[state].includes(job.state) && !isOnHold(job));
}

// Of one state, those that the view asks for, in its order.
export function rows(jobs: readonly Row[], view: View): Row[] {
  const words = view.text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const found = inState(jobs, view.state).filter(
    (job) =>
      (view.reason === '' || job.reason === view.reason) &&
      (view.project === '' || job.project === view.project) &&
      words.every((word) => isNamed(job, word)),
  );
  const before = view.state === 'ended' && view.sort === 'position' ? latest : kOrders[view.sort];
  return found.sort((one, other) => before(one, other) || one.id - other.id);
}

// Those that have not ended, as they matter to that user: its own first, then those that have GPUs, then
// the next to start.
export function byImportance(jobs: readonly Row[], user: string): Row[] {
  const rank = (job: Row) => (job.user === user ? 0 : 2) + (job.nodes.length > 0 ? 0 : 1);
  return jobs.filter((job) => !hasEnded(job)).sort((one, other) =>
    rank(one) - rank(other) || Number(isOnHold(one)) - Number(isOnHold(other)) ||
    position(one) - position(other) || one.id - other.id);
}

export function byReason(jobs: readonly Row[]): Group[] {
  return groups(jobs, (job) => job.reason ?? '');
}

export function byProject(jobs: readonly Row[]): Group[] {
  return groups(jobs, (job) => job.project);
}

// "project:nlp", "user:maria", "reason:quota", or a part of any of its names.
export function isNamed(job: Row, word: string): boolean {
  const [field, value] = word.includes(':') ? split(word) : ['', word];
  const named: Record<string, string> = {
    project: job.project,
    user: job.user,
    reason: reasonWords(job.reason ?? ''),
    job: `${job.id} ${job.name}`,
  };
  const texts = field in named ? [named[field] ?? ''] : [...Object.values(named)];
  return texts.some((text) => text.toLowerCase().includes(value));
}

function split(word: string): [string, string] {
  const colon = word.indexOf(':');
  return [word.slice(0, colon), word.slice(colon + 1)];
}

const kOrders: Record<View['sort'], (one: Row, other: Row) => number> = {
  position: (one, other) => position(one) - position(other),
  waiting: (one, other) => Date.parse(one.since) - Date.parse(other.since),
  gpus: (one, other) => other.gpus - one.gpus,
  project: (one, other) => one.project.localeCompare(other.project),
};

function latest(one: Row, other: Row): number {
  return Date.parse(other.since) - Date.parse(one.since);
}

// Jobs in no order come behind the others.
function position(job: Row): number {
  return job.position || Number.MAX_SAFE_INTEGER;
}

function groups(jobs: readonly Row[], nameOf: (job: Row) => string): Group[] {
  const found = new Map<string, Group>();
  for (const job of jobs) {
    const name = nameOf(job);
    if (name === '') continue;
    const group = found.get(name) ?? { name, jobs: 0, gpus: 0 };
    found.set(name, { name, jobs: group.jobs + 1, gpus: group.gpus + job.gpus });
  }
  return [...found.values()].sort((one, other) => other.jobs - one.jobs || (one.name < other.name ? -1 : 1));
}
