// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Overview } from '../api/types';
import { job, kNow } from './jobs_of_test';
import { balance, homeHeadline, queueHeadline, reasonWords, stateSince, stateWord } from './words';

const kOverview: Overview = {
  sentences: [
    { about: 'own_jobs', text: '1 of your 2 jobs runs; 1 waits.' },
    { about: 'waiting', text: '1 job waits for 2 GPUs; 1 of 8 GPUs is idle.' },
    { about: 'not_ready', text: '1 GPU is not ready.' },
    { about: 'quotas', text: 'Above quota: lab 2.' },
  ],
  gpus: { total: 8, not_ready: 0 }, jobs: { running: 1, waiting: 1, paused: 0, on_hold: 0, leaving: 0 }, projects: [],
};

test('Home begins with the own jobs, the queue with those that wait', () => {
  expect(homeHeadline(kOverview)).toEqual({
    answer: '1 of your 2 jobs runs; 1 waits.',
    rest: '1 job waits for 2 GPUs; 1 of 8 GPUs is idle.',
    note: '1 GPU is not ready. Above quota: lab 2.',
  });
  expect(queueHeadline(kOverview)).toEqual({
    answer: '1 job waits for 2 GPUs;', rest: '1 of 8 GPUs is idle.', note: 'Above quota: lab 2.',
  });
});

test('a headline is whole where the server says less', () => {
  const little: Overview = { ...kOverview, sentences: [{ about: 'waiting', text: 'No job waits.' }] };
  expect(queueHeadline(little)).toEqual({ answer: 'No job waits.', rest: '', note: '' });
  expect(homeHeadline(little)).toEqual({ answer: 'No job waits.', rest: '', note: '' });
});

test('a state says since when', () => {
  expect(stateSince(job(1), kNow)).toBe('Queued 38 min');
  expect(stateSince(job(1, { state: 'running', since: '2026-11-27T11:26:00Z' }), kNow))
    .toBe('Running 3 h 12 min');
  expect(stateSince(job(1, { state: 'failed', since: '2026-11-27T14:37:00Z' }), kNow))
    .toBe('Failed 1 min ago');
  expect(stateSince(job(1, { state: 'paused', parked: true, since: '2026-11-27T14:36:00Z' }), kNow))
    .toBe('Parked 2 min');
  expect(stateSince(job(1, { state: 'paused', held: true }), kNow)).toBe('On hold 38 min');
  expect(stateWord(job(1, { state: 'pausing', held: true }))).toBe('Pausing');
});

test('reasons are words', () => {
  expect(reasonWords('WaitingForPause')).toBe('Waiting for pause');
  expect(reasonWords('')).toBe('');
});

test.each([
  [{ quota: 2, above_quota: 1, unused_quota: 0, wanted: 0 }, 'borrows 1'],
  [{ quota: 2, above_quota: 0, unused_quota: 0, wanted: 5 }, 'even'],
  [{ quota: 2, above_quota: 0, unused_quota: 1, wanted: 0 }, 'can lend 1'],
  [{ quota: 2, above_quota: 0, unused_quota: 1, wanted: 1 }, '1 unused'],
  [{ quota: 0, above_quota: 0, unused_quota: 0, wanted: 0 }, 'uses none'],
])('a project with %o %s', (part, said) => {
  expect(balance({ name: 'p', used: 0, ...part })).toBe(said);
});
