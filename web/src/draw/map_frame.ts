// SPDX-License-Identifier: Apache-2.0
//
// One frame of the map: far away the picture, near by tiles and names; then what is chosen, and a loupe
// of the rack that is pointed at from far away.
import { writeFitted } from './fitted';
import type { Camera, Room } from './map_camera';
import { rackAt } from './map_layout';
import { paintChoice, paintNames } from './map_names';
import { onScreen, paintTiles, racksSeen, type MapScene } from './map_paint';
import type { MapPicture } from './map_picture';

const kPictureTile = 7; // px; larger GPUs are tiles
const kLoupe = { tile: 7, pad: 14, title: 26 };

export function isFar(scene: Pick<MapScene, 'layout'>, camera: Camera): boolean {
  return scene.layout.tile.w * camera.scale < kPictureTile;
}

// `ratio`: points of the screen for one px. `loupe`: a rack; -1 = none.
export function paintFrame(
  context: CanvasRenderingContext2D, picture: MapPicture, scene: MapScene, camera: Camera, room: Room,
  ratio: number, loupe: number,
): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, room.w, room.h);
  const racks = racksSeen(scene.layout, camera, room);
  if (isFar(scene, camera)) picture.draw(context, scene, camera);
  else paintTiles(context, scene, camera, room, racks);
  paintNames(context, scene, camera, room, racks);
  paintChoice(context, scene, camera);
  if (loupe >= 0 && isFar(scene, camera)) paintLoupe(context, scene, camera, room, loupe);
}

function paintLoupe(context: CanvasRenderingContext2D, scene: MapScene, camera: Camera, room: Room, rack: number): void {
  const { layout, palette } = scene;
  const corner = rackAt(layout, rack);
  const place = onScreen(camera, { ...corner, w: layout.rack.x, h: layout.rack.y });
  const scale = kLoupe.tile / layout.tile.w;
  const w = layout.nodesAcross * layout.node.x * scale + 2 * kLoupe.pad;
  const rows = Math.ceil((layout.racks[rack]?.nodes.length ?? 1) / layout.nodesAcross);
  const h = rows * layout.node.y * scale + kLoupe.title + kLoupe.pad;
  const right = place.x + place.w + 4;
  const left = right + w < room.w ? right : Math.max(0, place.x - w - 8);
  const top = Math.min(Math.max(0, place.y), Math.max(0, room.h - h));
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.5;
  context.strokeRect(place.x - 1, place.y - 1, layout.nodesAcross * layout.node.x * camera.scale + 1, rows * layout.node.y * camera.scale + 1);
  context.fillStyle = palette.surface;
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(left + 0.5, top + 0.5, w, h, 6);
  context.fill();
  context.stroke();
  context.textBaseline = 'alphabetic';
  context.fillStyle = palette.ink;
  context.font = '500 12px system-ui, "IBM Plex Sans", "Segoe UI", sans-serif';
  context.textAlign = 'left';
  writeFitted(context, layout.racks[rack]?.title ?? '', left + kLoupe.pad, top + 17, w - 2 * kLoupe.pad - 70);
  context.fillStyle = palette.ink3;
  context.font = '11px system-ui, "IBM Plex Sans", "Segoe UI", sans-serif';
  context.textAlign = 'right';
  context.fillText(scene.rackNotes[rack] ?? '', left + w - kLoupe.pad, top + 17);
  const inner: Camera = {
    scale,
    x: corner.x - (left + kLoupe.pad) / scale,
    y: corner.y + layout.inset.top - (top + kLoupe.title) / scale,
  };
  paintTiles(context, scene, inner, room, [rack]);
}
