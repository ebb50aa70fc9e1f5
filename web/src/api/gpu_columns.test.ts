// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { columnsOf, firstGpus, nodeOf, partsOf, percentOf } from './gpu_columns';
import { dataOf, written } from './gpu_columns_of_test';

const kGpus = [
  { job: 70_000, project: 1, use: 'busy', busy: 13, memory: 6 },
  { use: 'free' },
  {
    job: 8, project: 2, use: 'allocated_idle', busy: 0,
    parts: [{ job: 8, project: 2, amount: 0.5, use: 'allocated_idle' }, { job: 9, project: 1, amount: 0.25, use: 'starting' }],
  },
];

test('columns are read as they are written', () => {
  const columns = columnsOf(written(kGpus, [0, 1]));
  expect([...columns.job]).toEqual([70_000, 0, 8]);
  expect([...columns.project]).toEqual([1, 65_535, 2]);
  expect(columns.uses[columns.use[2] ?? 0]).toBe('allocated_idle');
  expect([...columns.busy]).toEqual([13, 255, 0]);
  expect([...columns.memory]).toEqual([6, 255, 255]);
  expect([...columns.sharedGpu]).toEqual([2, 2]);
  expect([...columns.sharedJob]).toEqual([8, 9]);
  expect([...columns.sharedAmount]).toEqual([500, 250]);
  expect([...columns.node]).toEqual([0, 1]);
  expect([columns.sentences, columns.simulated]).toEqual([['Most are used.', 'Free: 1.'], true]);
});

test('bytes that are cut off are no columns', () => {
  const bytes = written(kGpus, [0, 1]);
  for (const size of [0, 3, 100, bytes.byteLength - 1]) {
    expect(() => columnsOf(bytes.slice(0, size))).toThrow();
  }
});

test('a GPU has its node, and its parts', () => {
  const { topology, columns } = dataOf([...kGpus, {}, {}]);
  topology.nodes.gpus = [3, 0, 2];
  const first = firstGpus(topology);
  expect([...first]).toEqual([0, 3, 3, 5]);
  expect([0, 2, 3, 4].map((gpu) => nodeOf(first, gpu))).toEqual([0, 0, 2, 2]);
  expect([1, 2, 3].map((gpu) => partsOf(columns, gpu))).toEqual([[0, 0], [0, 2], [2, 2]]);
});

test('a step is said in percent', () => {
  expect([0, 1, 13, 15, 255].map(percentOf)).toEqual(['0 %', '7 %', '87 %', '100 %', '']);
});
