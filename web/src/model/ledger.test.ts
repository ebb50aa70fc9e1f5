// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { GpuSeconds, Ledger, LedgerRow, Saving } from '../api/ledger_types';
import {
  dayBefore, gpuTime, gpuTimeSaid, kUses, ledgerHeadline, ledgerRows, partWords, savingName, unitOf, wasted, worked,
} from './ledger';

const kNone = Object.fromEntries(kUses.map(({ use }) => [use, 0])) as GpuSeconds;

function row(name: string, times: Partial<GpuSeconds>): LedgerRow {
  const gpu_seconds = { ...kNone, ...times };
  return { name, gpu_seconds, sum: Object.values(gpu_seconds).reduce((sum, one) => sum + one, 0) };
}

function ledger(by: Ledger['by'], rows: LedgerRow[]): Ledger {
  return {
    from: '2026-11-22', to: '2026-11-28', by, rows, total: row('', {}), unpriced: [], wasted: 0, savings: [],
    other_savings_a_week: 0, sentences: [{ about: 'use', text: 'Of 82.0 GPU hours.' }, { about: 'waste', text: 'Waste.' }],
  };
}

test('GPU time is said as berth report says it', () => {
  const cases: [seconds: number, said: string][] = [
    [0, '0.0 GPU s'], [8.14, '8.1 GPU s'], [599, '599.0 GPU s'], [600, '10.0 GPU min'], [35_999, '600.0 GPU min'],
    [36_000, '10.0 GPU h'], [4_838_580, '1,344.1 GPU h'],
  ];
  for (const [seconds, said] of cases) {
    const unit = unitOf(seconds);
    expect(`${gpuTime(seconds, unit)} ${unit.title}`).toBe(said);
  }
  expect(gpuTimeSaid(4_838_580)).toBe('1,344 GPU hours');
  expect(gpuTimeSaid(36_000)).toBe('10.0 GPU hours');
});

test('a part is whole percents, and never rounded to nothing or all', () => {
  expect([partWords(0, 0), partWords(0, 9), partWords(1, 900), partWords(1, 3), partWords(899, 900), partWords(9, 9)])
    .toEqual(['0 %', '0 %', '<1 %', '33 %', '>99 %', '100 %']);
});

test('each use has its words, and is work, waste or neither', () => {
  expect(new Set(kUses.map(({ use }) => use)).size).toBe(13);
  expect(wasted({ ...kNone, allocated_idle: 1, lost_to_pause: 2, free: 4, busy: 8 })).toBe(3);
  expect(worked({ ...kNone, not_measured: 1, busy: 8, starting: 2 })).toBe(9);
});

test('rows stand by size, those without a name last; days as they come', () => {
  const rows = [row('', { free: 9 }), row('nlp', { busy: 1 }), row('vision', { busy: 2 })];
  expect(ledgerRows(ledger('project', rows)).map(({ shown }) => shown)).toEqual(['vision', 'nlp', 'no job']);
  expect(ledgerRows(ledger('gpu', rows)).map(({ shown }) => shown)).toEqual(['vision', 'nlp', 'not said']);
  const days = [row('2026-11-22', { busy: 1 }), row('2026-11-23', { busy: 9 })];
  expect(ledgerRows(ledger('day', days)).map(({ shown }) => shown)).toEqual(['2026-11-22', '2026-11-23']);
});

test('a row of a job leads to it, whatever it is called', () => {
  const rows = [row('7 train 2', { busy: 2 }), row('8 ', { busy: 1 })];
  expect(ledgerRows(ledger('job', rows)).map(({ job, shown }) => [job, shown])).toEqual([[7, 'train 2'], [8, 'job 8']]);
  expect(ledgerRows(ledger('project', [row('7 up', {})]))[0]?.job).toBe(0);
});

test('a saving is of a job, of several of one user, or of a pool', () => {
  const saving: Saving = {
    use: 'allocated_idle', gpu_seconds: 1, gpu_seconds_a_week: 1, act: '', command: '', job: 7, name: 'jupyter', others: 0,
    project: 'vision', user: 'ana', pool: '',
  };
  expect(savingName(saving)).toBe('jupyter');
  expect(savingName({ ...saving, name: '', others: 1 })).toBe('job 7 and 1 other');
  expect(savingName({ ...saving, others: 2 })).toBe('jupyter and 2 others');
  expect(savingName({ ...saving, job: null, pool: 'default' })).toBe('pool default');
});

test('the answer comes first, what would save most behind it', () => {
  expect(ledgerHeadline(ledger('day', []))).toEqual({ answer: 'Of 82.0 GPU hours.', rest: 'Waste.', note: '' });
  expect(dayBefore(Date.parse('2026-03-02T23:59:00Z'), 6)).toBe('2026-02-24');
});
