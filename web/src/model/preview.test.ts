// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { JobFate, WhatIf } from '../api/project_types';
import {
  changeBody, changeCommands, changeWords, draftOf, jobLines, previewRows, rebased, suppositions, wishOf,
} from './preview';
import { projectRows } from './projects';
import { kList } from './projects_of_test';

const kBefore = { quota: 4, limit: -1, weight: 1 };
const kWish = { quota: 6, limit: 8, weight: 0.5 };

test('what is typed is a number, or nothing where there may be none', () => {
  expect(draftOf(kBefore)).toEqual({ quota: '4', limit: '', weight: '1' });
  expect(wishOf({ quota: ' 6 ', limit: '8', weight: '0.5' })).toEqual(kWish);
  expect(wishOf({ quota: '', limit: 'none', weight: '1' })).toEqual({ quota: null, limit: -1, weight: 1 });
  expect(wishOf({ quota: 'six', limit: '-1', weight: '' })).toEqual({ wrong: ['quota', 'limit', 'weight'] });
  expect(wishOf({ quota: '1.2345', limit: '1e3', weight: '1' })).toEqual({ wrong: ['quota', 'limit'] });
});

test('only what differs is supposed, sent and said', () => {
  expect(suppositions('nlp', 'default', kBefore, kBefore)).toEqual([]);
  expect(suppositions('nlp', 'default', kBefore, kWish)).toEqual([
    { what: 'quota', name: 'nlp', pool: 'default', gpus: 6 },
    { what: 'limit', name: 'nlp', pool: 'default', gpus: 8 },
    { what: 'weight', name: 'nlp', pool: 'default', weight_thousandths: 500 },
  ]);
  expect(changeBody('default', kBefore, { ...kBefore, quota: 6 })).toEqual({ quota: 6 });
  expect(changeBody('h200', kBefore, { ...kBefore, weight: 2 })).toEqual({ pools: { h200: { weight: 2 } } });
  expect(changeWords('nlp', kBefore, kWish)).toBe('The quota of nlp is 6, was 4; its limit is 8, was none; its weight is 0.5, was 1');
});

test('what others changed meanwhile stays where nothing was typed', () => {
  const draft = { ...draftOf(kBefore), quota: '6' };
  const now = { quota: 5, limit: 3, weight: 1 };
  expect(rebased(draft, kBefore, now)).toEqual({ quota: '6', limit: '3', weight: '1' });
});

test('what is taken back is what it was', () => {
  expect(changeBody('default', kWish, kBefore)).toEqual({ quota: 4, limit: null, weight: 1 });
  expect(changeBody('default', kBefore, { ...kBefore, quota: null })).toEqual({ quota: null });
  expect(suppositions('nlp', 'default', kWish, { ...kBefore, quota: null }).map((one) => one.gpus)).toEqual([-1, -1, undefined]);
});

test('a number in a command is one that the terminal reads', () => {
  const [whatIf, set] = changeCommands('nlp', 'default', kBefore, { ...kBefore, quota: 1000.5 });
  expect([whatIf, set]).toEqual(['berth whatif quota nlp=1000.5', 'berth project set nlp --quota 1000.5']);
});

test('the terminal says the same', () => {
  expect(changeCommands('nlp', 'default', kBefore, kWish)).toEqual([
    'berth whatif quota nlp=6 limit nlp=8 weight nlp=0.5',
    'berth project set nlp --quota 6 --limit 8 --weight 0.5',
  ]);
  expect(changeCommands('nlp', 'h200', kBefore, { ...kBefore, limit: 8 })[1])
    .toBe('berth project set nlp --limit 8 --pool h200');
  expect(changeCommands('nlp', 'default', kBefore, kBefore)).toEqual([]);
});

function share(quota: number, used: number, waiting: number) {
  return { quota, limit: -1, weight_thousandths: 1000, fair_share: used, used, waiting };
}

function fate(kind: JobFate['fate'], part: Partial<JobFate> = {}): JobFate {
  return { fate: kind, beneficiary: null, why: '', ...part };
}

const kWhatIf: WhatIf = {
  sentence: '1 job would pause, and 1 would start; 1 job would wait, now 2 do.',
  jobs: [
    { job: 9, now: fate('waits'), then: fate('promised') },
    { job: 7, now: fate('runs'), then: fate('pauses', { beneficiary: 9 }) },
    { job: 8, now: fate('waits', { why: 'one reason' }), then: fate('waits', { why: 'another' }) },
  ],
  projects: [
    { project: 'nlp', pool: 'default', now: share(128, 158, 32), then: share(160, 166, 24) },
    { project: 'nlp', pool: 'h200', now: share(0, 0, 0), then: share(9, 0, 0) },
  ],
};

test('old and new stand side by side, for all projects', () => {
  const rows = previewRows(projectRows(kList, 'default'), kWhatIf, 'default');
  expect(rows).toHaveLength(6);
  expect(rows.find((row) => row.name === 'nlp')).toMatchObject({
    differs: true, quota: '128 → 160', fair: '158 → 166', used: '158 → 166',
    now: { quota: 128, used: 158, wanted: 32 }, then: { quota: 160, used: 166, wanted: 24 },
  });
  expect(rows.find((row) => row.name === 'vision')).toMatchObject({
    differs: false, quota: '160', used: '128', then: { quota: 160, used: 128, wanted: 0 },
  });
});

test('jobs that leave come first, then those that start; a mere other reason is left out', () => {
  const nameOf = (job: number) => `nlp/${job}`;
  expect(jobLines(kWhatIf, nameOf)).toEqual([
    { job: 7, state: 'pausing', words: 'would pause for nlp/9' },
    { job: 9, state: 'starting', words: 'would start when its GPUs have been left' },
  ]);
});
