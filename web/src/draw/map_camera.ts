// SPDX-License-Identifier: Apache-2.0
//
// Which part of the map is looked at? A point of the map at the upper left corner, and a scale; what
// is beyond the edges is never shown while there is something else to show.
import type { MapLayout, Rect } from './map_layout';

export interface Camera {
  x: number; // of the map, at the left edge
  y: number;
  scale: number; // px for one px at zoom 1
}

export interface Room {
  w: number;
  h: number;
}

const kTileMost = 96; // px, of a tile at the largest scale

// All of the map.
export function whole(layout: MapLayout, room: Room): Camera {
  return { x: 0, y: 0, scale: Math.min(1, room.h / Math.max(layout.height, 1)) };
}

function bounded(camera: Camera, layout: MapLayout, room: Room): Camera {
  const least = whole(layout, room).scale;
  const scale = Math.min(Math.max(camera.scale, least), Math.max(least, kTileMost / layout.tile.w));
  const within = (at: number, size: number, shown: number) => Math.min(Math.max(at, 0), Math.max(0, size - shown / scale));
  return { x: within(camera.x, layout.width, room.w), y: within(camera.y, layout.height, room.h), scale };
}

// The point of the map that is at (x, y) of the screen stays there.
export function zoomed(camera: Camera, times: number, at: { x: number; y: number }, layout: MapLayout, room: Room): Camera {
  const { scale } = bounded({ ...camera, scale: camera.scale * times }, layout, room);
  return bounded({
    x: camera.x + at.x / camera.scale - at.x / scale,
    y: camera.y + at.y / camera.scale - at.y / scale,
    scale,
  }, layout, room);
}

// By px of the screen.
export function panned(camera: Camera, by: { x: number; y: number }, layout: MapLayout, room: Room): Camera {
  return bounded({ ...camera, x: camera.x - by.x / camera.scale, y: camera.y - by.y / camera.scale }, layout, room);
}

// So far that the rectangle is on the screen.
export function brought(camera: Camera, to: Rect, layout: MapLayout, room: Room): Camera {
  const shown = { w: room.w / camera.scale, h: room.h / camera.scale };
  const near = (at: number, from: number, size: number, all: number) => Math.min(Math.max(at, from + size - all), from);
  return bounded({ ...camera, x: near(camera.x, to.x, to.w, shown.w), y: near(camera.y, to.y, to.h, shown.h) }, layout, room);
}

// "2.5@0.31,0.4": times of all of it, and the middle as parts of the map. Empty = all of it.
export function textOf(camera: Camera, layout: MapLayout, room: Room): string {
  const times = camera.scale / whole(layout, room).scale;
  if (times < 1.01) return '';
  const part = (at: number, shown: number, size: number) => ((at + shown / camera.scale / 2) / size).toFixed(4);
  return `${times.toFixed(2)}@${part(camera.x, room.w, layout.width)},${part(camera.y, room.h, layout.height)}`;
}

export function cameraOf(text: string, layout: MapLayout, room: Room): Camera {
  const all = whole(layout, room);
  const found = /^(\d{1,3}(?:\.\d+)?)@(\d(?:\.\d+)?),(\d(?:\.\d+)?)$/.exec(text);
  if (!found) return all;
  const [times, x, y] = found.slice(1).map(Number) as [number, number, number];
  const { scale } = bounded({ ...all, scale: all.scale * times }, layout, room);
  return bounded({ x: x * layout.width - room.w / scale / 2, y: y * layout.height - room.h / scale / 2, scale }, layout, room);
}
