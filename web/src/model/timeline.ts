// SPDX-License-Identifier: Apache-2.0
//
// Which bars has each row of the timeline? Rows are nodes, jobs or projects; on a node a bar is as tall as the
// part of its GPUs that the job has, elsewhere each job has a track of its own where there is room.
import type { JobSpans, PastSpan } from '../api/timeline_types';
import type { TimelineRows } from './view';

export type BarKind = 'waits' | 'moves' | 'runs' | 'paused' | 'expected';

export interface Bar {
  job: JobSpans;
  span: PastSpan | undefined; // undefined: it is expected
  kind: BarKind;
  from: number; // ms, as below
  to: number;
  isOpen: boolean; // it goes on with now
  latest: number; // of what is expected; 0 = not known
  isStart: boolean; // it is expected to begin
  top: number; // part of the row, as below
  tall: number;
}

export interface Row {
  name: string;
  job: number; // 0 = none
  bars: Bar[]; // by where they begin
  longest: number; // ms, of a bar
  tracks: number; // how many stand one below the other
}

const kTracksMost = 8;
const kHalves = 2; // of a GPU are distinguished
const kWaiting = 'waiting';

const kKinds: Partial<Record<PastSpan['state'], BarKind>> = {
  queued: 'waits', starting: 'moves', running: 'runs', pausing: 'moves', cancelling: 'moves', paused: 'paused',
};
const natural = new Intl.Collator('en', { numeric: true });

function pastBars(job: JobSpans, now: number): Bar[] {
  return job.spans.flatMap((span) => {
    const kind = kKinds[span.state];
    const from = Date.parse(span.from);
    const to = span.to === null ? Math.max(now, from) : Date.parse(span.to);
    return kind && (to > from || span.to === null)
      ? [{ job, span, kind, from, to, isOpen: span.to === null, latest: 0, isStart: false, top: 0, tall: 1 }] : [];
  });
}

// Where it is expected to run, if that is known. Without an expected end none is drawn.
export function expectedBar(job: JobSpans, now: number): Bar | undefined {
  const runs = job.expected.find((span) => span.state === 'running');
  if (!runs?.from.expected || !runs.to.expected) return undefined;
  const isStart = job.expected.length > 1;
  const from = Math.max(Date.parse(runs.from.expected), now);
  const latest = runs.to.pessimistic === null ? 0 : Date.parse(runs.to.pessimistic);
  const to = Date.parse(runs.to.expected);
  if (to <= from) return undefined;
  return { job, span: undefined, kind: 'expected', from, to, isOpen: false, latest, isStart, top: 0, tall: 1 };
}

function rowOf(name: string, bars: Bar[], job = 0, tracks = 1): Row {
  bars.sort((one, other) => one.from - other.from);
  return { name, job, bars, tracks, longest: bars.reduce((most, bar) => Math.max(most, bar.to - bar.from), 0) };
}

function isFree(busyUntil: number[], first: number, many: number, from: number): boolean {
  for (let slot = first; slot < first + many; ++slot) {
    if ((busyUntil[slot] ?? 0) > from) return false;
  }
  return true;
}

// The first of `many` slots beside each other that are free then; without any, the first of all.
function freeSlots(busyUntil: number[], many: number, from: number): number {
  for (let first = 0; first + many <= busyUntil.length; ++first) {
    if (isFree(busyUntil, first, many, from)) return first;
  }
  return 0;
}

// Bars with their slots. A pause is where the job was: on a node below what runs there meanwhile, in tracks alone.
function placed(bars: Bar[], slots: number, manyOf: (bar: Bar) => number, keepsPauses = false): Bar[] {
  const busyUntil = new Array<number>(slots).fill(-Infinity);
  const last = new Map<number, { first: number; many: number }>();
  return [...bars].sort((one, other) => one.from - other.from).map((bar) => {
    const before = last.get(bar.job.id);
    const many = Math.min(slots, Math.max(1, manyOf(bar) || (before?.many ?? 1)));
    const goesOn = before?.many === many && (bar.kind === 'paused' || isFree(busyUntil, before.first, many, bar.from));
    const first = goesOn ? before.first : freeSlots(busyUntil, many, bar.from);
    if (bar.kind !== 'paused' || keepsPauses) busyUntil.fill(bar.to, first, first + many);
    last.set(bar.job.id, { first, many });
    return { ...bar, top: first / slots, tall: many / slots };
  });
}

// One track for each job at a time, as many as there are at once, at most kTracksMost.
function inTracks(bars: Bar[]): { bars: Bar[]; tracks: number } {
  const edges = bars.flatMap((bar) => [[bar.from, 1], [bar.to, -1]] as const).sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  let now = 0;
  const most = edges.reduce((found, [, by]) => Math.max(found, (now += by)), 1);
  const tracks = Math.min(most, kTracksMost);
  return { bars: placed(bars, tracks, () => 1, true), tracks };
}

function byNode(jobs: JobSpans[], now: number, nodes: ReadonlyMap<string, number>): Row[] {
  const found = new Map<string, Bar[]>([...nodes.keys()].map((name) => [name, []]));
  const waiting: Bar[] = [];
  const add = (node: string, bar: Bar) => {
    const bars = found.get(node);
    if (bars) bars.push({ ...bar });
    else found.set(node, [{ ...bar }]);
  };
  for (const job of jobs) {
    let where: string[] = [];
    for (const bar of pastBars(job, now)) {
      if (bar.span && bar.span.nodes.length > 0) where = bar.span.nodes;
      if (bar.kind !== 'waits') where.forEach((node) => add(node, bar));
    }
    const next = expectedBar(job, now);
    if (next?.isStart) waiting.push(next);
    else if (next) where.forEach((node) => add(node, next));
  }
  const rows = [...found].sort(([one], [other]) => natural.compare(one, other)).map(([name, bars]) => {
    const slots = Math.max(1, (nodes.get(name) ?? 8) * kHalves);
    const gpusHere = (bar: Bar) => bar.span?.node_gpus[bar.span.nodes.indexOf(name)] ?? 0;
    return rowOf(name, placed(bars, slots, (bar) => Math.round(gpusHere(bar) * kHalves)));
  });
  if (waiting.length === 0) return rows;
  const { bars, tracks } = inTracks(waiting);
  return [...rows, rowOf(kWaiting, bars, 0, tracks)];
}

function allBars(job: JobSpans, now: number): Bar[] {
  const next = expectedBar(job, now);
  return next ? [...pastBars(job, now), next] : pastBars(job, now);
}

function byProject(jobs: JobSpans[], now: number): Row[] {
  const found = new Map<string, Bar[]>();
  for (const job of jobs) {
    const bars = allBars(job, now).filter((bar) => bar.kind !== 'waits');
    const known = found.get(job.project);
    if (known) known.push(...bars);
    else found.set(job.project, bars);
  }
  return [...found].sort(([one], [other]) => natural.compare(one, other)).map(([name, all]) => {
    const { bars, tracks } = inTracks(all);
    return rowOf(name, bars, 0, tracks);
  });
}

// Whether there is anything to be seen of it in that time.
export function isWithin(job: JobSpans, range: { from: number; to: number }, now: number): boolean {
  return allBars(job, now).some(({ from, to, isOpen }) => from < range.to && (isOpen ? Math.max(now, to) : to) > range.from);
}

// `nodes`: how many GPUs each has. Newest jobs first. `now` in ms.
export function rowsOf(kind: TimelineRows, jobs: JobSpans[], now: number, nodes: ReadonlyMap<string, number>): Row[] {
  if (kind === 'nodes') return byNode(jobs, now, nodes);
  if (kind === 'projects') return byProject(jobs, now);
  return [...jobs].sort((one, other) => other.id - one.id).map((job) => rowOf(job.name, allBars(job, now), job.id));
}

// Whether the job is what all words of the text mean: its number, name, user, project or a node that it was on.
export function isMeant(job: JobSpans, text: string): boolean {
  return text.toLowerCase().split(/\s+/).filter((word) => word !== '').every((word) => {
    const [, field, value = ''] = /^(project|user|node):(.*)$/.exec(word) ?? [];
    const onNode = (part: string) => job.spans.some((span) => span.nodes.some((node) => node.toLowerCase().includes(part)));
    if (field === 'project') return job.project.toLowerCase() === value;
    if (field === 'user') return job.user.toLowerCase() === value;
    if (field === 'node') return onNode(value);
    return String(job.id) === word || onNode(word) ||
      [job.name, job.user, job.project].some((name) => name.toLowerCase().includes(word));
  });
}
