// SPDX-License-Identifier: Apache-2.0
//
// Where is each GPU on the map? Racks in rows, in each the nodes, in each the tiles of its GPUs: all
// pitches are the same everywhere, so a point's GPU is found by arithmetic. Units are px at zoom 1,
// where all of it fits.
import { firstGpus, type Topology } from '../api/gpu_columns';

export interface Rack {
  title: string;
  nodes: number[];
}

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface MapLayout {
  racks: Rack[];
  first: Uint32Array; // of each node, its first GPU
  rackOf: Int32Array; // of each node; -1 = it is not shown
  slotOf: Int32Array; // of each node, in its rack
  gpusAcross: number; // of a node
  nodesAcross: number; // of a rack
  racksAcross: number;
  tile: { w: number; h: number };
  pitch: { x: number; y: number }; // from tile to tile, as below
  node: { x: number; y: number };
  rack: { x: number; y: number };
  inset: { left: number; top: number }; // of a rack, for the names of nodes and its own
  width: number;
  height: number;
}

const kChunk = 8; // nodes that stand together where no rack is known
const kFleetChunk = 40;
const kRowTileMin = 8; // px of width; below, a node is a block and no longer a row
const kTileMax = 44;
const kSlim = 1.68; // height of a tile in a row, by its width; wider ones fill the room up to kWide
const kWide = 1.2;
const kRowGpusMax = 8;
const kBlockGpus = 4;
const kLetter = 6.3; // px of a letter of a node's name

const natural = new Intl.Collator('en', { numeric: true });

// In the order in which they are read: by pool, rack and name, as people count. `pool`: -1 = all.
export function racksOf(topology: Topology, pool: number, chunk: number): Rack[] {
  const { names, gpus, pool: pools, rack } = topology.nodes;
  const groups = new Map<string, number[]>();
  names.forEach((_, node) => {
    if ((pool >= 0 && pools[node] !== pool) || (gpus[node] ?? 0) === 0) return;
    const key = (rack[node] ?? -1) >= 0 ? `rack ${rack[node]}` : `pool ${pools[node]}`;
    const group = groups.get(key);
    if (group) group.push(node);
    else groups.set(key, [node]);
  });
  const name = (node: number) => names[node] ?? '';
  const rackName = (node: number) => topology.racks[rack[node] ?? -1] ?? '';
  const poolName = (node: number) => topology.pools[pools[node] ?? -1] ?? '';
  const sorted = [...groups.values()].map((nodes) => nodes.sort((a, b) => natural.compare(name(a), name(b))));
  sorted.sort(([a = 0], [b = 0]) => natural.compare(poolName(a), poolName(b)) || natural.compare(rackName(a), rackName(b)));
  return sorted.flatMap((nodes) => {
    const known = rackName(nodes[0] ?? 0);
    if (known !== '') return [{ title: `Rack ${known.slice(known.lastIndexOf('/') + 1)}`, nodes }];
    const parts: Rack[] = [];
    for (let at = 0; at < nodes.length; at += chunk) {
      const some = nodes.slice(at, at + chunk);
      const [from, to] = [name(some[0] ?? 0), name(some.at(-1) ?? 0)];
      parts.push({ title: from === to ? '' : `${from} to ${to}`, nodes: some }); // one has its name beside it
    }
    return parts;
  });
}

type Shape = Omit<MapLayout, 'racks' | 'first' | 'rackOf' | 'slotOf' | 'racksAcross' | 'width' | 'height'>;

// A node is a row of upright tiles, with its name in front.
function rowShape(h: number, w: number, gpus: number, nodes: number, letters: number): Shape {
  const across = Math.min(gpus, kRowGpusMax);
  const pitch = { x: w + 2, y: h + 2 };
  const inset = { left: Math.ceil(Math.min(12, letters) * kLetter) + 8, top: 20 };
  const node = { x: across * pitch.x, y: Math.ceil(gpus / across) * pitch.y + 1 };
  const rack = { x: inset.left + node.x + 24, y: inset.top + nodes * node.y + 18 };
  return { gpusAcross: across, nodesAcross: 1, tile: { w, h }, pitch, node, rack, inset };
}

// A node is a block of squares, and many stand in a rack side by side.
function blockShape(tile: number, gpus: number, nodes: number): Shape {
  const across = Math.min(gpus, kBlockGpus);
  const gap = tile >= 5 ? 1 : 0;
  const pitch = { x: tile + gap, y: tile + gap };
  const apart = Math.max(1, Math.round(tile / 3));
  const node = { x: across * pitch.x + apart, y: Math.ceil(gpus / across) * pitch.y + apart };
  const nodesAcross = Math.max(1, Math.ceil(Math.sqrt((nodes * node.y) / node.x)));
  const inset = { left: 0, top: tile >= 5 ? 16 : 0 };
  const room = tile >= 5 ? 12 : 4 + tile;
  const rack = {
    x: nodesAcross * node.x + room,
    y: inset.top + Math.ceil(nodes / nodesAcross) * node.y + room,
  };
  return { gpusAcross: across, nodesAcross, tile: { w: tile, h: tile }, pitch, node, rack, inset };
}

function heightOf(shape: Shape, racks: number, width: number): number {
  const across = Math.max(1, Math.floor(width / shape.rack.x));
  return shape.rack.x > width ? Infinity : Math.ceil(racks / across) * shape.rack.y;
}

// The largest tiles with which all fits into the room, else the smallest there are.
export function layoutOf(topology: Topology, pool: number, room: { w: number; h: number }): MapLayout {
  const first = firstGpus(topology);
  let racks = racksOf(topology, pool, kChunk);
  const shown = racks.flatMap((rack) => rack.nodes);
  const gpus = Math.max(1, ...new Set(shown.map((node) => topology.nodes.gpus[node] ?? 0)));
  const letters = shown.reduce((most, node) => Math.max(most, topology.nodes.names[node]?.length ?? 0), 1);
  const nodesOf = (some: Rack[]) => some.reduce((most, rack) => Math.max(most, rack.nodes.length), 1);
  let shape: Shape | undefined;
  for (let tile = kTileMax; tile >= kRowTileMin && !shape; --tile) {
    const h = Math.round(tile * kSlim);
    const found = rowShape(h, tile, gpus, nodesOf(racks), letters);
    if (heightOf(found, racks.length, room.w) > room.h) continue;
    const across = Math.ceil(racks.length / Math.ceil(racks.length / Math.floor(room.w / found.rack.x)));
    const spare = room.w / across - found.rack.x;
    shape = rowShape(h, Math.max(tile, Math.min(Math.floor(tile + spare / found.gpusAcross), Math.floor(h / kWide))), gpus, nodesOf(racks), letters);
  }
  if (!shape) racks = racksOf(topology, pool, kFleetChunk);
  for (let tile = kTileMax / 2; tile >= 1 && !shape; --tile) {
    const found = blockShape(tile, gpus, nodesOf(racks));
    if (tile === 1 || heightOf(found, racks.length, room.w) <= room.h) shape = found;
  }
  return placed(shape as Shape, racks, first, room.w);
}

function placed(shape: Shape, racks: Rack[], first: Uint32Array, width: number): MapLayout {
  const nodes = first.length - 1;
  const rackOf = new Int32Array(nodes).fill(-1);
  const slotOf = new Int32Array(nodes);
  racks.forEach((rack, at) => rack.nodes.forEach((node, slot) => {
    rackOf[node] = at;
    slotOf[node] = slot;
  }));
  const racksAcross = Math.max(1, Math.min(racks.length, Math.floor(width / shape.rack.x)));
  const height = Math.ceil(racks.length / racksAcross) * shape.rack.y;
  return { ...shape, racks, first, rackOf, slotOf, racksAcross, width: racksAcross * shape.rack.x, height };
}

export function rackAt(layout: MapLayout, rack: number): { x: number; y: number } {
  return {
    x: (rack % layout.racksAcross) * layout.rack.x,
    y: Math.floor(rack / layout.racksAcross) * layout.rack.y,
  };
}

// The upper left corner of a node's first tile.
export function nodeAt(layout: MapLayout, node: number): { x: number; y: number } {
  const rack = rackAt(layout, layout.rackOf[node] ?? 0);
  const slot = layout.slotOf[node] ?? 0;
  return {
    x: rack.x + layout.inset.left + (slot % layout.nodesAcross) * layout.node.x,
    y: rack.y + layout.inset.top + Math.floor(slot / layout.nodesAcross) * layout.node.y,
  };
}

// Of a GPU of that node, by its index there.
export function tileOf(layout: MapLayout, node: number, index: number): Rect {
  const at = nodeAt(layout, node);
  return {
    x: at.x + (index % layout.gpusAcross) * layout.pitch.x,
    y: at.y + Math.floor(index / layout.gpusAcross) * layout.pitch.y,
    ...layout.tile,
  };
}

// What is at a point: the node, and its GPU if there is one; -1 = none. Names and gaps are their node's.
export function hit(layout: MapLayout, x: number, y: number): { rack: number; node: number; gpu: number } {
  const none = { rack: -1, node: -1, gpu: -1 };
  const column = Math.floor(x / layout.rack.x);
  if (x < 0 || y < 0 || column >= layout.racksAcross) return none;
  const rack = Math.floor(y / layout.rack.y) * layout.racksAcross + column;
  const nodes = layout.racks[rack]?.nodes;
  if (!nodes) return none;
  const left = (x % layout.rack.x) - layout.inset.left;
  const top = (y % layout.rack.y) - layout.inset.top;
  const across = Math.max(0, Math.floor(left / layout.node.x));
  if (top < 0 || across >= layout.nodesAcross) return { ...none, rack };
  const node = nodes[Math.floor(top / layout.node.y) * layout.nodesAcross + across];
  if (node === undefined) return { ...none, rack };
  if (left < 0) return { rack, node, gpu: -1 };
  const gpuColumn = Math.floor((left % layout.node.x) / layout.pitch.x);
  const index = Math.floor((top % layout.node.y) / layout.pitch.y) * layout.gpusAcross + gpuColumn;
  const from = layout.first[node] ?? 0;
  const isThere = gpuColumn < layout.gpusAcross && from + index < (layout.first[node + 1] ?? 0);
  return { rack, node, gpu: isThere ? from + index : -1 };
}
