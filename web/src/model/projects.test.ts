// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { job, kNow } from './jobs_of_test';
import {
  balanceOf, chosenProject, lendingHeadline, longestWaits, projectRows, returnWords, rightsIn,
  useOf,
} from './projects';
import { kLending, kList, project } from './projects_of_test';

function words(name: string): string {
  const row = projectRows(kList, 'default').find((one) => one.name === name)!;
  const { words: said, gpus } = balanceOf(row, kLending);
  return gpus > 0 ? `${said} ${gpus}` : said;
}

test('each project lends, borrows, keeps, or is even', () => {
  expect(['vision', 'nlp', 'robotics', 'lab', 'infer'].map(words)).toEqual([
    'lends 32', 'borrows 30', 'even', 'borrows 34', 'keeps 8',
  ]);
});

test('who waits within its quota is owed that much', () => {
  const list = { items: [project('vision', { quota: 8, used: 2, waiting: 4 })], lending: [] };
  expect(balanceOf(projectRows(list, 'default')[0]!, kLending)).toEqual({ words: 'is owed', gpus: 4 });
});

test('what is unused could be lent while no project borrows', () => {
  const [vision] = projectRows(kList, 'default');
  expect(balanceOf(vision!, { ...kLending, borrowers: [] }).words).toBe('could lend');
});

test('what is lent comes back, by a pause of what is borrowed', () => {
  const said = Object.fromEntries(projectRows(kList, 'default').map((row) => [row.name, returnWords(row)]));
  expect(said['nlp']).toBe('nlp gives up to 30 GPUs back when owners ask for their quota: its jobs that lose least are paused for theirs.');
  expect(said['vision']).toBe('vision gets up to 32 GPUs back when its jobs ask for them.');
  expect(said['robotics']).toBe('');
  expect(said['infer']).toContain('neither lends nor borrows');
});

test('what lenders and others give is what borrowers have and what is free', () => {
  const sum = (parts: { gpus: number }[]) => parts.reduce((all, part) => all + part.gpus, 0);
  expect(sum(kLending.lenders) + kLending.in_no_quota + kLending.not_ready)
    .toBe(sum(kLending.borrowers) + kLending.free + kLending.not_there);
});

test('the answer is who borrows, then who lends; quotas and what is owed stand below', () => {
  expect(lendingHeadline(kLending)).toEqual({
    answer: 'lab and nlp borrow 64 GPUs.', rest: 'vision and speech lend 56.',
    note: 'Quotas sum to 480 of 508 GPUs. No project waits for GPUs of its quota.',
  });
  const none = { ...kLending, sentences: [{ about: 'quotas' as const, text: 'No project has a quota: jobs start while GPUs are free.' }] };
  expect(lendingHeadline(none)).toEqual({
    answer: 'No project has a quota: jobs start while GPUs are free.', rest: '', note: '',
  });
});

test('a department stands before what is below it, and folds it away', () => {
  const list = {
    items: [
      project('vision', {}, { parent: 'research' }), project('lab'), project('research', { quota: 8 }),
      project('nlp', {}, { parent: 'research' }),
    ],
    lending: [],
  };
  const names = (folded: string[]) =>
    projectRows(list, 'default', new Set(folded)).map((row) => `${'-'.repeat(row.depth)}${row.name}`);
  expect(names([])).toEqual(['lab', 'research', '-vision', '-nlp']);
  expect(names(['research'])).toEqual(['lab', 'research']);
  expect(projectRows(list, 'default')[1]!.isDepartment).toBe(true);
  expect(projectRows(list, 'other')).toEqual([]);
});

test('in another pool no quota is stated until one is', () => {
  const rights = { quota: 4, limit: 8, weight: 2, kind: 'guaranteed' as const };
  const nlp = project('nlp', {}, { rights, pools: { h200: { ...rights, quota: 1 } } });
  expect(rightsIn(nlp, 'default').quota).toBe(4);
  expect(rightsIn(nlp, 'h200').quota).toBe(1);
  expect(rightsIn(nlp, 'cells')).toEqual({ ...rights, quota: null });
});

test('a quota without a bound is as much as is used', () => {
  expect(useOf({ quota: -1, used: 5, wanted: 1 })).toEqual({ quota: 5, used: 5, wanted: 1 });
});

test('the longest wait of a project is that of its jobs that wait and may start', () => {
  const waits = longestWaits([
    job(1, { since: '2026-11-27T14:30:00Z' }),
    job(2, { since: '2026-11-27T14:00:00Z', state: 'paused' }),
    job(3, { since: '2026-11-27T10:00:00Z', held: true }),
    job(4, { since: '2026-11-27T09:00:00Z', state: 'running' }),
    job(5, { since: '2026-11-27T08:00:00Z', state: 'paused', parked: true }),
  ]);
  expect(waits).toEqual(new Map([['lab', kNow - 38 * 60_000]]));
});

test('who is not asked for is not chosen before who borrows most', () => {
  const rows = projectRows(kList, 'default');
  expect(chosenProject(rows, 'speech', kLending)).toBe('speech');
  expect(chosenProject(rows, 'gone', kLending)).toBe('lab');
  expect(chosenProject(rows, '', { ...kLending, borrowers: [] })).toBe('vision');
  expect(chosenProject([], '')).toBe('');
});
