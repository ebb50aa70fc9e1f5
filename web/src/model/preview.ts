// SPDX-License-Identifier: Apache-2.0
//
// What is wanted of a project's rights, what would that do, and how is it taken back? A change names
// what differs and nothing else.
import type { Fate, JobFate, Rights, Supposition, WhatIf } from '../api/project_types';
import { gpus } from './numbers';
import { amount, kDefaultPool, useOf, type ProjectRow } from './projects';
import { command } from './shell';

// As it is typed; empty = none.
export interface Draft {
  quota: string;
  limit: string;
  weight: string;
}

export type Wish = Pick<Rights, 'quota' | 'limit' | 'weight'>;
export type Field = keyof Wish;
export const kFields: readonly Field[] = ['quota', 'limit', 'weight'];

export function draftOf({ quota, limit, weight }: Wish): Draft {
  return {
    quota: quota === null ? '' : String(quota),
    limit: limit < 0 ? '' : String(limit),
    weight: String(weight),
  };
}

// What was typed stays; what was not follows what it is now.
export function rebased(draft: Draft, read: Wish, now: Wish): Draft {
  const [before, then] = [draftOf(read), draftOf(now)];
  const pick = (field: Field) => (draft[field] === before[field] ? then[field] : draft[field]);
  return { quota: pick('quota'), limit: pick('limit'), weight: pick('weight') };
}

// Or the fields in which something else is written than a number with up to three decimals.
export function wishOf(draft: Draft): Wish | { wrong: Field[] } {
  const number = (text: string) => (/^\d{1,9}(\.\d{1,3})?$/.test(text.trim()) ? Number(text) : undefined);
  const isNone = (field: Field) => field !== 'weight' && /^(none)?$/i.test(draft[field].trim());
  const wrong = kFields.filter((field) => !isNone(field) && number(draft[field]) === undefined);
  if (wrong.length > 0) return { wrong };
  return {
    quota: isNone('quota') ? null : number(draft.quota)!,
    limit: isNone('limit') ? -1 : number(draft.limit)!,
    weight: number(draft.weight)!,
  };
}

export function differing(before: Wish, wish: Wish): Field[] {
  return kFields.filter((field) => before[field] !== wish[field]);
}

export function suppositions(name: string, pool: string, before: Wish, wish: Wish): Supposition[] {
  return differing(before, wish).map((what) => what === 'weight'
    ? { what, name, pool, weight_thousandths: Math.round(wish.weight * 1000) }
    : { what, name, pool, gpus: wish[what] ?? -1 });
}

// What is sent to make it so: null lifts a quota or a limit.
export function changeBody(pool: string, before: Wish, wish: Wish): object {
  const rights = Object.fromEntries(differing(before, wish).map((field) =>
    [field, field === 'limit' && wish.limit < 0 ? null : wish[field]]));
  return pool === kDefaultPool ? rights : { pools: { [pool]: rights } };
}

function valueOf(rights: Wish, field: Field): string {
  if (field === 'weight') return String(rights.weight);
  return amount(rights[field] ?? -1);
}

// "the quota of nlp is 6, was 4; its weight is 2, was 1".
export function changeWords(name: string, before: Wish, now: Wish): string {
  const words = differing(before, now).map((field, at) =>
    `${at === 0 ? `the ${field} of ${name}` : `its ${field}`} is ${valueOf(now, field)}, was ${valueOf(before, field)}`);
  const text = words.join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// As the terminal reads it: without commas.
function typed(rights: Wish, field: Field): string {
  const value = rights[field];
  return value === null || value < 0 ? 'none' : String(value);
}

// The same in a terminal: what shows the preview, and what makes the change.
export function changeCommands(name: string, pool: string, before: Wish, wish: Wish): string[] {
  const fields = differing(before, wish);
  if (fields.length === 0) return [];
  const where = pool === kDefaultPool ? [] : ['--pool', pool];
  const rights = fields.flatMap((field) => [field, `${name}=${typed(wish, field)}`]);
  const flags = fields.flatMap((field) => [`--${field}`, typed(wish, field)]);
  return [
    command('berth', 'whatif', ...rights, ...where),
    command('berth', 'project', 'set', name, ...flags, ...where),
  ];
}

export interface PreviewRow {
  name: string;
  isDepartment: boolean;
  differs: boolean;
  now: { quota: number; used: number; wanted: number };
  then: { quota: number; used: number; wanted: number };
  quota: string; // "4", "4 → 6"
  fair: string;
  used: string;
}

// All projects as they are and as they would be.
export function previewRows(rows: readonly ProjectRow[], whatIf: WhatIf | undefined, pool: string): PreviewRow[] {
  return rows.map((row) => {
    const change = whatIf?.projects.find((one) => one.project === row.name && one.pool === pool);
    const side = (of: { quota: number; used: number; waiting: number }) =>
      useOf({ quota: of.quota, used: of.used, wanted: of.waiting });
    const is = useOf(row);
    const now = change ? side(change.now) : is;
    const then = change ? side(change.then) : is;
    return {
      name: row.name, isDepartment: row.isDepartment, differs: change !== undefined, now, then,
      quota: change ? fromTo(amount(change.now.quota), amount(change.then.quota)) : amount(row.quota),
      fair: change ? fromTo(gpus(change.now.fair_share), gpus(change.then.fair_share)) : gpus(row.fair),
      used: fromTo(gpus(now.used), gpus(then.used)),
    };
  });
}

function fromTo(now: string, then: string): string {
  return now === then ? now : `${now} \u2192 ${then}`;
}

export interface JobLine {
  job: number;
  state: 'running' | 'starting' | 'pausing' | 'paused' | 'queued';
  words: string;
}

const kFateStates: Record<Fate, JobLine['state']> = {
  absent: 'queued', runs: 'running', starts: 'starting', grows: 'running', promised: 'starting',
  pauses: 'pausing', shrinks: 'running', moves: 'pausing', waits: 'queued',
};

// The jobs to which something else happens; those that wait for another reason are left out.
export function jobLines(whatIf: WhatIf, nameOf: (job: number) => string): JobLine[] {
  const order: Fate[] = ['pauses', 'shrinks', 'moves', 'starts', 'promised', 'grows'];
  const rank = (fate: Fate) => (order.indexOf(fate) + order.length) % order.length;
  return whatIf.jobs
    .filter(({ now, then }) => now.fate !== then.fate)
    .sort((one, other) => rank(one.then.fate) - rank(other.then.fate) || one.job - other.job)
    .map(({ job, now, then }) => ({ job, state: kFateStates[then.fate], words: fateWords(now, then, nameOf) }));
}

function fateWords(now: JobFate, then: JobFate, nameOf: (job: number) => string): string {
  const winner = then.beneficiary === null ? '' : ` for ${nameOf(then.beneficiary)}`;
  switch (then.fate) {
    case 'pauses': return `would pause${winner}`;
    case 'shrinks': return `would give up some GPUs${winner}`;
    case 'moves': return `would move${winner}`;
    case 'starts': return 'would start';
    case 'promised': return 'would start when its GPUs have been left';
    case 'grows': return 'would grow';
    case 'runs': return now.fate === 'waits' ? 'would run' : 'would run on';
    case 'waits': return then.why === '' ? 'would wait' : `would wait: ${then.why}`;
    case 'absent': return 'would not be there';
  }
}
