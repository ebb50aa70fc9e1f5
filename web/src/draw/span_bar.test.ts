// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { Band, JobState, Span, Timeline } from '../api/types';
import { spanBar } from './span_bar';

const kMinute = 60_000;
const kStart = Date.parse('2026-11-27T10:00:00Z');

function at(minute: number): string {
  return new Date(kStart + minute * kMinute).toISOString();
}

function span(state: JobState, from: number, to: number | null, more: Partial<Span> = {}): Span {
  return {
    state, on_hold: false, parked: false, from: at(from), to: to === null ? null : at(to),
    attempt: state === 'queued' ? 0 : 1, tasks: 1, gpus: 1, nodes: ['n0'], node_gpus: [1], rule: null, beneficiary: null,
    actor: '', saved: false, lost_gpu_ms: 0, reason: '', ...more,
  };
}

function band(first: number, expected: number, last: number | null): Band {
  return { optimistic: at(first), expected: at(expected), pessimistic: last === null ? null : at(last) };
}

function timeline(spans: Span[], expected: Timeline['expected'] = []): Timeline {
  return {
    sentence: '', now: at(0), spans, left_out: 0, waited: 0, ran: 0, paused: 0, expected, evidence: 'none',
  };
}

const now = (minute: number) => kStart + minute * kMinute;

test('spans lie on one axis without a gap, and end at now', () => {
  const bar = spanBar(timeline([span('queued', 0, 25), span('running', 25, 75), span('paused', 75, null)]), now(100));
  expect(bar.pieces.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ['waiting', 0, 25], ['running', 25, 75], ['paused', 75, 100],
  ]);
  expect(bar.now).toBe(100);
  expect(bar.end).toBeNull();
});

test('a job that has ended has no now, and ends where it ended', () => {
  const bar = spanBar(timeline([span('running', 0, 50), span('succeeded', 50, null)]), now(100));
  expect(bar.now).toBeNull();
  expect(bar.pieces).toHaveLength(1);
  expect(bar.to).toBe(now(50));
});

test('what is expected is right of now: when it starts, and when it ends', () => {
  const expected: Timeline['expected'] = [
    { state: 'paused', from: band(100, 100, 100), to: band(120, 140, 160) },
    { state: 'running', from: band(120, 140, 160), to: band(150, 180, 200) },
  ];
  const bar = spanBar(timeline([span('paused', 0, null)], expected), now(100));
  expect([bar.now, bar.gap]).toEqual([50, 70]);
  expect(bar.pieces.at(-1)).toMatchObject({ kind: 'expected', from: 70, to: 90 });
  expect(bar.start).toEqual({ from: 60, to: 80, isOpen: false });
  expect(bar.end).toEqual({ from: 75, to: 100, isOpen: false });
});

test('a job that runs has no whisker of its start', () => {
  const expected: Timeline['expected'] = [
    { state: 'running', from: band(100, 100, 100), to: band(110, 120, 140) },
  ];
  const bar = spanBar(timeline([span('running', 0, null)], expected), now(100));
  expect([bar.start, bar.gap]).toEqual([null, null]);
  expect(bar.pieces.at(-1)?.kind).toBe('expected');
  expect(bar.end).not.toBeNull();
});

test('a far future leaves the past a quarter of the width, and is open at the edge', () => {
  const expected: Timeline['expected'] = [
    { state: 'queued', from: band(100, 100, 100), to: band(200, 9_000, 20_000) },
    { state: 'running', from: band(200, 9_000, 20_000), to: band(9_000, 18_000, 40_000) },
  ];
  const bar = spanBar(timeline([span('queued', 0, null)], expected), now(100));
  expect(bar.now).toBe(25);
  expect(bar.start).toEqual({ from: 50, to: 100, isOpen: true });
  expect(bar.gap).toBe(100);
  expect(bar.pieces.every((piece) => piece.to <= 100)).toBe(true);
});

test('where no end is known, the bar goes to the edge and no line says when', () => {
  const expected: Timeline['expected'] = [
    { state: 'queued', from: band(100, 100, 100), to: band(110, 120, null) },
    { state: 'running', from: band(110, 120, null), to: { optimistic: null, expected: null, pessimistic: null } },
  ];
  const bar = spanBar(timeline([span('queued', 0, null)], expected), now(100));
  expect(bar.end).toBeNull();
  expect(bar.start?.isOpen).toBe(true);
});

test('a job without spans, and one that began this moment, are no error', () => {
  for (const spans of [[], [span('queued', 0, null)]]) {
    const bar = spanBar(timeline(spans), now(0));
    expect(bar.to).toBeGreaterThan(bar.from);
    expect(bar.pieces).toEqual([]);
  }
});

test('ticks are round and few, whatever the length of a life', () => {
  for (const minutes of [0.1, 1, 7, 60, 500, 5_000, 90_000, 900_000]) {
    for (const most of [4, 8]) {
      const bar = spanBar(timeline([span('running', 0, null)]), now(minutes), most);
      expect(bar.ticks.length).toBeLessThanOrEqual(most + 1);
      expect(bar.ticks.length).toBeGreaterThan(0);
      expect(bar.ticks.every((tick) => tick.at >= 0 && tick.at <= 100)).toBe(true);
    }
  }
});

// Any life: pieces lie in order within the width, and none overlaps the next.
test('pieces of any life are in order', () => {
  let seed = 7;
  const dice = (sides: number) => (seed = (seed * 48_271) % 2_147_483_647) % sides;
  const kStates: JobState[] = ['queued', 'starting', 'running', 'pausing', 'paused', 'cancelling'];
  for (let life = 0; life < 300; ++life) {
    let minute = 0;
    const spans = Array.from({ length: 1 + dice(30) }, () => {
      const from = minute;
      minute += 1 + dice(500);
      return span(kStates[dice(6)] as JobState, from, minute, { on_hold: dice(5) === 0 });
    });
    (spans.at(-1) as Span).to = null;
    const pieces = spanBar(timeline(spans), now(minute + dice(100))).pieces;
    pieces.slice(1).forEach((piece, index) => expect(piece.from).toBe(pieces[index]?.to));
    expect(pieces[0]?.from).toBe(0);
    expect(pieces.at(-1)?.to).toBeCloseTo(100, 9);
  }
});
