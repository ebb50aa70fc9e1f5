// SPDX-License-Identifier: Apache-2.0
//
// How is the map painted? Small GPUs are points of one picture that is scaled (map_picture.ts); larger
// ones are tiles: what of them is on the screen, one colour after the other. Cost: O(tiles on the
// screen).
import { partsOf, type GpuColumns } from '../api/gpu_columns';
import { kLooks, type Looks } from '../model/map_looks';
import type { Camera, Room } from './map_camera';
import { nodeAt, rackAt, tileOf, type MapLayout, type Rect } from './map_layout';
import type { Mark, Palette } from './map_palette';

export interface MapScene {
  layout: MapLayout;
  columns: GpuColumns;
  looks: Looks;
  palette: Palette;
  isDim: Uint8Array | undefined; // of each GPU; undefined = nothing is highlighted
  mine: ReadonlySet<number>; // jobs of the viewer
  chosenNode: number; // -1 = none, as below
  chosenGpu: number;
  cursor: number; // a GPU
  rackNotes: string[]; // "61 of 64", by rack
  names: string[]; // of nodes
  wordsOf: (gpu: number) => string[]; // in a large tile
}

const kFrameTile = 9; // px; in smaller ones a frame would be all there is
const kMarkTile = 12; // px; smaller tiles have no pattern and no bar

type Context = CanvasRenderingContext2D;

export function onScreen(camera: Camera, rect: Rect): Rect {
  const { x, y, scale } = camera;
  return { x: (rect.x - x) * scale, y: (rect.y - y) * scale, w: rect.w * scale, h: rect.h * scale };
}

export function isSeen(rect: Rect, room: Room): boolean {
  return rect.x < room.w && rect.y < room.h && rect.x + rect.w > 0 && rect.y + rect.h > 0;
}

// Tiles by look, four numbers each.
class Tiles {
  readonly rects: (number[] | undefined)[] = new Array(kLooks * 2);

  add(look: number, x: number, y: number, w: number, h: number): void {
    const list = (this.rects[look] ??= []);
    list.push(x, y, w, h);
  }
}

function gather(scene: MapScene, camera: Camera, room: Room, racks: Iterable<number>): Tiles {
  const { layout, columns, looks, isDim } = scene;
  const tiles = new Tiles();
  const hasShared = columns.sharedGpu.length > 0;
  // Squares that touch at zoom 1 stand apart once they are large.
  const tight = layout.pitch.x > layout.tile.w ? 0 : layout.tile.w * camera.scale >= kMarkTile ? 2 : 1;
  const w = layout.tile.w * camera.scale - tight;
  const h = layout.tile.h * camera.scale - tight;
  for (const rack of racks) {
    for (const node of layout.racks[rack]?.nodes ?? []) {
      const corner = nodeAt(layout, node);
      const place = onScreen(camera, { ...corner, w: layout.node.x, h: layout.node.y });
      if (!isSeen(place, room)) continue;
      const from = layout.first[node] as number;
      const to = layout.first[node + 1] as number;
      for (let gpu = from; gpu < to; ++gpu) {
        const index = gpu - from;
        const x = place.x + (index % layout.gpusAcross) * layout.pitch.x * camera.scale;
        const y = place.y + Math.floor(index / layout.gpusAcross) * layout.pitch.y * camera.scale;
        const dim = isDim?.[gpu] ? kLooks : 0;
        const [first, end] = hasShared ? partsOf(columns, gpu) : [0, 0];
        if (first === end) tiles.add((looks.gpus[gpu] as number) + dim, x, y, w, h);
        for (let part = first, at = x; part < end; ++part) {
          const wide = (w * (columns.sharedAmount[part] as number)) / 1000;
          tiles.add((looks.shared[part] as number) + dim, at, y, Math.max(1, wide - 1), h);
          at += wide;
        }
      }
    }
  }
  return tiles;
}

function eachRect(list: number[], draw: (x: number, y: number, w: number, h: number) => void): void {
  for (let at = 0; at < list.length; at += 4) {
    draw(list[at] as number, list[at + 1] as number, list[at + 2] as number, list[at + 3] as number);
  }
}

function strokeAll(context: Context, list: number[], style: string, width: number, dash: number[] = []): void {
  context.strokeStyle = style;
  context.lineWidth = width;
  context.setLineDash(dash);
  eachRect(list, (x, y, w, h) => context.strokeRect(x + width / 2, y + width / 2, Math.max(w - width, 1), Math.max(h - width, 1)));
  context.setLineDash([]);
}

function lines(context: Context, list: number[], style: string, width: number, draw: (x: number, y: number, w: number, h: number) => void): void {
  context.strokeStyle = style;
  context.lineWidth = width;
  context.beginPath();
  eachRect(list, draw);
  context.stroke();
}

// Diagonals every few px, cut at the edges of each tile.
function diagonals(context: Context, list: number[], style: string): void {
  const kApart = 5;
  lines(context, list, style, 1, (x, y, w, h) => {
    for (let at = kApart; at < w + h; at += kApart) {
      context.moveTo(x + Math.max(0, at - h), y + Math.min(at, h));
      context.lineTo(x + Math.min(at, w), y + Math.max(0, at - w));
    }
  });
}

const kMarks: Record<Mark, (context: Context, list: number[], palette: Palette, tile: number) => void> = {
  none: () => undefined,
  dash: (context, list, { idle }, tile) => {
    strokeAll(context, list, idle, Math.min(2, tile / 10));
    context.fillStyle = idle;
    eachRect(list, (x, y, w, h) => context.fillRect(x + w * 0.28, y + h / 2 - 1, w * 0.44, 2));
  },
  upright: (context, list, { moving }) => {
    context.fillStyle = moving;
    eachRect(list, (x, y, w, h) => {
      for (let at = 0; at < w; at += 4) context.fillRect(x + at, y, Math.min(2, w - at), h);
    });
  },
  diagonal: (context, list, { ink3, line }) => {
    diagonals(context, list, ink3);
    strokeAll(context, list, line, 1);
  },
  outline: (context, list, { line }) => strokeAll(context, list, line, 1),
  dashed: (context, list, { moving }) => strokeAll(context, list, moving, 1, [3, 2]),
  cross: (context, list) => lines(context, list, '#fff', 1.8, (x, y, w, h) => {
    const [middle, centre, arm] = [x + w / 2, y + h / 2, Math.min(w, h) * 0.24];
    context.moveTo(middle - arm, centre - arm);
    context.lineTo(middle + arm, centre + arm);
    context.moveTo(middle + arm, centre - arm);
    context.lineTo(middle - arm, centre + arm);
  }),
};

export function paintTiles(context: Context, scene: MapScene, camera: Camera, room: Room, racks: Iterable<number>): void {
  const { palette, layout } = scene;
  const tile = layout.tile.w * camera.scale;
  const isLarge = tile >= kMarkTile;
  const tiles = gather(scene, camera, room, racks);
  palette.tiles.forEach((paint, look) => {
    const list = tiles.rects[look];
    if (!list) return;
    if (!isLarge && (paint.mark !== 'none' || paint.part > 0)) {
      const packed = palette.packed[look] as number;
      context.fillStyle = `rgb(${packed & 255} ${(packed >> 8) & 255} ${(packed >> 16) & 255})`;
      eachRect(list, (x, y, w, h) => context.fillRect(x, y, w, h));
      return;
    }
    if (paint.ground !== '') {
      context.fillStyle = paint.ground;
      eachRect(list, (x, y, w, h) => context.fillRect(x, y, w, h));
    }
    if (paint.part > 0) {
      context.fillStyle = paint.bar;
      eachRect(list, (x, y, w, h) => context.fillRect(x, y + h * (1 - paint.part), w, h * paint.part));
    }
    kMarks[paint.mark](context, list, palette, tile);
  });
  if (tile >= kFrameTile) paintFrames(context, scene, camera, room, racks);
}

// Around the viewer's own jobs: neighbours of one job have one frame.
function paintFrames(context: Context, scene: MapScene, camera: Camera, room: Room, racks: Iterable<number>): void {
  const { layout, columns, mine, palette, isDim } = scene;
  if (mine.size === 0) return;
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.6;
  for (const rack of racks) {
    for (const node of layout.racks[rack]?.nodes ?? []) {
      const from = layout.first[node] as number;
      const many = (layout.first[node + 1] as number) - from;
      for (let index = 0; index < many; ++index) {
        const job = columns.job[from + index] as number;
        if (!mine.has(job) || isDim?.[from + index]) continue;
        const begin = index;
        const isSameRow = (next: number) => next % layout.gpusAcross !== 0 && next < many;
        while (isSameRow(index + 1) && columns.job[from + index + 1] === job) index += 1;
        const left = onScreen(camera, tileOf(layout, node, begin));
        const right = onScreen(camera, tileOf(layout, node, index));
        if (!isSeen({ ...left, w: right.x + right.w - left.x }, room)) continue;
        context.beginPath();
        context.roundRect(left.x - 1, left.y - 1, right.x + right.w - left.x + 2, left.h + 2, 2.5);
        context.stroke();
      }
    }
  }
}

export function racksSeen(layout: MapLayout, camera: Camera, room: Room): number[] {
  const seen: number[] = [];
  layout.racks.forEach((_, rack) => {
    const place = onScreen(camera, { ...rackAt(layout, rack), w: layout.rack.x, h: layout.rack.y });
    if (isSeen(place, room)) seen.push(rack);
  });
  return seen;
}
