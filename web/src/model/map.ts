// SPDX-License-Identifier: Apache-2.0
//
// What does the map say in words: of a GPU, of a node, of all of them? Which GPUs does a text mean?
import {
  kConditions, kNoProject, kNotMeasured, nodeOf, partsOf, percentOf, type GpuColumns, type NodeCondition,
  type Topology,
} from '../api/gpu_columns';
import type { Row } from '../api/types';
import { count, gpus as gpuNumber } from './numbers';
import { isNamed } from './queue';

export interface MapData {
  topology: Topology;
  columns: GpuColumns;
  first: Uint32Array; // firstGpus of the topology
}

export type RowOf = (job: number) => Row | undefined;

const kUses: Record<string, string> = {
  busy: 'busy', allocated_idle: 'allocated, idle', not_measured: 'allocated, not measured',
  starting: 'starting', leaving: 'saving or leaving', reserved: 'reserved',
  blocked_by_room: 'free, no waiting job fits', blocked_by_rules: 'free, no waiting job may have it',
  free: 'free', others: 'used outside Berth', unhealthy: 'not ready',
};

export function useWords(use: string): string {
  return kUses[use] ?? use;
}

export function isOfJob(use: string): boolean {
  return ['busy', 'allocated_idle', 'not_measured', 'starting', 'leaving'].includes(use);
}

export function isFree(use: string): boolean {
  return use === 'free' || use.startsWith('blocked');
}

// "n61:4" -> the node and the GPU; -1 = none.
export function chosenOf({ topology, first }: MapData, text: string): { node: number; gpu: number } {
  const whole = topology.nodes.names.indexOf(text);
  if (whole >= 0) return { node: whole, gpu: -1 };
  const found = /^(.*):(\d{1,3})$/.exec(text);
  const node = found ? topology.nodes.names.indexOf(found[1] ?? '') : -1;
  const index = Number(found?.[2] ?? -1);
  if (node < 0 || index >= (topology.nodes.gpus[node] ?? 0)) return { node, gpu: -1 };
  return { node, gpu: (first[node] ?? 0) + index };
}

export function chosenText({ topology, first }: MapData, node: number, gpu: number): string {
  const name = topology.nodes.names[node] ?? '';
  return gpu < 0 ? name : `${name}:${gpu - (first[node] ?? 0)}`;
}

// A part of a GPU, or all of it.
export interface GpuPart {
  job: number; // 0 = none
  project: string;
  use: string;
  amount: number; // 1 = all of it
}

export function partsOfGpu({ columns }: MapData, gpu: number): GpuPart[] {
  const [from, to] = partsOf(columns, gpu);
  const name = (project: number) => (project === kNoProject ? '' : columns.projects[project] ?? '');
  const use = (code: number) => columns.uses[code] ?? '';
  if (from === to) {
    return [{
      job: columns.job[gpu] ?? 0, project: name(columns.project[gpu] ?? kNoProject), use: use(columns.use[gpu] ?? 0), amount: 1,
    }];
  }
  return Array.from({ length: to - from }, (_, at) => ({
    job: columns.sharedJob[from + at] ?? 0,
    project: name(columns.sharedProject[from + at] ?? kNoProject),
    use: use(columns.sharedUse[from + at] ?? 0),
    amount: (columns.sharedAmount[from + at] ?? 0) / 1000,
  }));
}

function partWords(part: GpuPart, rowOf: RowOf): string {
  const share = part.amount === 1 ? '' : ` ${gpuNumber(part.amount)}`;
  if (part.job === 0) return `${useWords(part.use)}${share}`;
  return `${rowOf(part.job)?.name ?? `job ${part.job}`}${share} of ${part.project}, ${useWords(part.use)}`;
}

// One line that says all of a GPU: what is read out while the keyboard moves over the map.
export function gpuWords(data: MapData, gpu: number, rowOf: RowOf): string {
  const { topology, columns, first } = data;
  const node = nodeOf(first, gpu);
  const parts = partsOfGpu(data, gpu).map((part) => partWords(part, rowOf)).join('; ');
  const measured = [['activity', columns.busy[gpu]], ['memory', columns.memory[gpu]]] as const;
  const steps = measured.flatMap(([word, step = kNotMeasured]) => (step === kNotMeasured ? [] : [`, ${word} ${percentOf(step)}`]));
  return `${topology.nodes.names[node]}, GPU ${gpu - (first[node] ?? 0)}: ${parts}${steps.join('')}`;
}

// The GPUs that all words of a text mean, by their job or node, as 0; all others as 1.
export function dimmedBy({ topology, columns, first }: MapData, text: string, rowOf: RowOf): Uint8Array | undefined {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const ofJob = new Map<number, boolean[]>();
  const meansJob = (job: number, project: number) => {
    let found = ofJob.get(job);
    if (!found) {
      const row = job === 0 ? undefined : rowOf(job);
      const named = [String(job), `project:${(columns.projects[project] ?? '').toLowerCase()}`];
      found = words.map((word) => (row ? isNamed(row, word) : job !== 0 && named.includes(word)));
      ofJob.set(job, found);
    }
    return found;
  };
  const isDim = new Uint8Array(columns.use.length);
  topology.nodes.names.forEach((name, node) => {
    const lower = name.toLowerCase();
    const means = words.map((word) => lower.includes(word.replace(/^node:/, '')));
    const isMeant = (job: number, project: number) => meansJob(job, project).every((isIt, at) => isIt || means[at]);
    for (let gpu = first[node] as number; gpu < (first[node + 1] as number); ++gpu) {
      const job = columns.job[gpu] as number;
      if (gpu > (first[node] as number) && job === columns.job[gpu - 1] && job !== 0) isDim[gpu] = isDim[gpu - 1] as number;
      else isDim[gpu] = isMeant(job, columns.project[gpu] as number) ? 0 : 1;
    }
  });
  const { sharedGpu, sharedJob, sharedProject } = columns;
  for (let part = 0; part < sharedGpu.length; ++part) {
    const gpu = sharedGpu[part] as number;
    const lower = (topology.nodes.names[nodeOf(first, gpu)] ?? '').toLowerCase();
    const isMeant = meansJob(sharedJob[part] as number, sharedProject[part] as number).every((isIt, at) => isIt || lower.includes((words[at] ?? '').replace(/^node:/, '')));
    if (isMeant) isDim[gpu] = 0;
  }
  return isDim;
}

// GPUs of each node that jobs have.
export function allocatedOf({ columns, first }: MapData): Float32Array {
  const sums = new Float32Array(first.length - 1);
  let part = 0;
  for (let node = 0; node < sums.length; ++node) {
    let sum = 0;
    for (let gpu = first[node] as number; gpu < (first[node + 1] as number); ++gpu) {
      const begin = part;
      for (; columns.sharedGpu[part] === gpu; ++part) {
        if (columns.sharedJob[part] !== 0) sum += (columns.sharedAmount[part] as number) / 1000;
      }
      if (part === begin && columns.job[gpu] !== 0) sum += 1;
    }
    sums[node] = sum;
  }
  return sums;
}

export interface NodeSums {
  gpus: number;
  allocated: number;
  idle: number; // of those
  free: number;
  whole: number; // free GPUs
  busy: number; // the mean of what was measured, in steps, or kNotMeasured
  jobs: number[];
  condition: NodeCondition;
}

export function nodeSums(data: MapData, node: number): NodeSums {
  const { columns, first } = data;
  const sums: NodeSums = {
    gpus: 0, allocated: 0, idle: 0, free: 0, whole: 0, busy: kNotMeasured, jobs: [],
    condition: kConditions[columns.node[node] ?? 0] ?? 'ready',
  };
  const steps: number[] = [];
  for (let gpu = first[node] ?? 0; gpu < (first[node + 1] ?? 0); ++gpu) {
    sums.gpus += 1;
    for (const { job, use, amount } of partsOfGpu(data, gpu)) {
      if (job !== 0) sums.allocated += amount;
      if (use === 'allocated_idle') sums.idle += amount;
      if (isFree(use)) sums.free += amount;
      if (isFree(use) && amount === 1) sums.whole += 1;
      if (job !== 0 && !sums.jobs.includes(job)) sums.jobs.push(job);
    }
    const step = columns.busy[gpu] ?? kNotMeasured;
    if (step !== kNotMeasured) steps.push(step);
  }
  if (steps.length > 0) sums.busy = steps.reduce((sum, step) => sum + step, 0) / steps.length;
  return sums;
}

const kConditionWords: Record<NodeCondition, string> = {
  ready: '', drained: 'Drained: it takes no new work.', down: 'Down: it does not answer.',
  leaving: 'It leaves its pool, and takes no more work until then.',
};

// "5 of 8 GPUs allocated, 1 of them idle."
export function nodeSentence(sums: NodeSums): string {
  const idle = sums.idle > 0 ? `, ${gpuNumber(sums.idle)} of them idle` : '';
  const said = `${gpuNumber(sums.allocated)} of ${count(sums.gpus, 'GPU')} allocated${idle}.`;
  return `${said} ${kConditionWords[sums.condition]}`.trim();
}

// What draining it, or letting it work again, does.
export function healthEffect(sums: NodeSums): { title: string; health: 'ready' | 'drained'; effect: string } | undefined {
  if (sums.condition === 'down') return undefined;
  if (sums.condition === 'drained') {
    return { title: 'Set ready', health: 'ready', effect: `It takes work again: ${count(sums.gpus - sums.allocated, 'GPU')} can be given to jobs.` };
  }
  const free = sums.gpus - sums.allocated;
  const jobs = sums.jobs.length;
  const stay = jobs === 0 ? 'No job is on it.' : `${count(jobs, 'job')} on it ${jobs === 1 ? 'goes' : 'go'} on until ${jobs === 1 ? 'it ends' : 'they end'}.`;
  return {
    title: 'Drain', health: 'drained',
    effect: `It takes no new work${free > 0 ? `: ${count(free, 'free GPU')} cannot be had` : ''}. ${stay}`,
  };
}
