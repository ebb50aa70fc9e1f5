// SPDX-License-Identifier: Apache-2.0
//
// Which pieces has the bar of a job's life? What was, solid, left of now; what is expected, ghosted,
// right of it: a whisker for when it starts, a line for when it ends. All in percent of the width.
import type { Band, Span, Timeline } from '../api/types';

export type PieceKind =
  | 'waiting' | 'held' | 'starting' | 'running' | 'leaving' | 'paused' | 'expected';

export interface BarPiece {
  kind: PieceKind;
  from: number;
  to: number;
  label: string; // where there is room for it
  span: Span | undefined; // undefined: it is expected
}
// From the earliest to the latest; null = nothing to show.
export interface Whisker { from: number; to: number; isOpen: boolean }
export interface Tick { at: number; time: number }

export interface SpanBar {
  from: number; // ms, as below
  to: number;
  now: number | null; // percent; null = it has ended
  gap: number | null; // percent, to which it is expected to be as it is now; null = it runs
  pieces: BarPiece[];
  start: Whisker | null;
  end: Whisker | null;
  ticks: Tick[];
}

const kSecond = 1_000;
const kMinute = 60 * kSecond;
const kHour = 60 * kMinute;
const kDay = 24 * kHour;
const kSteps = [
  kSecond, 2 * kSecond, 5 * kSecond, 10 * kSecond, 30 * kSecond, kMinute, 2 * kMinute, 5 * kMinute,
  10 * kMinute, 30 * kMinute, kHour, 2 * kHour, 3 * kHour, 6 * kHour, 12 * kHour, kDay, 2 * kDay,
  7 * kDay, 14 * kDay, 30 * kDay, 90 * kDay, 365 * kDay,
];
const kShortest = 10 * kSecond; // that an axis is
const kFutureMin = 3 * kMinute;
const kWhiskerMin = 0.5; // percent of the width; a shorter one is a blot
const kLabelFrom = 12; // percent of the width that a piece needs for its label

// `now` in ms. The future has at most three times the room of the past, so that this can be seen.
export function spanBar(timeline: Timeline, now: number, ticksMax = 8): SpanBar {
  const { spans, expected } = timeline;
  const last = spans.at(-1);
  const from = spans[0] ? Date.parse(spans[0].from) : now;
  const isOver = last !== undefined && ['succeeded', 'failed', 'cancelled'].includes(last.state);
  const present = isOver ? Date.parse(last.from) : Math.max(now, from);
  const known = expected.flatMap(({ from: begin, to }) => moments(begin).concat(moments(to)));
  const room = Math.max(3 * (present - from), kFutureMin);
  const end = isOver ? present : Math.min(Math.max(present, ...known), present + room);
  const to = Math.max(end, from + (isOver ? 1 : kShortest));
  const at = (time: number) => (100 * Math.min(Math.max(time - from, 0), to - from)) / (to - from);
  const pieces = (isOver ? spans.slice(0, -1) : spans).map((span) =>
    pieceOf(span, at(Date.parse(span.from)), at(span.to === null ? present : Date.parse(span.to))));
  const runs = isOver ? undefined : expected.find((span) => span.state === 'running');
  const bar: SpanBar = {
    from, to, now: isOver ? null : at(present),
    pieces: pieces.filter((piece) => piece.to > piece.from), gap: null, start: null, end: null,
    ticks: ticks(from, to, ticksMax).map((time) => ({ time, at: at(time) })),
  };
  if (!runs) return bar;
  const starts = runs.from.expected ?? runs.from.optimistic;
  if (starts === null) return bar;
  const begin = at(Math.max(Date.parse(starts), present));
  const stop = runs.to.expected ? at(Date.parse(runs.to.expected)) : 100;
  if (last?.state !== 'running' && last?.state !== 'starting') {
    bar.start = whisker(runs.from, at, to);
    bar.gap = begin;
  }
  if (stop > begin) {
    bar.pieces.push({ kind: 'expected', from: begin, to: stop, label: label('expected', begin, stop), span: undefined });
  }
  bar.end = runs.to.expected ? whisker(runs.to, at, to) : null;
  return bar;
}

function moments(band: Band): number[] {
  return [band.optimistic, band.expected, band.pessimistic].flatMap((time) =>
    time === null ? [] : [Date.parse(time)]);
}

function whisker(band: Band, at: (time: number) => number, end: number): Whisker | null {
  if (band.optimistic === null) return null;
  const last = band.pessimistic === null ? Infinity : Date.parse(band.pessimistic);
  const found = { from: at(Date.parse(band.optimistic)), to: at(Math.min(last, end)), isOpen: last > end };
  return found.to - found.from >= kWhiskerMin ? found : null;
}

const kKinds: Partial<Record<Span['state'], PieceKind>> = {
  queued: 'waiting', starting: 'starting', running: 'running', pausing: 'leaving',
  cancelling: 'leaving', paused: 'paused',
};

function pieceOf(span: Span, from: number, to: number): BarPiece {
  const waits = span.state === 'queued' || span.state === 'paused';
  const kind = span.on_hold && waits ? 'held' : kKinds[span.state] ?? 'waiting';
  const [node, ...others] = span.nodes;
  const place = node === undefined ? '' : others.length > 0 ? ` · ${others.length + 1} nodes` : ` · ${node}`;
  const text = span.state === 'running' ? `attempt ${span.attempt}${place}` : '';
  return { kind, from, to, label: label(text, from, to), span };
}

function label(text: string, from: number, to: number): string {
  return to - from >= kLabelFrom ? text : '';
}

// Round moments of the viewer's zone, a few of them.
export function ticks(from: number, to: number, most: number): number[] {
  const step = kSteps.find((one) => (to - from) / one <= most) ?? 365 * kDay;
  const shift = new Date(from).getTimezoneOffset() * kMinute;
  const found: number[] = [];
  for (let time = Math.ceil((from - shift) / step) * step + shift; time <= to; time += step) found.push(time);
  return found.length > 0 ? found : [from];
}
