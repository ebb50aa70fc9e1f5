// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { dataOf } from '../api/gpu_columns_of_test';
import type { Row } from '../api/types';
import { job } from './jobs_of_test';
import {
  allocatedOf, chosenOf, chosenText, dimmedBy, gpuWords, healthEffect, nodeSentence, nodeSums, useWords,
} from './map';
import { listsOf } from './map_lists';
import { kBad, kBlocked, kBusy, kFree, kGreyHue, kIdle, kMoving, kStateHue, kSteps, kUnmeasured, looksOf, projectHues, tallyOf } from './map_looks';

const data = dataOf([
  { job: 1, project: 1, use: 'busy', busy: 13, memory: 6 },
  { job: 1, project: 1, use: 'busy', busy: 12, memory: 6 },
  { job: 2, project: 2, use: 'allocated_idle', busy: 0, memory: 1 },
  { use: 'blocked_by_room' },
  { job: 3, project: 1, use: 'starting' },
  { use: 'free' },
  { job: 2, project: 2, use: 'not_measured', parts: [{ job: 2, project: 2, amount: 0.5, use: 'not_measured' }, { job: 0, project: 65_535, amount: 0.5, use: 'free' }] },
  { use: 'free' },
  ...Array.from({ length: 4 }, () => ({ use: 'unhealthy' })),
], [0, 0, 2]);
const rows: Record<number, Partial<Row>> = {
  1: { name: 'bert', project: 'nlp', user: 'maria' }, 2: { name: 'clip', project: 'vision', user: 'joe' },
};
const rowOf = (id: number) => rows[id] && job(id, rows[id]);

test('a GPU is said in one line: node, job, what it does, how full it is', () => {
  expect(gpuWords(data, 0, rowOf)).toBe('n0, GPU 0: bert of nlp, busy, activity 87 %, memory 40 %');
  expect(gpuWords(data, 2, rowOf)).toBe('n0, GPU 2: clip of vision, allocated, idle, activity 0 %, memory 7 %');
  expect(gpuWords(data, 4, rowOf)).toBe('n1, GPU 0: job 3 of nlp, starting');
  expect(gpuWords(data, 6, rowOf)).toBe('n1, GPU 2: clip 0.5 of vision, allocated, not measured; free 0.5');
  expect(useWords('unhealthy')).toBe('not ready');
});

test('what is chosen is a node or one of its GPUs, and an address says which', () => {
  for (const [text, node, gpu] of [['n1', 1, -1], ['n1:2', 1, 6], ['n2:0', 2, 8]] as const) {
    expect(chosenOf(data, text)).toEqual({ node, gpu });
    expect(chosenText(data, node, gpu)).toBe(text);
  }
  for (const text of ['n9', 'n9:1', ':1', '']) expect(chosenOf(data, text)).toEqual({ node: -1, gpu: -1 });
  expect(chosenOf(data, 'n1:4')).toEqual({ node: 1, gpu: -1 });
});

test('a text means GPUs by their job or node; all words have to', () => {
  const lit = (text: string) => [...(dimmedBy(data, text, rowOf) ?? [])].flatMap((dim, gpu) => (dim ? [] : [gpu]));
  expect(dimmedBy(data, ' ', rowOf)).toBeUndefined();
  expect(lit('bert')).toEqual([0, 1]);
  expect(lit('project:vision')).toEqual([2, 6]);
  expect(lit('user:joe n1')).toEqual([6]);
  expect(lit('n2')).toEqual([8, 9, 10, 11]);
  expect(lit('3')).toEqual([4]);
  expect(lit('project:nlp')).toEqual([0, 1, 4]); // of job 3 there is no row
  expect(lit('no-such-thing')).toEqual([]);
});

test('a node is summed, and its acts say what they do', () => {
  expect([...allocatedOf(data)]).toEqual([3, 1.5, 0]);
  const first = nodeSums(data, 0);
  expect([first.allocated, first.idle, first.free, first.whole, first.jobs]).toEqual([3, 1, 1, 1, [1, 2]]);
  expect(nodeSentence(first)).toBe('3 of 4 GPUs allocated, 1 of them idle.');
  expect(healthEffect(first)?.effect).toBe(
    'It takes no new work: 1 free GPU cannot be had. 2 jobs on it go on until they end.');
  expect(nodeSums(data, 1).free).toBe(2.5);
  expect(nodeSentence(nodeSums(data, 2))).toBe('0 of 4 GPUs allocated. Down: it does not answer.');
  expect(healthEffect(nodeSums(data, 2))).toBeUndefined();
  expect(healthEffect({ ...first, condition: 'drained' })?.title).toBe('Set ready');
});

test('looks say the state first, then the hue of the project and how busy it is', () => {
  const hueOf = projectHues(data.columns.projects, ['nlp', 'vision']);
  const [nlp, vision] = [hueOf[1] ?? 0, hueOf[2] ?? 0];
  expect(nlp).not.toBe(vision);
  const { gpus, shared } = looksOf(data.columns, hueOf, 'project');
  expect([...gpus]).toEqual([
    kBusy + nlp * kSteps + 13, kBusy + nlp * kSteps + 12, kIdle + vision, kBlocked,
    kMoving, kFree, kUnmeasured + vision, kFree, kBad, kBad, kBad, kBad,
  ]);
  expect([...shared]).toEqual([kUnmeasured + vision, kFree]);
  expect(looksOf(data.columns, hueOf, 'state').gpus[0]).toBe(kBusy + kStateHue * kSteps + 13);
  expect(looksOf(data.columns, hueOf, 'memory').gpus[0]).toBe(kBusy + kStateHue * kSteps + 6);
  expect(looksOf(data.columns, hueOf, 'activity').gpus[6]).toBe(kUnmeasured + kGreyHue);
  expect([...projectHues(['a'], [])]).toEqual([kGreyHue]);
});

test('the legend counts each part of each GPU once', () => {
  const { uses, projects } = tallyOf(data.columns, () => true);
  expect([...uses.values()].reduce((sum, many) => sum + many, 0)).toBe(12);
  expect(Object.fromEntries(projects)).toEqual({ nlp: 3, vision: 1.5 });
  expect(tallyOf(data.columns, (gpu) => gpu < 4).uses.get('free')).toBeUndefined();
});

test('below the map stand idle GPUs, holes by size and nodes that are not ready', () => {
  const lists = listsOf(data, () => true);
  expect(lists.idle).toEqual([{ name: 'vision', note: '1 job', gpus: 1 }]);
  expect(lists.holes.map(({ name, note, gpus }) => [name, note, gpus])).toEqual([
    ['Half a node or more', '1 node', 2], ['Less than half a node', '1 node', 1], ['Parts of shared GPUs', '', 0.5],
  ]);
  expect(lists.bad.map(({ name, note, gpus }) => [name, note, gpus])).toEqual([['n2', 'down', 4]]);
  expect(listsOf(data, (node) => node === 0).bad).toEqual([]);
});
