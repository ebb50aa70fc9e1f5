// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Topology } from '../api/gpu_columns';
import { brought, cameraOf, panned, textOf, whole, zoomed, type Camera } from './map_camera';
import { hit, layoutOf, nodeAt, racksOf, tileOf } from './map_layout';

// `sizes`: GPUs of each node; `rack`: of each, -1 = none.
function cluster(sizes: number[], rack: (node: number) => number = () => -1): Topology {
  const racks = Math.max(-1, ...sizes.map((_, node) => rack(node))) + 1;
  return {
    pools: ['default', 'h200'], models: ['H100'],
    racks: Array.from({ length: racks }, (_, at) => `zone/r${at}`),
    nodes: {
      names: sizes.map((_, node) => `n${node}`),
      gpus: sizes,
      pool: sizes.map((_, node) => (node % 5 === 4 ? 1 : 0)),
      rack: sizes.map((_, node) => rack(node)),
      model: sizes.map(() => 0),
      memory: sizes.map(() => 0),
    },
  };
}

const kRoom = { w: 1180, h: 600 };
const kClusters: [string, Topology][] = [
  ['one node', cluster([8])],
  ['64 nodes in racks', cluster(new Array(64).fill(8), (node) => Math.floor(node / 8))],
  ['nodes of many sizes', cluster(Array.from({ length: 40 }, (_, node) => 1 + ((node * 7) % 20)), (node) => node % 3)],
  ['10,000 nodes', cluster(new Array(10_000).fill(8), (node) => Math.floor(node / 40))],
  ['more than fit', cluster(new Array(30_000).fill(8), (node) => Math.floor(node / 40))],
];

for (const [name, topology] of kClusters) {
  test(`every GPU is hit at its own pixels, and nothing else: ${name}`, () => {
    const layout = layoutOf(topology, -1, kRoom);
    let gpu = 0;
    topology.nodes.gpus.forEach((gpus, node) => {
      for (let index = 0; index < gpus; ++index, ++gpu) {
        const { x, y, w, h } = tileOf(layout, node, index);
        for (const [px, py] of [[x + 0.01, y + 0.01], [x + w - 0.01, y + h - 0.01], [x + w / 2, y + h / 2]] as const) {
          const found = hit(layout, px, py);
          if (found.gpu !== gpu || found.node !== node) expect([name, found, px, py]).toEqual([node, gpu]);
        }
        if (x < 0 || y < 0 || x + w > layout.width || y + h > layout.height) expect([node, index]).toEqual('inside');
      }
    });
    expect(hit(layout, -1, 5).rack).toBe(-1);
    expect(hit(layout, 5, layout.height + 1).gpu).toBe(-1);
    expect(layout.width).toBeLessThanOrEqual(kRoom.w);
  });
}

test('a map of up to 10,000 nodes of eight fits into the room, with tiles as large as fit', () => {
  for (const [name, topology] of kClusters.slice(0, 4)) {
    expect([name, layoutOf(topology, -1, kRoom).height <= kRoom.h]).toEqual([name, true]);
  }
  expect(layoutOf(kClusters[3]![1], -1, kRoom).tile.w).toBe(2);
  expect(layoutOf(kClusters[0]![1], -1, kRoom).tile.h).toBe(74);
});

test('racks are in the order in which people count, and without racks eight nodes stand together', () => {
  const named = cluster([8, 8, 8], (node) => [10, 2, 2][node] ?? 0);
  expect(racksOf(named, -1, 8).map(({ title, nodes }) => [title, nodes])).toEqual([['Rack r2', [1, 2]], ['Rack r10', [0]]]);
  expect(racksOf(cluster(new Array(10).fill(8)), 0, 8).map(({ title }) => title)).toEqual(['n0 to n8']);
  expect(racksOf(cluster(new Array(12).fill(8)), 0, 8).map(({ title }) => title)).toEqual(['n0 to n8', 'n10 to n11']);
});

test('a pool is shown alone', () => {
  const layout = layoutOf(kClusters[1]![1], 1, kRoom);
  expect(layout.racks.flatMap((rack) => rack.nodes).every((node) => node % 5 === 4)).toBe(true);
  expect(layout.rackOf[0]).toBe(-1);
});

const layout = layoutOf(kClusters[3]![1], -1, kRoom);
const at = (camera: Camera, x: number, y: number) => [camera.x + x / camera.scale, camera.y + y / camera.scale];

test('what is under the pointer stays there while it is zoomed', () => {
  let camera = whole(layout, kRoom);
  for (const times of [3, 2, 1.5, 0.7]) {
    const before = at(camera, 500, 300);
    camera = zoomed(camera, times, { x: 500, y: 300 }, layout, kRoom);
    at(camera, 500, 300).forEach((one, axis) => expect(one).toBeCloseTo(before[axis] ?? 0, 6));
  }
});

test('the map is never left, and no closer than a tile can say', () => {
  let camera = zoomed(whole(layout, kRoom), 1e6, { x: 3, y: 3 }, layout, kRoom);
  expect(layout.tile.w * camera.scale).toBeCloseTo(96);
  camera = panned(camera, { x: 1e9, y: 1e9 }, layout, kRoom);
  expect([camera.x, camera.y]).toEqual([0, 0]);
  camera = panned(camera, { x: -1e9, y: -1e9 }, layout, kRoom);
  expect(camera.x + kRoom.w / camera.scale).toBeCloseTo(layout.width);
  expect(zoomed(camera, 1e-6, { x: 0, y: 0 }, layout, kRoom)).toEqual(whole(layout, kRoom));
});

test('a tile that the keyboard comes to is brought onto the screen', () => {
  const near = zoomed(whole(layout, kRoom), 20, { x: 0, y: 0 }, layout, kRoom);
  const tile = tileOf(layout, 9_999, 7);
  const camera = brought(near, tile, layout, kRoom);
  expect(tile.x).toBeGreaterThanOrEqual(camera.x - 1e-6);
  expect(tile.x + tile.w).toBeLessThanOrEqual(camera.x + kRoom.w / camera.scale + 1e-6);
  expect(nodeAt(layout, 9_999).y).toBeLessThanOrEqual(camera.y + kRoom.h / camera.scale);
});

test('an address says what is looked at', () => {
  const camera = zoomed(whole(layout, kRoom), 8, { x: 700, y: 200 }, layout, kRoom);
  const again = cameraOf(textOf(camera, layout, kRoom), layout, kRoom);
  expect(again.scale).toBeCloseTo(camera.scale, 1);
  expect(Math.abs(again.x - camera.x)).toBeLessThan(1);
  expect(textOf(whole(layout, kRoom), layout, kRoom)).toBe('');
  for (const text of ['', 'x', '2@', '-1@0,0', '2@9.9,0']) {
    const { x, scale } = cameraOf(text, layout, kRoom);
    expect(x).toBeGreaterThanOrEqual(0);
    expect(scale).toBeGreaterThan(0);
  }
});
