// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Taking } from '../api/project_types';
import { sidesWords, takingWords } from './takings';

const kTaking: Taking = {
  job: 7, time: '2026-11-27T14:02:00Z', rule: 'reclaim', beneficiary: 9, actor: 'scheduler',
  deadline: '2026-11-27T14:03:00Z', stopped: '2026-11-27T14:02:10Z', saved: true, frozen: null,
  detail: '', attempt: 1, whole_job: true, tasks: 1, cost: { unsaved_gpu_ms: 0 }, lost_gpu_ms: 0,
  sides: {
    pool: 'default', asked: 4,
    own: { project: 'nlp', used: 8, quota: 2 }, other: { project: 'vision', used: 0, quota: 6 },
  },
};
const kThen = Date.parse('2026-11-27T14:02:30Z');
const nameOf = (job: number) => (job === 7 ? 'nlp/bert' : 'vision/large');

test('a receipt says who asked how much, who gave what, and what was lost', () => {
  expect(takingWords(kTaking, 'nlp', kThen, nameOf)).toEqual({
    says: 'vision asked 4 GPUs for vision/large; nlp gave those of', from: 'nlp/bert', loss: 'nothing lost',
  });
  expect(takingWords({ ...kTaking, lost_gpu_ms: 3_600_000 }, 'nlp', kThen, nameOf).loss).toContain('lost');
  expect(takingWords({ ...kTaking, stopped: null }, 'nlp', kThen, nameOf).loss).toBe('is leaving');
  expect(takingWords({ ...kTaking, stopped: null }, 'nlp', kThen + 60_000, nameOf).loss).toBe('it ended first');
  expect(sidesWords(kTaking.sides!)).toBe('vision used 0 of its quota of 6 GPUs; nlp was 6 over its quota of 2 GPUs');
});

test('within one project it is the order of its own jobs', () => {
  const own = { project: 'nlp', used: 8, quota: 2 };
  const sides = { ...kTaking.sides!, own, other: own };
  expect(takingWords({ ...kTaking, sides }, 'nlp', kThen, nameOf).says).toBe('nlp asked 4 GPUs for vision/large and gave those of');
});
