// SPDX-License-Identifier: Apache-2.0
//
// What a server might say of a cluster that no test can have: names of nodes, and columns for each GPU
// (src/api/map/columns.h). The same numbers give the same cluster.

const kUses = ['busy', 'allocated_idle', 'not_measured', 'starting', 'leaving', 'lost_to_pause',
  'lost_to_failure', 'reserved', 'blocked_by_room', 'blocked_by_rules', 'free', 'others', 'unhealthy'];
const use = (name) => kUses.indexOf(name);
const kProjects = ['', 'nlp', 'vision', 'speech', 'robotics', 'lab', 'infer'];
const kGpus = 8; // of a node
const kSizes = [1, 2, 4, 8, 16, 32, 64, 128];
export const kTopologyTag = '"made-up"';

// A number below `most`, from a small generator of its own (mulberry32).
function dice(seed) {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * most | 0;
  };
}

export function madeUpTopology(nodes, rackNodes) {
  const all = (value) => Array.from({ length: nodes }, (_, node) => value(node));
  return {
    pools: ['default'],
    racks: Array.from({ length: Math.ceil(nodes / rackNodes) }, (_, rack) => `r${rack + 1}`),
    models: ['H100'],
    nodes: {
      names: all((node) => `n${String(node + 1).padStart(2, '0')}`),
      gpus: all(() => kGpus), pool: all(() => 0), rack: all((node) => Math.floor(node / rackNodes)),
      model: all(() => 0), memory: all(() => 80 * 2 ** 30),
    },
  };
}

// One job after the other on neighbouring GPUs, most of them busy, some idle or starting; holes between.
function fill(nodes, seed) {
  const many = nodes * kGpus;
  const roll = dice(seed);
  const gpus = { job: [], project: [], use: [], busy: [], memory: [] };
  const add = (job, project, what, busy, memory) => {
    gpus.job.push(job);
    gpus.project.push(project);
    gpus.use.push(what);
    gpus.busy.push(busy);
    gpus.memory.push(memory);
  };
  for (let job = 1; gpus.job.length < many; ++job) {
    if (roll(14) === 0) {
      const bad = roll(8) === 0;
      for (let left = 1 + roll(3); left > 0; --left) add(0, 65535, bad ? use('unhealthy') : use('blocked_by_room'), 255, 255);
      continue;
    }
    const project = 1 + roll(kProjects.length - 1);
    const what = [use('allocated_idle'), use('starting')][roll(16)] ?? use('busy');
    const level = 8 + roll(6);
    const memory = 6 + roll(9);
    for (let left = kSizes[roll(kSizes.length)]; left > 0; --left) {
      add(job, project, what, what === use('busy') ? level + roll(2) : 0, what === use('starting') ? 1 : memory);
    }
  }
  return Object.fromEntries(Object.entries(gpus).map(([name, column]) => [name, column.slice(0, many)]));
}

export function madeUpColumns(nodes, seed = 1) {
  const gpus = fill(nodes, seed);
  const many = gpus.job.length;
  const count = (names) => gpus.use.filter((one) => names.map(use).includes(one)).length;
  const allocated = count(['busy', 'allocated_idle', 'starting']);
  const header = JSON.stringify({
    topology: kTopologyTag, gpus: many, nodes, shared: 0, projects: kProjects, uses: kUses,
    sentences: [
      `${allocated.toLocaleString('en')} of ${many.toLocaleString('en')} GPUs are allocated, ${count(['allocated_idle']).toLocaleString('en')} of them idle.`,
      `Free: ${count(['blocked_by_room']).toLocaleString('en')}, no more than 3 together.`,
    ],
    simulated: false,
  });
  const padded = Buffer.from(header + ' '.repeat((4 - (Buffer.byteLength(header) % 4)) % 4));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(padded.length);
  const bytes = (column) => Buffer.from(column.buffer);
  return Buffer.concat([
    size, padded, bytes(Uint16Array.from(gpus.project)),
    ...[0, 8, 16, 24].map((shift) => bytes(Uint8Array.from(gpus.job, (job, gpu) =>
      (((job - (gpus.job[gpu - 1] ?? 0)) >>> 0) >>> shift) & 255))),
    bytes(Uint8Array.from(gpus.use)), bytes(Uint8Array.from(gpus.busy)), bytes(Uint8Array.from(gpus.memory)),
    Buffer.alloc(nodes),
  ]);
}
