// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { Rows } from './rows';
import type { RowNews, StreamRow } from './types';

function row(id: number, more: Partial<StreamRow> = {}): StreamRow {
  return {
    id, name: 'a', project: 'p', user: 'ann', gpus: 1, state: 'queued', held: false, parked: false,
    since: '2026-03-02T13:00:00Z', why: '', nodes: [], ...more,
  };
}

function news(more: Partial<RowNews>): RowNews {
  return { whole: false, rows: [], gone: [], more: 0, explanations: {}, ...more };
}

const kFull = { reason: 'PoolFull', why: '0 of 8 GPUs idle', blockers: [1] };

test('a position is a place among those of its queue', () => {
  const rows = new Rows();
  const jobs = rows.take(news({
    whole: true,
    rows: [row(1, { places: [[1, 30]] }), row(2, { places: [[1, 10]] }), row(3, { places: [[2, 40]] }), row(4)],
  }));
  expect(jobs.map((job) => job.position)).toEqual([2, 1, 1, 0]);
  expect(rows.take(news({ gone: [2] })).map((job) => job.position)).toEqual([1, 1, 0]);
});

test('who waits in a queue by second choice counts there too', () => {
  const jobs = new Rows().take(news({
    whole: true,
    rows: [row(1, { places: [[1, 30]] }), row(2, { places: [[2, 5], [1, 10]] }), row(3, { places: [[1, 0]] })],
  }));
  expect(jobs.map((job) => job.position)).toEqual([2, 1, 0]);
});

test('why they wait changes for all that wait alike', () => {
  const rows = new Rows();
  rows.take(news({
    whole: true,
    rows: [row(1, { explanation: 3, places: [[1, 1]] }), row(2, { explanation: 3, places: [[1, 2]] }),
      row(5, { state: 'failed', why: 'exit code 1' })],
    explanations: { 3: kFull },
  }));
  const jobs = rows.take(news({ explanations: { 3: { ...kFull, why: '1 of 8 GPUs idle' } } }));
  expect(jobs.map((job) => job.why)).toEqual(['1 of 8 GPUs idle', '1 of 8 GPUs idle', 'exit code 1']);
  expect(jobs[0]?.blockers).toEqual([1]);
});

test('all are forgotten where the whole comes', () => {
  const rows = new Rows();
  rows.take(news({ whole: true, rows: [row(1, { explanation: 3 })], explanations: { 3: kFull } }));
  expect(rows.take(news({ whole: true, rows: [row(2)] })).map((job) => job.id)).toEqual([2]);
});
