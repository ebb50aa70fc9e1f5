// SPDX-License-Identifier: Apache-2.0
//
// Where is which time and which row on the timeline's canvas, and what is at a point of it?
import type { Bar, Row } from '../model/timeline';

export interface TimeRange { from: number; to: number } // ms

export interface TimelineLayout {
  rows: Row[];
  tops: number[]; // px, of each row and behind the last
  left: number; // px of names
  builtAt: number; // ms: where open bars ended then
}

export const kAxis = 26; // px above the rows
const kRow = 24;
const kTrack = 12;
export const kGap = 4; // px between the bars of two rows

export function layoutRows(rows: Row[], left: number, builtAt: number): TimelineLayout {
  const tops = [0];
  for (const { tracks } of rows) tops.push((tops.at(-1) ?? 0) + (tracks === 1 ? kRow : tracks * kTrack + kGap));
  return { rows, tops, left, builtAt };
}

// The row at that height; -1 = none.
export function rowAt({ tops }: TimelineLayout, y: number): number {
  if (y < 0 || y >= (tops.at(-1) ?? 0)) return -1;
  let [low, high] = [0, tops.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) <= y) low = middle;
    else high = middle;
  }
  return low;
}

// Those of the row that touch the range, by index from one to behind the last.
export function barsWithin(row: Row, range: TimeRange, slack: number): [number, number] {
  const behind = (time: number) => {
    let [low, high] = [0, row.bars.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((row.bars[middle] as Bar).from < time) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return [behind(range.from - row.longest - slack), behind(range.to)];
}

export function xOf(time: number, range: TimeRange, left: number, width: number): number {
  return left + ((time - range.from) / (range.to - range.from)) * (width - left);
}

export function timeOf(x: number, range: TimeRange, left: number, width: number): number {
  return range.from + ((x - left) / (width - left)) * (range.to - range.from);
}

export interface Hit { row: number; bar: Bar | undefined }

// What is at a point of the rows, whose first px is `y` 0; what runs is above a pause.
export function hitBar(layout: TimelineLayout, y: number, time: number, now: number, nearMs: number): Hit {
  const row = rowAt(layout, y);
  const bars = layout.rows[row];
  if (!bars) return { row, bar: undefined };
  const part = (y - (layout.tops[row] ?? 0)) / ((layout.tops[row + 1] ?? 1) - (layout.tops[row] ?? 0));
  const [first, last] = barsWithin(bars, { from: time - nearMs, to: time + nearMs }, Math.max(0, now - layout.builtAt));
  const here = bars.bars.slice(first, last).filter((bar) =>
    bar.from <= time + nearMs && (bar.isOpen ? Math.max(now, bar.to) : bar.to) >= time - nearMs &&
    part >= bar.top && part <= bar.top + bar.tall);
  return { row, bar: here.reverse().sort((one, other) => Number(one.kind === 'paused') - Number(other.kind === 'paused'))[0] };
}

// A range moved by a part of itself, or scaled about a moment.
export function movedRange({ from, to }: TimeRange, part: number): TimeRange {
  const by = (to - from) * part;
  return { from: from + by, to: to + by };
}

const kMinute = 60_000;
const kShortest = kMinute;
const kLongest = 400 * 24 * 60 * kMinute;

export function scaledRange({ from, to }: TimeRange, times: number, about: number): TimeRange {
  const long = Math.min(kLongest, Math.max(kShortest, (to - from) / times));
  const part = (about - from) / (to - from);
  return { from: about - part * long, to: about + (1 - part) * long };
}
