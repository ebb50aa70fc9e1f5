// SPDX-License-Identifier: Apache-2.0
//
// What is written on the map, and what is framed: names of racks and nodes where there is room for them,
// words in large tiles, what is chosen, where the keyboard is.
import { nodeOf } from '../api/gpu_columns';
import { fitted, writeFitted } from './fitted';
import type { Camera, Room } from './map_camera';
import { nodeAt, rackAt, tileOf, type Rect } from './map_layout';
import { isSeen, onScreen, type MapScene } from './map_paint';

const kWordTile = 56; // px
const kFont = '11px system-ui, "IBM Plex Sans", "Segoe UI", sans-serif';
const kTitleFont = '500 12px system-ui, "IBM Plex Sans", "Segoe UI", sans-serif';

type Context = CanvasRenderingContext2D;

export function paintNames(context: Context, scene: MapScene, camera: Camera, room: Room, racks: number[]): void {
  const { layout, palette, names } = scene;
  const { scale } = camera;
  const isRow = layout.inset.left > 0;
  const gap = isRow ? layout.inset.left : layout.node.y - Math.ceil(layout.node.y / layout.pitch.y - 1) * layout.pitch.y;
  const hasNodeNames = isRow ? gap * scale >= 20 : gap * scale >= 12;
  context.textBaseline = 'alphabetic';
  for (const rack of racks) {
    const corner = rackAt(layout, rack);
    const top = Math.max(layout.inset.top, (layout.rack.y % layout.node.y) / 2) * scale;
    const place = onScreen(camera, { ...corner, w: layout.rack.x, h: layout.rack.y });
    if (top >= 14) paintTitle(context, scene, place, rack, scale);
    if (!hasNodeNames) continue;
    context.font = kFont;
    for (const node of layout.racks[rack]?.nodes ?? []) {
      const at = onScreen(camera, { ...nodeAt(layout, node), ...layout.tile });
      if (!isSeen({ ...at, x: at.x - gap * scale, w: layout.node.x * scale + gap * scale }, room)) continue;
      context.fillStyle = scene.chosenNode === node ? palette.ink : scene.columns.node[node] === 0 ? palette.ink3 : palette.idle;
      context.textAlign = isRow ? 'right' : 'left';
      if (isRow) context.fillText(names[node] ?? '', at.x - 7, at.y + at.h / 2 + 4, gap * scale - 8); // made to fit
      else writeFitted(context, names[node] ?? '', at.x, at.y - 3, layout.node.x * scale);
      if (layout.tile.w * scale >= kWordTile) paintWords(context, scene, camera, node);
    }
  }
}

function paintTitle(context: Context, { layout, palette, rackNotes }: MapScene, place: Rect, rack: number, scale: number): void {
  const left = place.x + layout.inset.left * scale;
  const right = left + (layout.nodesAcross * layout.node.x - (layout.node.x - layout.gpusAcross * layout.pitch.x)) * scale;
  const y = place.y + Math.max(layout.inset.top * scale - (layout.inset.left > 0 ? 8 : 5), 11);
  context.textAlign = 'right';
  context.font = kFont;
  context.fillStyle = palette.ink3;
  const note = rackNotes[rack] ?? '';
  const noteWide = context.measureText(note).width;
  const hasNote = right - left > noteWide + 60;
  if (hasNote) context.fillText(note, right, y);
  context.textAlign = 'left';
  context.font = kTitleFont;
  context.fillStyle = palette.ink;
  writeFitted(context, layout.racks[rack]?.title ?? '', left, y, right - left - (hasNote ? noteWide + 8 : 0));
}

function paintWords(context: Context, scene: MapScene, camera: Camera, node: number): void {
  const { layout, palette, isDim } = scene;
  const from = layout.first[node] as number;
  context.textAlign = 'left';
  for (let gpu = from; gpu < (layout.first[node + 1] as number); ++gpu) {
    if (isDim?.[gpu]) continue;
    const place = onScreen(camera, tileOf(layout, node, gpu - from));
    context.font = kFont;
    scene.wordsOf(gpu).forEach((word, line) => {
      const y = place.y + 14 + line * 14;
      const shown = fitted(word, place.w - 10, (part) => context.measureText(part).width);
      if (shown === '') return;
      context.fillStyle = palette.surface;
      context.fillRect(place.x + 3, y - 10, context.measureText(shown).width + 6, 13);
      context.fillStyle = palette.ink;
      context.fillText(shown, place.x + 6, y);
    });
  }
}

// What is chosen, and where the keyboard is.
export function paintChoice(context: Context, scene: MapScene, camera: Camera): void {
  const { layout, palette, chosenNode, chosenGpu, cursor } = scene;
  const isShown = (node: number) => node >= 0 && (layout.rackOf[node] ?? -1) >= 0;
  const outline = (rect: Rect, style: string, width: number, away: number) => {
    const { x, y, w, h } = onScreen(camera, rect);
    context.strokeStyle = style;
    context.lineWidth = width;
    context.beginPath();
    context.roundRect(x - away, y - away, w + 2 * away, h + 2 * away, 3);
    context.stroke();
  };
  if (isShown(chosenNode)) {
    const corner = nodeAt(layout, chosenNode);
    const last = (layout.first[chosenNode + 1] as number) - (layout.first[chosenNode] as number) - 1;
    const end = tileOf(layout, chosenNode, Math.min(last, layout.gpusAcross - 1));
    const bottom = tileOf(layout, chosenNode, last);
    const left = corner.x - Math.max(0, layout.inset.left - 3);
    outline({ x: left, y: corner.y, w: end.x + end.w - left, h: bottom.y + bottom.h - corner.y }, palette.accent, 1.5, 2);
    if (chosenGpu >= 0) {
      const from = layout.first[chosenNode] as number;
      outline(tileOf(layout, chosenNode, chosenGpu - from), palette.accent, 2.5, 0);
    }
  }
  if (cursor < 0) return;
  const node = nodeOf(layout.first, cursor);
  if (isShown(node)) outline(tileOf(layout, node, cursor - (layout.first[node] as number)), palette.ink, 2, 2);
}
