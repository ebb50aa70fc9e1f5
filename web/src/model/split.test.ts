// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { ShareAccount, ShareRow } from '../api/project_types';
import { splitSteps } from './split';

function row(project: string, part: Partial<ShareRow>): ShareRow {
  return {
    project, quota: 0, limit: -1, wants: 0, weight_thousandths: 1000, priority: 100,
    from_quota: 0, from_surplus: 0, odd: 0, fair_share: 0, ...part,
  };
}

const kNlp: ShareAccount = {
  project: 'nlp', pool: 'default', fair_share: 170,
  levels: [{
    parent: '', total: 508, surplus: 84,
    rows: [
      row('vision', { quota: 160, wants: 128, from_quota: 128, fair_share: 128 }),
      row('nlp', { quota: 128, wants: 190, from_quota: 128, from_surplus: 42, fair_share: 170 }),
      row('others', { quota: 192, wants: 168, from_quota: 168, fair_share: 168 }),
      row('lab', { wants: 74, from_surplus: 42, fair_share: 42 }),
    ],
    offers: [
      { priority: 100, round: 1, project: 'nlp', left: 84, part_ppm: 500_000, offered: 42, taken: 42 },
      { priority: 100, round: 1, project: 'lab', left: 84, part_ppm: 500_000, offered: 42, taken: 42 },
    ],
  }],
};

test('the steps can be added up by hand', () => {
  const steps = splitSteps(kNlp, 158, 'fragmented: at most 3 are free together');
  expect(steps.map((step) => step.title)).toEqual([
    '1 What there is', '2 Each gets what it wants of its quota', '3 What is left, by weight',
    '4 What it uses',
  ]);
  const [there, quotas, surplus, uses] = steps.map((step) => step.lines.map((line) => line.gpus));
  expect(there).toEqual([508]);
  expect(quotas!.slice(0, -1).reduce((sum, gpus) => sum + gpus, 0) + quotas!.at(-1)!).toBe(508);
  expect(surplus).toEqual([42, 42, 170]);
  expect(uses).toEqual([170, -12, 158]);
});

test('notes say which numbers were divided, and why a part is not in use', () => {
  const notes = splitSteps(kNlp, 158, 'fragmented').flatMap((step) => step.lines.map((line) => line.note));
  expect(notes).toContain('wants 128 of 160');
  expect(notes).toContain('wants 74, no quota');
  expect(notes).toContain('84 × 50 % = 42');
  expect(notes).toContain('128 + 42');
  expect(notes).toContain('fragmented');
});

test('what is above a fair share is added, and named', () => {
  const lines = splitSteps(kNlp, 180, '').at(-1)!.lines;
  expect(lines.map((line) => line.gpus)).toEqual([170, 10, 180]);
  expect(lines[1]!.name).toBe('above it');
});

test('below a department its own share is divided in the same way', () => {
  const account: ShareAccount = {
    project: 'nlp', pool: 'default', fair_share: 4,
    levels: [
      { parent: '', total: 8, surplus: 0, rows: [row('research', { quota: 8, wants: 8, from_quota: 8, fair_share: 8 })], offers: [] },
      {
        parent: 'research', total: 8, surplus: 1,
        rows: [
          row('nlp', { quota: 3, wants: 9, from_quota: 3, odd: 1, fair_share: 4 }),
          row('vision', { quota: 4, wants: 4, from_quota: 4, fair_share: 4 }),
        ],
        offers: [{ priority: 100, round: 1, project: 'nlp', left: 1, part_ppm: 333_333, offered: 0.333, taken: 0 }],
      },
    ],
  };
  const steps = splitSteps(account, 4, '');
  expect(steps.map((step) => step.title)).toEqual([
    '1 What there is', '2 Each gets what it wants of its quota',
    '3 Of the 8 of research, each gets what it wants of its quota', '4 What is left, by weight',
    '5 What it uses',
  ]);
  expect(steps[1]!.lines.at(-1)).toMatchObject({ name: 'research is entitled to', gpus: 8 });
  expect(steps[3]!.lines.map((line) => line.gpus)).toEqual([0, 1, 4]);
  expect(steps[3]!.lines.at(-1)!.note).toBe('3 + 1');
});

test('an offer that is not needed in full says so, and later rounds are numbered', () => {
  const level = { ...kNlp.levels[0]!, offers: [
    { priority: 100, round: 1, project: 'nlp', left: 84, part_ppm: 500_000, offered: 42, taken: 10 },
    { priority: 100, round: 2, project: 'lab', left: 32, part_ppm: 1_000_000, offered: 32, taken: 32 },
  ] };
  const notes = splitSteps({ ...kNlp, levels: [level] }, 170, '')[2]!.lines.map((line) => line.note);
  expect(notes.slice(0, 2)).toEqual(['round 1: 84 × 50 % = 42, needs less', 'round 2: 32 × 100 % = 32']);
});
