// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Receipt, Span, Timeline, WholeJob } from '../api/types';
import { acts } from './acts';
import { asked, attemptsOf, facts, gpusOf, gpuTime, jobHeadline, leftWords, pauseWay, sideWords, spanCause, times } from './job';

const kNow = Date.parse('2026-11-27T14:00:00Z');
const kMinute = 60_000;

function ago(minutes: number): string {
  return new Date(kNow - minutes * kMinute).toISOString();
}

function job(more: Partial<WholeJob> = {}): WholeJob {
  return {
    id: 7, spec: { name: 'ft', project: 'nlp', tasks_max: 1, request: { gpus: 8, share: 1 } }, user: 'maria',
    state: 'running', held: false, created: ago(90), waiting_since: ago(90), last_start: ago(60), finished: null,
    tasks: [{ node: 'n09', gpus: [0, 1, 2, 3, 4, 5, 6, 7], share: 1 }], parked_since: null, idle: null, detail: '',
    verdict: null, why: '', foresight: null, command: 'python train.py', last_checkpoint: null, attempts: 1,
    pauses: 0, attained_gpu_ms: 0, settled: ago(60), lost_gpu_ms: 0, exit_code: 0,
    pause_way: { rung: 'signal', why_not: '' }, saves_when_asked: false, ...more,
  };
}

function timeline(more: Partial<Timeline> = {}): Timeline {
  return {
    sentence: '', now: ago(0), spans: [], left_out: 0, waited: 0, ran: 0, paused: 0, expected: [],
    evidence: 'none', ...more,
  };
}

function span(more: Partial<Span>): Span {
  return {
    state: 'running', on_hold: false, parked: false, from: ago(60), to: null, attempt: 1, tasks: 1, gpus: 8, node_gpus: [8],
    nodes: ['n09'], rule: null, beneficiary: null, actor: '', saved: false, lost_gpu_ms: 0, reason: '', ...more,
  };
}

const kAll = ['see', 'read', 'submit', 'steer', 'cluster', 'server'] as const;

test('the name is in front of the sentence, whatever it is', () => {
  expect(jobHeadline('ft has run for 5 s.', 'ft')).toEqual({ answer: 'ft', rest: 'has run for 5 s.', note: '' });
  expect(jobHeadline('Job 7 is asked to stop.', '')).toMatchObject({ answer: '', rest: 'Job 7 is asked to stop.' });
});

test('a job counts what it has, or else what it asks', () => {
  const { spec } = job();
  const asks = job({ tasks: [], spec: { ...spec, tasks_max: 3, request: { gpus: 2, share: 1 } } });
  expect(gpusOf(asks)).toBe(6);
  expect(gpusOf({ ...asks, tasks: [{ node: 'n0', gpus: [0], share: 0.5 }] })).toBe(0.5);
});

test('whose it is, and where', () => {
  expect(asked(job())).toBe('8 GPUs on n09, project nlp, by maria.');
  expect(asked(job({ tasks: [] }))).toBe('8 GPUs, project nlp, by maria.');
});

test.each([[0, '0 GPU-s'], [12_400, '12 GPU-s'], [35 * kMinute, '35 GPU-min'], [35.74 * 60 * kMinute, '35.7 GPU-h']])(
  '%d ms of a GPU are %s', (ms, words) => expect(gpuTime(ms)).toBe(words));

test('the facts add up to the life, and grow with the state that it is in', () => {
  const found = facts(job(), timeline({ waited: 1800, ran: 3600, now: ago(5), spans: [span({})] }), kNow);
  expect(found).toEqual([
    { name: 'Waited', value: '30 min' }, { name: 'Ran', value: '1 h 5 min' },
    { name: 'Used', value: '8 GPU-h' }, { name: 'Lost', value: 'nothing' },
  ]);
});

test('a job that never started has waited, and nothing else', () => {
  const waits = job({ state: 'queued', tasks: [], attempts: 0, last_start: null });
  expect(facts(waits, timeline({ waited: 0 }), kNow)).toEqual([{ name: 'Waited', value: 'not at all' }]);
});

test('an ended job does not grow', () => {
  const ended = job({ state: 'failed', finished: ago(30), tasks: [], exit_code: 137 });
  const found = facts(ended, timeline({ ran: 60, now: ago(10), spans: [span({ state: 'failed' })] }), kNow);
  expect(found).toContainEqual({ name: 'Ran', value: '1 min' });
  expect(found).toContainEqual({ name: 'Exit code', value: '137' });
});

test('how often', () => expect([1, 2, 3].map(times)).toEqual(['once', 'twice', '3 times']));

test('how a pause would go says what it would cost', () => {
  expect(pauseWay(job(), kNow)).toMatchObject({ isSafe: false, text: expect.stringMatching(/up to 8 GPU-h of work/) });
  expect(pauseWay(job({ last_checkpoint: ago(6) }), kNow)?.text).toMatch(/up to 48 GPU-min/);
  expect(pauseWay(job({ saves_when_asked: true }), kNow)?.isSafe).toBe(true);
  expect(pauseWay(job({ pause_way: { rung: 'checkpoint', why_not: '' } }), kNow)?.text).toMatch(/nothing is lost/);
  expect(pauseWay(job({ tasks: [] }), kNow)).toBeUndefined();
});

test('who may only look can do nothing, and an ended job is left alone', () => {
  expect(acts(job(), ['see'], kNow)).toEqual([]);
  expect(acts(job({ finished: ago(1), state: 'succeeded' }), kAll, kNow)).toEqual([]);
  expect(acts(job({ state: 'cancelling' }), kAll, kNow)).toEqual([]);
});

test('what can be done says its effect', () => {
  const [pause, cancel] = acts(job(), kAll, kNow);
  expect(pause).toMatchObject({ verb: 'pause', title: 'Pause', isFinal: false });
  expect(pause?.effect).toMatch(/^It leaves 8 GPUs and does not start again until a user resumes it\. .*8 GPU-h/);
  expect(cancel).toMatchObject({ verb: 'cancel', isFinal: true });
  expect(cancel?.effect).toMatch(/ends for good\. It has used 8 GPU-h/);
});

test('a job that was warned of its idle GPUs can be kept', () => {
  const idle = { since: ago(40), act: 'end' as const, acts_at: ago(-10), why_not: '' };
  expect(acts(job({ idle }), kAll, kNow).map((act) => act.verb)).toEqual(['pause', 'keep', 'cancel']);
});

test('a job that waits is held, one on hold or parked is resumed', () => {
  const verbs = (more: Partial<WholeJob>) =>
    acts(job({ tasks: [], ...more }), kAll, kNow).map((act) => `${act.title} ${act.verb}`);
  expect(verbs({ state: 'queued' })).toEqual(['Hold pause', 'Cancel cancel']);
  expect(verbs({ state: 'queued', held: true })).toEqual(['Resume resume', 'Cancel cancel']);
  expect(verbs({ state: 'paused', parked_since: ago(3) })).toEqual(['Resume resume', 'Cancel cancel']);
  expect(verbs({ state: 'pausing' })).toEqual(['Cancel cancel']);
});

test('what a project had, in words', () => {
  expect(sideWords({ project: 'a', used: 112, quota: 160 })).toBe('used 112 of its quota of 160 GPUs');
  expect(sideWords({ project: 'a', used: 166, quota: 128 })).toBe('was 38 over its quota of 128 GPUs');
  expect(sideWords({ project: 'a', used: 1, quota: -1 })).toBe('used 1 GPU');
});

test('how it left its GPUs', () => {
  const receipt = (more: Partial<Receipt>): Receipt => ({
    time: ago(10), rule: 'reclaim', beneficiary: 9, actor: '', deadline: ago(9), stopped: ago(9.8), saved: true,
    frozen: null, detail: '', attempt: 1, whole_job: true, tasks: 0, cost: { unsaved_gpu_ms: 0 }, lost_gpu_ms: 0,
    sides: null, ...more,
  });
  expect(leftWords(receipt({}), kNow)).toBe('saved and stopped after 12 s');
  expect(leftWords(receipt({ saved: false }), kNow)).toBe('ended after 12 s without saving');
  expect(leftWords(receipt({ saved: false, stopped: ago(8) }), kNow)).toBe('did not stop in 2 min and was killed');
  expect(leftWords(receipt({ frozen: { time: 1 } }), kNow)).toBe('after 12 s, by checkpoint');
  expect(leftWords(receipt({ stopped: null }), kNow)).toBe('it ended before it had paused');
  expect(leftWords(receipt({ stopped: null, deadline: ago(-1) }), kNow)).toBe('saving now');
});

test('a span says for which job it was, and what it destroyed', () => {
  const nameOf = (id: number) => `job ${id}`;
  expect(spanCause(span({ state: 'paused', beneficiary: 9, rule: 'reclaim', lost_gpu_ms: 95_000, reason: 'killed' }), nameOf))
    .toBe('for job 9 (reclaim), 95 GPU-s lost: killed');
  expect(spanCause(span({ state: 'pausing', rule: 'user', actor: 'maria' }), nameOf)).toBe('by maria (user)');
  expect(spanCause(span({ rule: 'allocate' }), nameOf)).toBe('');
  expect(spanCause(span({ state: 'queued', reason: 'node n1 is gone' }), nameOf)).toBe('node n1 is gone');
});

test('attempts come from spans, the newest first, each with how it ended', () => {
  const found = attemptsOf([
    span({ state: 'queued', attempt: 0, gpus: 0, nodes: [], from: ago(90), to: ago(80) }),
    span({ from: ago(80), to: ago(70), gpus: 4 }), span({ from: ago(70), to: ago(60), gpus: 8 }),
    span({ state: 'paused', gpus: 0, nodes: [], saved: true, from: ago(60), to: ago(50) }),
    span({ attempt: 2, from: ago(50), to: null, nodes: ['n21'] }),
  ]);
  expect(found.map((one) => [one.attempt, one.gpus, one.end])).toEqual([[2, 8, ''], [1, 8, 'paused, saved']]);
  expect(found[1]?.to).toBe(Date.parse(ago(60)));
  expect(found[0]?.to).toBeNull();
});
