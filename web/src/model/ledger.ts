// SPDX-License-Identifier: Apache-2.0
//
// What do uses of GPU time mean, how is GPU time said, and in which order do rows stand? Numbers as
// berth report says them.
import type { By, GpuSeconds, GpuUse, Ledger, LedgerRow, Saving } from '../api/ledger_types';
import type { Headline } from './words';
import { gpus } from './numbers';

export interface UseWords {
  use: GpuUse;
  words: string;
  meaning: string;
  isWaste: boolean;
}

const kWaste: readonly GpuUse[] = [
  'allocated_idle', 'lost_to_pause', 'lost_to_failure', 'blocked_by_room', 'blocked_by_rules',
];

// In the order of the bar: what worked, what was wasted, what was free.
export const kUses: readonly UseWords[] = ([
  ['busy', 'Busy', 'jobs had them, and kernels ran'],
  ['not_measured', 'Not measured', 'jobs had them; how busy is not known'],
  ['starting', 'Starting', 'processes of jobs were being started'],
  ['leaving', 'Leaving', 'jobs were asked to leave them'],
  ['allocated_idle', 'Allocated, idle', 'jobs had them, and no kernel ran'],
  ['lost_to_pause', 'Lost to pauses', 'work since the last save'],
  ['lost_to_failure', 'Lost to failures', 'work since the last save'],
  ['blocked_by_room', 'Free, too few', 'the smallest job that waits asks for more'],
  ['blocked_by_rules', 'Free, ruled out', 'kept from jobs by quota or order'],
  ['reserved', 'Reserved', 'free, kept for a job until it starts'],
  ['free', 'Free', 'no job waited for them'],
  ['others', 'Outside Berth', 'other programs had them'],
  ['unhealthy', 'Not ready', 'their nodes were not ready'],
] as const).map(([use, words, meaning]) => ({ use, words, meaning, isWaste: kWaste.includes(use) }));

export function useWords(use: GpuUse): string {
  return kUses.find((one) => one.use === use)?.words ?? use;
}

export function worked(times: GpuSeconds): number {
  return times.busy + times.not_measured;
}

export function wasted(times: GpuSeconds): number {
  return kWaste.reduce((sum, use) => sum + times[use], 0);
}

export interface Unit {
  title: string; // "GPU h"
  words: string; // "GPU hours"
  seconds: number;
}

const kUnits: readonly Unit[] = [
  { title: 'GPU h', words: 'GPU hours', seconds: 3600 },
  { title: 'GPU min', words: 'GPU minutes', seconds: 60 },
  { title: 'GPU s', words: 'GPU seconds', seconds: 1 },
];

// Beside that much.
export function unitOf(seconds: number): Unit {
  const kEnough = 10; // of a unit, for it to be used
  return kUnits.find((unit) => seconds >= kEnough * unit.seconds) ?? (kUnits[2] as Unit);
}

// "1,234.5".
export function gpuTime(seconds: number, unit: Unit): string {
  const tenths = Math.round((seconds / unit.seconds) * 10);
  return `${gpus(Math.floor(tenths / 10))}.${tenths % 10}`;
}

// For a title: "1,234 GPU hours", "61.5 GPU hours".
export function gpuTimeSaid(seconds: number): string {
  const unit = unitOf(seconds);
  const many = seconds / unit.seconds;
  return `${many >= 100 ? gpus(Math.round(many)) : gpuTime(seconds, unit)} ${unit.words}`;
}

// "12 %", "<1 %" of what is little, "0 %" of nothing.
export function partWords(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0 %';
  const percent = Math.round((part / whole) * 100);
  if (percent === 0) return '<1 %';
  return percent === 100 && part < whole ? '>99 %' : `${percent} %`;
}

export function ledgerHeadline({ sentences }: Ledger): Headline {
  const [use, waste] = sentences.map((sentence) => sentence.text);
  return { answer: use ?? '', rest: waste ?? '', note: '' };
}

export interface NamedRow extends LedgerRow {
  shown: string;
  job: number; // that it is of; 0 = none
}

const kOfJobs: readonly By[] = ['project', 'user', 'job'];

export function isOfJobs(by: By): boolean {
  return kOfJobs.includes(by);
}

// Days as they come; all else the largest first, and what has no name last.
export function ledgerRows({ rows, by }: Ledger): NamedRow[] {
  const named = rows.map((row): NamedRow => {
    const job = by === 'job' ? /^(\d+) ?(.*)$/s.exec(row.name) : null;
    const other = isOfJobs(by) ? 'no job' : 'not said';
    return {
      ...row, job: Number(job?.[1] ?? 0), shown: (job ? job[2] || `job ${job[1]}` : row.name) || other,
    };
  });
  if (by === 'day') return named;
  const isLast = (row: NamedRow) => Number(row.name === '');
  return named.sort((one, other) => isLast(one) - isLast(other) || other.sum - one.sum);
}

// "jupyter and 2 others".
export function savingName({ name, job, others, pool }: Saving): string {
  if (job === null) return `pool ${pool}`;
  const more = others === 0 ? '' : ` and ${others} ${others === 1 ? 'other' : 'others'}`;
  return `${name || `job ${job}`}${more}`;
}

// The day that lies that many before: "2026-11-21".
export function dayBefore(day: number, many: number): string {
  return new Date(day - many * 86_400_000).toISOString().slice(0, 10);
}
