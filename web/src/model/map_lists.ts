// SPDX-License-Identifier: Apache-2.0
//
// What stands below the map, largest first: idle GPUs by project, holes by size, nodes that are not ready.
import { kConditions, partsOf } from '../api/gpu_columns';
import { isFree, partsOfGpu, type MapData } from './map';
import { count, gpus } from './numbers';

export interface Line {
  name: string;
  note: string;
  gpus: number;
  node?: number; // that it leads to
}

export interface MapLists {
  idle: Line[];
  holes: Line[];
  bad: Line[];
}

const kLines = 3;

function cut(lines: Line[], others: string): Line[] {
  const sorted = lines.sort((one, other) => other.gpus - one.gpus);
  if (sorted.length <= kLines) return sorted;
  const rest = sorted.slice(kLines - 1);
  const sum = rest.reduce((all, line) => all + line.gpus, 0);
  return [...sorted.slice(0, kLines - 1), { name: `${rest.length} ${others}`, note: '', gpus: sum }];
}

// `isShown`: nodes.
export function listsOf(data: MapData, isShown: (node: number) => boolean): MapLists {
  const { columns, topology, first } = data;
  const uses = columns.uses.map((use) => ({ isIdle: use === 'allocated_idle', isFree: isFree(use) }));
  const idle = new Map<string, { gpus: number; jobs: Set<number> }>();
  const wholeOf = new Map<number, number>(); // free GPUs of nodes
  let parts = 0;
  let node = 0;
  for (let gpu = 0; gpu < columns.use.length; ++gpu) {
    const use = uses[columns.use[gpu] as number];
    const [from, to] = columns.sharedGpu.length > 0 ? partsOf(columns, gpu) : [0, 0];
    if (!use?.isIdle && !use?.isFree && from === to) continue;
    while (gpu >= (first[node + 1] as number)) node += 1;
    if (!isShown(node)) continue;
    if (from === to && use?.isFree) {
      wholeOf.set(node, (wholeOf.get(node) ?? 0) + 1);
      continue;
    }
    for (const part of partsOfGpu(data, gpu)) {
      if (part.use === 'allocated_idle') {
        const known = idle.get(part.project) ?? { gpus: 0, jobs: new Set<number>() };
        known.gpus += part.amount;
        known.jobs.add(part.job);
        idle.set(part.project, known);
      }
      if (isFree(part.use)) parts += part.amount;
    }
  }
  const bad = [...columns.node].flatMap((condition, node) => (condition === 0 || !isShown(node) ? [] : [{
    name: topology.nodes.names[node] ?? '', note: kConditions[condition] ?? '', gpus: topology.nodes.gpus[node] ?? 0, node,
  }]));
  return {
    idle: cut([...idle].map(([name, { gpus: many, jobs }]) => ({ name, note: count(jobs.size, 'job'), gpus: many })), 'others'),
    holes: holesOf(data, wholeOf, parts),
    bad: cut(bad, 'other nodes'),
  };
}

function holesOf({ topology }: MapData, wholeOf: Map<number, number>, parts: number): Line[] {
  const sizes = new Map<string, { nodes: number; gpus: number; order: number; node: number }>();
  for (const [node, many] of wholeOf) {
    const all = topology.nodes.gpus[node] ?? 0;
    const [name, order] = many === all ? ['Whole nodes', 0] : many * 2 >= all ? ['Half a node or more', 1] : ['Less than half a node', 2];
    const known = sizes.get(name) ?? { nodes: 0, gpus: 0, order, node };
    sizes.set(name, { ...known, nodes: known.nodes + 1, gpus: known.gpus + many });
  }
  const lines: Line[] = [...sizes].sort(([, one], [, other]) => one.order - other.order)
    .map(([name, { nodes, gpus: many, node }]) => ({ name, note: count(nodes, 'node'), gpus: many, node }));
  return parts > 0 ? [...lines, { name: 'Parts of shared GPUs', note: '', gpus: Number(gpus(parts)) }] : lines;
}
