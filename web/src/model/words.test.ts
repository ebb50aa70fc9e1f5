// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Status } from '../api/types';
import { job, kNow } from './jobs_of_test';
import { balance, homeHeadline, queueHeadline, reasonWords, stateSince } from './words';

const kStatus: Status = {
  version: '0.1.0', cluster_id: 'c', sequence: 1, jobs: {},
  gpus: { total: 8, ready: 8, used: 7, idle: 1 },
};

test('the queue says who waits, for how much, and what is free', () => {
  const said = queueHeadline([job(1, { gpus: 2 }), job(2, { state: 'paused' })], kStatus);
  expect(said.answer).toBe('2 jobs wait for 3 GPUs.');
  expect(said.rest).toBe('1 of 8 GPUs is free.');
  expect(said.note).toBe('1 of them is paused.');
  expect(queueHeadline([job(1)], kStatus).answer).toBe('1 job waits for 1 GPU.');
  expect(queueHeadline([], kStatus).answer).toBe('Nothing waits.');
});

test('Home says how many run, and why the first does not', () => {
  const running = job(1, { state: 'running', why: '' });
  const said = homeHeadline([running, job(2)], kStatus);
  expect(said.answer).toBe('1 of 2 jobs is running.');
  expect(said.rest).toBe('7 of 8 GPUs are allocated.');
  expect(said.note).toBe('job-2 waits: lab uses 4 of its fair share of 4 GPUs.');
  expect(homeHeadline([running], kStatus).answer).toBe('The only job is running.');
  expect(homeHeadline([running, job(3, { state: 'running' })], kStatus).answer)
    .toBe('All 2 jobs are running.');
});

test('before the first job it says so', () => {
  expect(homeHeadline([], kStatus).answer).toBe('No job has run yet.');
  expect(homeHeadline([job(1, { state: 'failed', finished: '2026-11-27T10:00:00Z' })], kStatus).answer)
    .toBe('No job is live.');
});

test('a state says since when', () => {
  expect(stateSince(job(1), kNow)).toBe('Queued 38 min');
  expect(stateSince(job(1, { state: 'running', last_start: '2026-11-27T11:26:00Z' }), kNow))
    .toBe('Running 3 h 12 min');
  expect(stateSince(job(1, { state: 'failed', finished: '2026-11-27T14:37:00Z' }), kNow))
    .toBe('Failed 1 min ago');
  expect(stateSince(job(1, { state: 'paused', parked_since: '2026-11-27T14:36:00Z' }), kNow))
    .toBe('Parked 2 min');
});

test('reasons are words', () => {
  expect(reasonWords('WaitingForPause')).toBe('Waiting for pause');
  expect(reasonWords('')).toBe('');
});

test('a project borrows, lends or is even', () => {
  expect(balance({ quota: 2, used: 3, waiting: 0 })).toBe('borrows 1');
  expect(balance({ quota: 2, used: 2, waiting: 5 })).toBe('even');
  expect(balance({ quota: 2, used: 1, waiting: 0 })).toBe('can lend 1');
  expect(balance({ quota: 2, used: 1, waiting: 1 })).toBe('1 unused');
  expect(balance({ quota: 0, used: 0, waiting: 0 })).toBe('uses none');
});
