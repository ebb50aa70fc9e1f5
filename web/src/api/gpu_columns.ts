// SPDX-License-Identifier: Apache-2.0
//
// What does the server say of each GPU? Columns as they came, read in place (src/api/map/columns.h), and
// the nodes that they are of.

export const kNotMeasured = 255;
export const kNoProject = 65_535;
const kSteps = 15; // the highest of 16

export type NodeCondition = 'ready' | 'drained' | 'down' | 'leaving';
export const kConditions: readonly NodeCondition[] = ['ready', 'drained', 'down', 'leaving'];

// One number each: of a node in `nodes`, of a name in the lists; -1 = none.
export interface Topology {
  pools: string[];
  racks: string[]; // with what is around them: "zone1/r7"
  models: string[];
  nodes: {
    names: string[];
    gpus: number[];
    pool: number[];
    rack: number[];
    model: number[];
    memory: number[]; // bytes of one GPU; 0 = not known
  };
}

export interface GpuColumns {
  topology: string; // the ETag of the topology that they are of
  projects: string[];
  uses: string[]; // the names of what is in `use`
  sentences: string[];
  simulated: boolean;
  job: Uint32Array; // 0 = none
  project: Uint16Array; // kNoProject = none
  use: Uint8Array;
  busy: Uint8Array; // 0 to 15, or kNotMeasured, as in `memory`
  memory: Uint8Array;
  node: Uint8Array; // positions in kConditions
  // Parts of GPUs that are shared, by GPU.
  sharedGpu: Uint32Array;
  sharedJob: Uint32Array;
  sharedProject: Uint16Array;
  sharedAmount: Uint16Array; // thousandths
  sharedUse: Uint8Array;
}

type Header = Pick<GpuColumns, 'topology' | 'projects' | 'uses' | 'sentences' | 'simulated'> & {
  gpus: number; nodes: number; shared: number;
};

// Throws a RangeError where the bytes are fewer than they say.
export function columnsOf(bytes: ArrayBuffer): GpuColumns {
  const size = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size))) as Header;
  let at = 4 + size;
  function next<T>(Column: { new (b: ArrayBuffer, from: number, many: number): T; BYTES_PER_ELEMENT: number }, many: number): T {
    const column = new Column(bytes, at, many);
    at += many * Column.BYTES_PER_ELEMENT;
    return column;
  }
  const { topology, projects, uses, sentences, simulated, gpus, nodes, shared } = header;
  return {
    topology, projects, uses, sentences, simulated,
    sharedGpu: next(Uint32Array, shared),
    sharedJob: next(Uint32Array, shared),
    project: next(Uint16Array, gpus),
    sharedProject: next(Uint16Array, shared),
    sharedAmount: next(Uint16Array, shared),
    job: jobsOf(next(Uint8Array, gpus * 4), gpus),
    use: next(Uint8Array, gpus),
    busy: next(Uint8Array, gpus),
    memory: next(Uint8Array, gpus),
    sharedUse: next(Uint8Array, shared),
    node: next(Uint8Array, nodes),
  };
}

// Of differences, the lowest byte of all first.
function jobsOf(bytes: Uint8Array, gpus: number): Uint32Array {
  const jobs = new Uint32Array(gpus);
  let job = 0;
  for (let gpu = 0; gpu < gpus; ++gpu) {
    const at = (plane: number) => bytes[plane * gpus + gpu] as number;
    job = (job + (at(0) | (at(1) << 8) | (at(2) << 16) | (at(3) << 24))) >>> 0;
    jobs[gpu] = job;
  }
  return jobs;
}

// "87 %", of a step; nothing where it was not measured.
export function percentOf(step: number): string {
  return step === kNotMeasured ? '' : `${Math.round((100 * step) / kSteps)} %`;
}

// The first GPU of each node, and behind the last the number of all.
export function firstGpus(topology: Topology): Uint32Array {
  const first = new Uint32Array(topology.nodes.gpus.length + 1);
  topology.nodes.gpus.forEach((gpus, node) => (first[node + 1] = (first[node] ?? 0) + gpus));
  return first;
}

// The node of a GPU.
export function nodeOf(first: Uint32Array, gpu: number): number {
  let low = 0;
  let high = first.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((first[middle] ?? 0) <= gpu) low = middle;
    else high = middle;
  }
  return low;
}

// Parts of a shared GPU: from, and behind the last.
export function partsOf(columns: GpuColumns, gpu: number): [number, number] {
  const { sharedGpu } = columns;
  let low = 0;
  let high = sharedGpu.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sharedGpu[middle] ?? 0) < gpu) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < sharedGpu.length && sharedGpu[end] === gpu) end += 1;
  return [low, end];
}
