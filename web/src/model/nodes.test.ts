// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Device, NodeView } from '../api/nodes.svelte';
import { healthEffect } from './map';
import { allocatedWords, nodeLines } from './nodes';

function device(index: number, also: Partial<Device> = {}): Device {
  return { index, healthy: true, used: 0, jobs: [], uncounted: [], utilization_percent: null, ...also };
}

function node(name: string, also: Partial<NodeView> = {}): NodeView {
  return {
    name, gpus: 2, gpu_model: 'H100', gpu_memory: 80 * 2 ** 30, health: 'ready', pool: 'default', joins: '', topology: {},
    shares_lack: '', others: { gpu_indices: [] }, devices: [device(0), device(1)], ...also,
  };
}

const named = (nodes: NodeView[], text = '') => nodeLines(nodes, text).map((line) => `${line.name}: ${line.reasons.join('; ')}`);

test('sick nodes come first: down, then with a GPU that does not work, then drained', () => {
  const broken = node('n3', { devices: [device(0), device(1, { healthy: false })] });
  expect(named([node('n10'), node('n9', { health: 'drained' }), node('n2'), broken, node('n8', { health: 'down' })])).toEqual([
    'n8: down: it does not answer, or its GPUs failed', 'n3: GPU 1 does not work', 'n9: drained: it takes no new work',
    'n2: ', 'n10: ',
  ]);
});

test('a node without any GPU that works says so', () => {
  const devices = [device(0, { healthy: false }), device(1, { healthy: false })];
  expect(named([node('n1', { devices })])).toEqual(['n1: none of its GPUs works']);
});

test('what is on a node is counted once, and draining it says the same as on the map', () => {
  const [line] = nodeLines([node('n1', {
    devices: [device(0, { used: 1, jobs: [7] }), device(1, { used: 0.5, jobs: [7, 8] })],
  })]);
  expect(allocatedWords(line!.sums)).toBe('1.5 of 2');
  expect(line!.sums.jobs).toEqual([7, 8]);
  expect(healthEffect(line!.sums)?.effect)
    .toBe('It takes no new work: 0.5 free GPUs cannot be had. 2 jobs on it go on until they end.');
});

test('what was not measured is not 0', () => {
  const measured = [device(0, { utilization_percent: 40 }), device(1)];
  expect(nodeLines([node('n1'), node('n2', { devices: measured })]).map(({ percent }) => percent)).toEqual([-1, 40]);
});

test('what is no sickness is a note', () => {
  const [line] = nodeLines([node('n1', {
    joins: 'h200', others: { gpu_indices: [1] }, shares_lack: 'no library', devices: [device(0, { uncounted: [{}] }), device(1)],
  })]);
  expect(line?.reasons).toEqual([]);
  expect(line?.notes).toEqual([
    'joins pool h200 once nothing runs on it', '1 GPU used outside Berth', '1 process of jobs beside their shares',
    'GPUs are given whole: no library',
  ]);
});

test('a filter finds names, pools and models of GPUs', () => {
  const nodes = [node('n1'), node('x2', { pool: 'cells', gpu_model: '' })];
  expect(named(nodes, 'CELL')).toEqual(['x2: ']);
  expect(named(nodes, 'h100')).toEqual(['n1: ']);
  expect(nodeLines(nodes)[1]?.gpuWords).toBe('2 GPUs of 80 GiB');
});
