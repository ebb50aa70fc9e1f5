// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { JobEvent } from '../api/types';
import { eventNote, eventWords } from './events';
import { specRows } from './spec';

function words(type: string, members: object = {}): string {
  const event = { sequence: 1, time: '', actor: '', type, ...members } as JobEvent;
  return eventWords(event, (job) => `job ${job}`);
}

test.each([
  ['job_starting', { attempt: 2, rule: 'allocate', tasks: [{ node: 'n1' }, { node: 'n1' }] }, 'attempt 2 starts on n1 (allocate)'],
  ['pause_requested', { whole_job: true, beneficiary: 9, rule: 'reclaim' }, 'is asked to save and pause for job 9 (reclaim)'],
  ['pause_requested', { whole_job: false, beneficiary: null, rule: 'user' }, 'is asked to shrink (user)'],
  ['job_paused', { saved: false, frozen: null }, 'paused, ended before it saved'],
  ['job_finished', { state: 'failed', exit_code: 137, detail: 'killed' }, 'failed, exit 137: killed'],
  ['cancel_requested', { reason: '' }, 'is asked to stop'],
  ['of_a_newer_server', {}, 'of a newer server'],
])('%s', (type, members, said) => expect(words(type, members)).toBe(said));

test('a pause says what was not saved', () => {
  const event = { sequence: 1, time: '', actor: '', type: 'pause_requested', cost: { unsaved_gpu_ms: 90_000 } };
  expect(eventNote(event)).toBe('90 GPU-s of work not saved');
  expect(eventNote({ ...event, cost: undefined })).toBe('');
});

test('a spec is its fields, those that say nothing left out', () => {
  expect(specRows({ name: 'ft', pools: [], request: { gpus: 8, cpu: null }, preemptible: true, labels: { a: 'b' } }))
    .toEqual([['name', 'ft'], ['request.gpus', '8'], ['preemptible', 'yes'], ['labels.a', 'b']]);
});
