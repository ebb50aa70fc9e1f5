// SPDX-License-Identifier: Apache-2.0
//
// One frame of the timeline: the rows that are seen, of each the bars that touch the time. What runs is loud, what
// is over is soft, pauses are hatched, what is expected is ghosted with a line to the latest. Bars below a px merge.
import type { Bar } from '../model/timeline';
import { writeFitted } from './fitted';
import { mixed, type Rgb } from './map_palette';
import { barsWithin, kAxis, kGap, rowAt, xOf, type TimelineLayout, type TimeRange } from './timeline_layout';

export interface TimelineScene {
  layout: TimelineLayout;
  range: TimeRange;
  now: number;
  hueOf: (project: string) => number; // -1 = grey
  isMeant: (job: number) => boolean;
  ticks: { time: number; label: string }[];
  nowLabel: string;
  cursorX: number; // px; -1 = none
  pointed: Bar | undefined;
}

interface Hue { run: string; over: string; edge: string; expected: string; waits: string }
export interface TimelinePalette {
  hues: Hue[]; // the last is grey
  bg: string; line: string; line2: string; ink: string; ink2: string; ink3: string; onRun: string; pause: string; pauseGround: string; move: string; accent: string;
}

const css = ([red, green, blue]: Rgb) => `rgb(${red} ${green} ${blue})`;
const kFont = '11px system-ui, "IBM Plex Sans", "Segoe UI", sans-serif';
const kDim = 0.25;
const kOver = new Set(['succeeded', 'failed', 'cancelled']);
const kLabelFrom = 34; // px

export function timelinePalette(token: (name: string) => Rgb): TimelinePalette {
  const bg = token('--bg');
  const moving = token('--state-moving');
  const names = [...Array.from({ length: 6 }, (_, hue) => `--hue-${hue}`), '--hue-grey'];
  return {
    hues: names.map((name) => {
      const full = token(name);
      return {
        run: css(mixed(bg, full, 0.85)), over: css(mixed(bg, full, 0.4)), edge: css(full),
        expected: css(mixed(bg, full, 0.22)), waits: css(mixed(bg, full, 0.55)),
      };
    }),
    bg: css(bg), line: css(token('--line')), line2: css(token('--line2')), ink: css(token('--ink')), ink2: css(token('--ink2')),
    ink3: css(token('--ink3')), onRun: css(token('--on-busy')), pause: css(token('--violet')),
    pauseGround: css(mixed(bg, moving, 0.16)), move: css(mixed(bg, moving, 0.75)), accent: css(token('--accent')),
  };
}

// Stripes of 2 px each 6 px, as wide as a tile of themselves.
export function hatch(colour: string): HTMLCanvasElement {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const context = tile.getContext('2d') as CanvasRenderingContext2D;
  context.strokeStyle = colour;
  context.lineWidth = 1.4;
  for (const shift of [-6, 0, 6]) {
    context.beginPath();
    context.moveTo(shift, 6);
    context.lineTo(shift + 6, 0);
    context.stroke();
  }
  return tile;
}

type Pen = CanvasRenderingContext2D;
interface Place { x: number; w: number; y: number; h: number }

function paintBar(pen: Pen, scene: TimelineScene, palette: TimelinePalette, stripes: CanvasPattern | null, bar: Bar, place: Place, width: number) {
  const { x, w, y, h } = place;
  const hue = palette.hues[scene.hueOf(bar.job.project)] ?? (palette.hues.at(-1) as Hue);
  const isOver = kOver.has(bar.job.state);
  if (bar.kind === 'waits') {
    pen.fillStyle = hue.waits;
    for (let dot = x; dot < x + w; dot += 5) pen.fillRect(dot, y + h / 2 - 0.75, Math.min(2, x + w - dot), 1.5);
    return;
  }
  pen.fillStyle = bar.kind === 'paused' ? palette.pauseGround : bar.kind === 'moves' ? palette.move
    : bar.kind === 'expected' ? hue.expected : isOver ? hue.over : hue.run;
  pen.fillRect(x, y, w, h);
  if (bar.kind === 'paused' && stripes) {
    pen.fillStyle = stripes;
    pen.fillRect(x, y, w, h);
    pen.strokeStyle = palette.pause;
    pen.lineWidth = 1;
    if (w > 2) pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  if (bar.kind === 'runs' && isOver && w > 3) {
    pen.fillStyle = hue.edge;
    pen.fillRect(x, y, 2.5, h);
  }
  if (bar.kind === 'expected') {
    if (bar.isStart) {
      pen.strokeStyle = hue.waits;
      pen.setLineDash([3, 3]);
      pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      pen.setLineDash([]);
    }
    const latest = bar.latest === 0 ? width : Math.min(width, xOf(bar.latest, scene.range, scene.layout.left, width));
    pen.fillStyle = hue.edge;
    if (latest > x + w) pen.fillRect(x + w, y + h / 2 - 0.75, latest - x - w, 1.5);
  }
  if (bar === scene.pointed) {
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 0.75, y + 0.75, Math.max(1, w - 1.5), h - 1.5);
  }
  const isNamed = w >= kLabelFrom && h >= 10 && (bar.kind === 'runs' || bar.isStart);
  if (!isNamed) return;
  pen.fillStyle = bar.kind === 'runs' && !isOver ? palette.onRun : palette.ink;
  writeFitted(pen, bar.job.name, x + 6, y + h / 2 + 0.5, w - 10);
}

function paintRow(pen: Pen, scene: TimelineScene, palette: TimelinePalette, stripes: CanvasPattern | null, index: number, top: number, width: number) {
  const { layout, range, now } = scene;
  const row = layout.rows[index];
  if (!row) return;
  const tall = (layout.tops[index + 1] ?? 0) - (layout.tops[index] ?? 0) - kGap;
  const [first, last] = barsWithin(row, range, Math.max(0, now - layout.builtAt));
  const painted = new Map<number, number>(); // by track, the px behind the last bar that was too thin to be one
  for (const isPause of [true, false]) {
    painted.clear();
    for (let at = first; at < last; ++at) {
      const bar = row.bars[at] as Bar;
      if ((bar.kind === 'paused') !== isPause) continue;
      const to = bar.isOpen ? Math.max(now, bar.to) : bar.to;
      if (to < range.from) continue;
      const left = Math.max(layout.left, xOf(bar.from, range, layout.left, width));
      const right = Math.min(width, xOf(to, range, layout.left, width));
      const known = painted.get(bar.top) ?? -1;
      if (right <= known) continue;
      const w = Math.max(1, right - left);
      if (w <= 1) painted.set(bar.top, Math.floor(left) + 1);
      pen.globalAlpha = scene.isMeant(bar.job.id) ? 1 : kDim;
      const place = { x: left, w, y: top + kGap / 2 + bar.top * tall, h: Math.max(2, bar.tall * tall - (bar.tall < 1 ? 1 : 0)) };
      paintBar(pen, scene, palette, stripes, bar, place, width);
    }
  }
  pen.globalAlpha = 1;
}

// `offset`: px of rows that are above what is seen. `ratio`: points of the screen for one px.
export function paintTimeline(
  pen: Pen, scene: TimelineScene, palette: TimelinePalette, tile: HTMLCanvasElement,
  room: { w: number; h: number }, offset: number, ratio: number,
): void {
  const { layout, range, now } = scene;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, room.w, room.h);
  pen.font = kFont;
  pen.textBaseline = 'middle';
  const at = (time: number) => xOf(time, range, layout.left, room.w);
  const nowX = at(now);
  const isNowSeen = nowX >= layout.left && nowX <= room.w;
  pen.fillStyle = palette.line;
  for (const { time } of scene.ticks) pen.fillRect(Math.round(at(time)), kAxis - 6, 1, room.h);
  const stripes = pen.createPattern(tile, 'repeat');
  const first = Math.max(0, rowAt(layout, offset));
  pen.save();
  pen.beginPath();
  pen.rect(0, kAxis, room.w, room.h - kAxis);
  pen.clip();
  for (let index = first; index < layout.rows.length; ++index) {
    const top = kAxis + (layout.tops[index] ?? 0) - offset;
    if (top > room.h) break;
    pen.fillStyle = palette.line;
    pen.fillRect(layout.left, kAxis + (layout.tops[index + 1] ?? 0) - offset, room.w, 0.5);
    paintRow(pen, scene, palette, stripes, index, top, room.w);
    pen.textAlign = 'right';
    pen.fillStyle = palette.ink2;
    writeFitted(pen, layout.rows[index]?.name ?? '', layout.left - 8, top + 12, layout.left - 12);
    pen.textAlign = 'left';
  }
  pen.restore();
  pen.textAlign = 'center';
  pen.fillStyle = palette.ink3;
  for (const { time, label } of scene.ticks) {
    const x = at(time);
    const isNearNow = isNowSeen && Math.abs(x - nowX) < 46;
    if (!isNearNow && x > layout.left + 14 && x < room.w - 16) pen.fillText(label, x, 9);
  }
  if (isNowSeen) {
    pen.fillStyle = palette.ink;
    pen.fillRect(Math.round(nowX) - 0.75, kAxis - 6, 1.5, room.h);
    pen.font = `600 ${kFont}`;
    pen.fillText(scene.nowLabel, Math.min(Math.max(nowX, layout.left + 18), room.w - 18), 9);
  }
  if (scene.cursorX >= layout.left) {
    pen.fillStyle = palette.accent;
    pen.fillRect(Math.round(scene.cursorX), kAxis - 6, 1, room.h);
  }
  pen.textAlign = 'left';
}
