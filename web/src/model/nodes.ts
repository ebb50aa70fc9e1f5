// SPDX-License-Identifier: Apache-2.0
//
// Which nodes are sick and why, and what do the others do? The sick ones first.
import { kNotMeasured, type NodeCondition } from '../api/gpu_columns';
import type { NodeView } from '../api/nodes.svelte';
import type { NodeSums } from './map';
import { count, gpus } from './numbers';

export interface NodeLine {
  name: string;
  pool: string;
  gpuWords: string; // "8 × H100 of 80 GiB"
  sums: NodeSums;
  percent: number; // the mean of what was measured; -1 = nothing was
  reasons: string[]; // why it is sick; empty = it is well
  notes: string[];
}

const kMiB = 2 ** 20;
const natural = new Intl.Collator('en', { numeric: true });

function sumsOf(node: NodeView): NodeSums {
  const jobs = [...new Set(node.devices.flatMap((device) => device.jobs))];
  const allocated = node.devices.reduce((sum, device) => sum + device.used, 0);
  const others = new Set(node.others.gpu_indices);
  const free = node.devices.filter(({ index }) => !others.has(index)).reduce((sum, device) => sum + 1 - device.used, 0);
  const condition: NodeCondition = node.health === 'ready' && node.joins !== '' ? 'leaving' : node.health;
  const isFree = node.health === 'ready' && node.joins === '';
  return {
    gpus: node.gpus, allocated, idle: 0, free: isFree ? free : 0, whole: 0, busy: kNotMeasured, jobs, condition,
  };
}

function reasonsOf(node: NodeView): string[] {
  const reasons: string[] = [];
  if (node.health === 'down') reasons.push('down: it does not answer, or its GPUs failed');
  const sick = node.devices.filter((device) => !device.healthy).map(({ index }) => index);
  if (sick.length > 0 && sick.length < node.gpus) {
    reasons.push(`GPU ${sick.join(', ')} ${sick.length === 1 ? 'does' : 'do'} not work`);
  } else if (sick.length > 0) {
    reasons.push('none of its GPUs works');
  }
  if (node.health === 'drained') reasons.push('drained: it takes no new work');
  return reasons;
}

function notesOf(node: NodeView): string[] {
  const notes: string[] = [];
  if (node.joins !== '') notes.push(`joins pool ${node.joins} once nothing runs on it`);
  const others = node.others.gpu_indices.length;
  if (others > 0) notes.push(`${count(others, 'GPU')} used outside Berth`);
  const uncounted = node.devices.reduce((sum, device) => sum + device.uncounted.length, 0);
  if (uncounted > 0) notes.push(`${count(uncounted, 'process', 'processes')} of jobs beside their shares`);
  if (node.shares_lack !== '') notes.push(`GPUs are given whole: ${node.shares_lack}`);
  return notes;
}

function lineOf(node: NodeView): NodeLine {
  const measured = node.devices.flatMap(({ utilization_percent: percent }) => (percent === null ? [] : [percent]));
  const memory = Math.round(node.gpu_memory / 1024 / kMiB);
  return {
    name: node.name,
    pool: node.pool,
    gpuWords: `${node.gpus}${node.gpu_model === '' ? (node.gpus === 1 ? ' GPU' : ' GPUs') : ` × ${node.gpu_model}`}${memory > 0 ? ` of ${memory} GiB` : ''}`,
    sums: sumsOf(node),
    percent: measured.length === 0 ? -1 : Math.round(measured.reduce((sum, one) => sum + one, 0) / measured.length),
    reasons: reasonsOf(node),
    notes: notesOf(node),
  };
}

const kRanks: Record<NodeCondition, number> = { down: 0, ready: 1, leaving: 1, drained: 2 };

// Whose name, pool or GPUs have the text in them; those that are down first, then those with a GPU that
// does not work, then those that are drained, then all others by name.
export function nodeLines(nodes: readonly NodeView[], text = ''): NodeLine[] {
  const wanted = text.toLowerCase();
  const rank = (line: NodeLine) => (line.reasons.length === 0 ? 3 : kRanks[line.sums.condition]);
  return nodes.map(lineOf)
    .filter(({ name, pool, gpuWords }) => `${name} ${pool} ${gpuWords}`.toLowerCase().includes(wanted))
    .sort((one, other) => rank(one) - rank(other) || natural.compare(one.name, other.name));
}

// "5 of 8 GPUs".
export function allocatedWords({ allocated, gpus: all }: NodeSums): string {
  return `${gpus(allocated)} of ${all}`;
}
