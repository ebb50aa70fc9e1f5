// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { job } from './jobs_of_test';
import { byImportance, byProject, byReason, inState, rows } from './queue';
import { viewOf } from './view';

const kJobs = [
  job(4, { position: 0, reason: null }),
  job(3, { gpus: 8, project: 'nlp', user: 'ivo', since: '2026-11-27T13:00:00Z' }),
  job(2, { reason: 'PoolFull', position: 1 }),
  job(1, { state: 'running' }),
  job(5, { state: 'failed', since: '2026-11-27T10:00:00Z' }),
  job(6, { state: 'cancelled', since: '2026-11-27T11:00:00Z' }),
];

function ids(search: string): number[] {
  return rows(kJobs, viewOf('/queue', search)).map((found) => found.id);
}

test('a job without a position comes behind the others', () => {
  expect(ids('')).toEqual([2, 3, 4]);
});

test('each state has its jobs, those that ended the last one first', () => {
  expect(ids('?state=running')).toEqual([1]);
  expect(ids('?state=ended')).toEqual([6, 5]);
});

test('what is on hold does not wait', () => {
  const held = job(7, { state: 'paused', held: true });
  expect(inState([...kJobs, held], 'waiting').map(({ id }) => id)).toEqual([4, 3, 2]);
  expect(inState([...kJobs, held], 'hold')).toEqual([held]);
  const pausing = job(8, { state: 'pausing', held: true });
  expect(inState([pausing], 'running')).toEqual([pausing]);
});

test('it is sorted as the view says', () => {
  expect(ids('?sort=gpus')).toEqual([3, 2, 4]);
  expect(ids('?sort=waiting')).toEqual([3, 2, 4]);
  expect(ids('?sort=project')).toEqual([2, 4, 3]);
});

test('a filter names a reason, a project, a field or a part of a name', () => {
  expect(ids('?reason=PoolFull')).toEqual([2]);
  expect(ids('?project=nlp')).toEqual([3]);
  expect(ids('?q=user:IVO')).toEqual([3]);
  expect(ids('?q=reason:pool')).toEqual([2]);
  expect(ids('?q=job-4')).toEqual([4]);
  expect(ids('?q=job maria')).toEqual([2, 4]);
  expect(ids('?q=user:nlp')).toEqual([]);
});

test('groups add up jobs and GPUs, the largest first', () => {
  expect(byProject(kJobs.slice(0, 3))).toEqual([
    { name: 'lab', jobs: 2, gpus: 2 }, { name: 'nlp', jobs: 1, gpus: 8 },
  ]);
  expect(byReason(kJobs.slice(0, 3)).map((group) => group.name)).toEqual(['PoolFull', 'QuotaFair']);
});

test('own jobs come first, of these those that run, then the next to start', () => {
  const found = byImportance([...kJobs, job(7, { state: 'running', user: 'ivo', nodes: ['n0'] }),
    job(8, { state: 'paused', user: 'ivo', held: true, position: 0 })], 'ivo');
  expect(found.map(({ id }) => id)).toEqual([7, 3, 8, 2, 1, 4]);
});
