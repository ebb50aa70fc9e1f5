// SPDX-License-Identifier: Apache-2.0
//
// Columns as a server writes them, for tests.
import { columnsOf, firstGpus, type GpuColumns, type Topology } from './gpu_columns';

export const kUses = ['busy', 'allocated_idle', 'not_measured', 'starting', 'leaving', 'lost_to_pause',
  'lost_to_failure', 'reserved', 'blocked_by_room', 'blocked_by_rules', 'free', 'others', 'unhealthy'];

export interface TestGpu {
  job?: number;
  project?: number; // a position in ['', 'nlp', 'vision']
  use?: string;
  busy?: number;
  memory?: number;
  parts?: { job: number; project: number; amount: number; use: string }[];
}

export function written(gpus: TestGpu[], nodes: number[]): ArrayBuffer {
  const parts = gpus.flatMap((gpu, at) => (gpu.parts ?? []).map((part) => ({ gpu: at, ...part })));
  const use = (name: string) => kUses.indexOf(name);
  const header = new TextEncoder().encode(JSON.stringify({
    topology: '"t"', gpus: gpus.length, nodes: nodes.length, shared: parts.length,
    projects: ['', 'nlp', 'vision'], uses: kUses, sentences: ['Most are used.', 'Free: 1.'], simulated: true,
  }));
  const size = Math.ceil(header.length / 4) * 4;
  const all = gpus.length * 9 + parts.length * 13 + nodes.length;
  const bytes = new Uint8Array(4 + size + all).fill(32);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, size, true);
  bytes.set(header, 4);
  let at = 4 + size;
  const put = (width: 1 | 2 | 4, column: number[]) => {
    for (const value of column) {
      if (width === 4) view.setUint32(at, value, true);
      else if (width === 2) view.setUint16(at, value, true);
      else view.setUint8(at, value);
      at += width;
    }
  };
  put(4, parts.map(({ gpu }) => gpu));
  put(4, parts.map(({ job }) => job));
  put(2, gpus.map(({ project }) => project ?? 65_535));
  put(2, parts.map(({ project }) => project));
  put(2, parts.map(({ amount }) => amount * 1000));
  const steps = gpus.map(({ job }, gpu) => ((job ?? 0) - (gpus[gpu - 1]?.job ?? 0)) >>> 0);
  for (const shift of [0, 8, 16, 24]) put(1, steps.map((step) => (step >>> shift) & 255));
  put(1, gpus.map((gpu) => use(gpu.use ?? 'free')));
  put(1, gpus.map(({ busy }) => busy ?? 255));
  put(1, gpus.map(({ memory }) => memory ?? 255));
  put(1, parts.map((part) => use(part.use)));
  put(1, nodes);
  return bytes.buffer;
}

// Nodes of four GPUs, named n0, n1 ...
export function dataOf(gpus: TestGpu[], conditions: number[] = []): { topology: Topology; columns: GpuColumns; first: Uint32Array } {
  const nodes = Array.from({ length: Math.ceil(gpus.length / 4) }, (_, node) => node);
  const topology: Topology = {
    pools: ['default'], racks: [], models: [],
    nodes: {
      names: nodes.map((node) => `n${node}`), gpus: nodes.map(() => 4), pool: nodes.map(() => 0),
      rack: nodes.map(() => -1), model: nodes.map(() => -1), memory: nodes.map(() => 0),
    },
  };
  const columns = columnsOf(written(gpus, nodes.map((node) => conditions[node] ?? 0)));
  return { topology, columns, first: firstGpus(topology) };
}
