// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { JobSpans, PastSpan } from '../api/timeline_types';
import type { Band } from '../api/types';
import { isMeant, isWithin, rowsOf, type Bar } from './timeline';

const kStart = Date.parse('2026-11-27T10:00:00Z');
const at = (minute: number) => kStart + minute * 60_000;
const iso = (minute: number) => new Date(at(minute)).toISOString();

function span(state: PastSpan['state'], from: number, to: number | null, on: Record<string, number> = {}): PastSpan {
  const gpus = Object.values(on);
  return {
    state, on_hold: false, parked: false, from: iso(from), to: to === null ? null : iso(to), attempt: 1,
    gpus: gpus.reduce((sum, many) => sum + many, 0), nodes: Object.keys(on), node_gpus: gpus, rule: null,
    beneficiary: null, saved: false, lost_gpu_ms: 0,
  };
}

function job(id: number, spans: PastSpan[], more: Partial<JobSpans> = {}): JobSpans {
  return {
    id, name: `j${id}`, project: 'nlp', user: 'maria', state: spans.at(-1)?.state ?? 'queued', gpus: 1, spans,
    left_out: 0, expected: [], evidence: 'none', ...more,
  };
}

const band = (first: number, likely: number, last: number | null): Band => ({
  optimistic: iso(first), expected: iso(likely), pessimistic: last === null ? null : iso(last),
});
const kNodes = new Map([['n2', 8], ['n10', 8]]);
const words = (bars: Bar[] | undefined) => bars?.map(({ kind, from, to }) => [kind, (from - kStart) / 60_000, (to - kStart) / 60_000]);

test('every node has a row, in the order in which people count, also one where nothing ran', () => {
  expect(rowsOf('nodes', [], at(9), kNodes).map(({ name, bars }) => [name, bars.length])).toEqual([['n2', 0], ['n10', 0]]);
});

test('a gang is on each of its nodes, as tall as its part of the GPUs there', () => {
  const gang = job(1, [span('queued', 0, 5), span('running', 5, null, { n2: 8, n10: 4 })]);
  const rows = rowsOf('nodes', [gang], at(9), kNodes);
  expect(rows.map(({ bars }) => bars.map(({ top, tall }) => [top, tall]))).toEqual([[[0, 1]], [[0, 0.5]]]);
  expect(words(rows[0]?.bars)).toEqual([['runs', 5, 9]]);
});

test('two jobs on one node do not cover each other', () => {
  const jobs = [1, 2].map((id) => job(id, [span('running', id, null, { n2: 4 })]));
  expect(rowsOf('nodes', jobs, at(9), kNodes)[0]?.bars.map(({ top, tall }) => [top, tall])).toEqual([[0, 0.5], [0.5, 0.5]]);
});

test('a pause is where the job was, and takes no room from who runs there meanwhile', () => {
  const paused = job(1, [span('running', 0, 4, { n2: 8 }), span('paused', 4, 8), span('running', 8, null, { n2: 8 })]);
  const other = job(2, [span('running', 5, 7, { n2: 8 })]);
  const bars = rowsOf('nodes', [paused, other], at(9), kNodes)[0]?.bars;
  expect(words(bars)).toEqual([['runs', 0, 4], ['paused', 4, 8], ['runs', 5, 7], ['runs', 8, 9]]);
  expect(bars?.every(({ top, tall }) => top === 0 && tall === 1)).toBe(true);
});

test('what is expected of a job that runs is beside it; one that waits is not placed yet', () => {
  const runs = job(1, [span('running', 0, null, { n2: 8 })], {
    expected: [{ state: 'running', from: band(9, 9, 9), to: band(10, 12, 20) }],
  });
  const waits = job(2, [span('queued', 0, null)], {
    expected: [{ state: 'queued', from: band(9, 9, 9), to: band(10, 12, 20) },
      { state: 'running', from: band(10, 12, 20), to: band(20, 30, null) }],
  });
  const rows = rowsOf('nodes', [runs, waits], at(9), kNodes);
  expect(words(rows[0]?.bars)).toEqual([['runs', 0, 9], ['expected', 9, 12]]);
  expect(rows[0]?.bars[1]).toMatchObject({ latest: at(20), isStart: false });
  expect(rows[2]).toMatchObject({ name: 'waiting', tracks: 1 });
  expect(rows[2]?.bars[0]).toMatchObject({ isStart: true, latest: 0 });
});

test('a job has a row of its own, the newest first, with the time that it waited', () => {
  const jobs = [1, 2].map((id) => job(id, [span('queued', 0, 5), span('paused', 5, null)]));
  const rows = rowsOf('jobs', jobs, at(9), kNodes);
  expect(rows.map(({ name, job }) => [name, job])).toEqual([['j2', 2], ['j1', 1]]);
  expect(words(rows[0]?.bars)).toEqual([['waits', 0, 5], ['paused', 5, 9]]);
});

test('a project has a track for each job that there is at once', () => {
  const jobs = [job(1, [span('running', 0, 5, { n2: 1 })]), job(2, [span('running', 3, 8, { n2: 1 })]),
    job(3, [span('running', 5, 9, { n2: 1 })]), job(4, [span('running', 0, 9, { n2: 1 })], { project: 'vision' })];
  const rows = rowsOf('projects', jobs, at(9), kNodes);
  expect(rows.map(({ name, tracks }) => [name, tracks])).toEqual([['nlp', 2], ['vision', 1]]);
  expect(rows[0]?.bars.map(({ top }) => top)).toEqual([0, 0.5, 0]);
});

test('in tracks a pause keeps its place', () => {
  const paused = job(1, [span('running', 0, 4, { n2: 8 }), span('paused', 4, 8)]);
  const other = job(2, [span('running', 5, 7, { n2: 8 })]);
  const [row] = rowsOf('projects', [paused, other], at(9), kNodes);
  expect(row?.bars.map(({ kind, top }) => [kind, top])).toEqual([['runs', 0], ['paused', 0], ['runs', 0.5]]);
});

test('a job is seen where one of its bars is, or what is expected of it', () => {
  const ended = job(1, [span('queued', 0, 2), span('running', 2, 5, { n2: 1 }), span('succeeded', 5, null)]);
  const seen = (from: number, to: number) => isWithin(ended, { from: at(from), to: at(to) }, at(20));
  expect([seen(-5, 0), seen(1, 2), seen(4, 9), seen(5, 9)]).toEqual([false, true, true, false]);
});

test('a highlight means numbers, names, users, projects and nodes', () => {
  const one = job(7, [span('running', 0, 5, { n10: 1 })], { name: 'bert-large' });
  for (const text of ['', '7', 'bert', 'maria', 'nlp n10', 'project:nlp', 'user:maria', 'node:n10']) expect([text, isMeant(one, text)]).toEqual([text, true]);
  for (const text of ['8', 'bert vision', 'project:nl', 'node:n2']) expect([text, isMeant(one, text)]).toEqual([text, false]);
});

// Any jobs that fit on a node: no two of them cover each other.
test('bars of any day lie within their row and beside each other', () => {
  let seed = 5;
  const dice = (sides: number) => (seed = (seed * 48_271) % 2_147_483_647) % sides;
  for (let day = 0; day < 100; ++day) {
    const until = [0, 0, 0, 0];
    const jobs = Array.from({ length: 30 }, (_, id) => {
      const track = dice(4);
      const from = (until[track] ?? 0) + dice(5);
      until[track] = from + 1 + dice(50);
      return job(id + 1, [span('running', from, until[track] as number, { n2: 2 })]);
    });
    const bars = rowsOf('nodes', jobs, at(10_000), kNodes)[0]?.bars ?? [];
    for (const [index, bar] of bars.entries()) {
      expect(bar.top >= 0 && bar.top + bar.tall <= 1).toBe(true);
      const covers = bars.slice(index + 1).filter((other) => other.from < bar.to && other.top < bar.top + bar.tall && bar.top < other.top + other.tall);
      expect(covers).toEqual([]);
    }
  }
});
