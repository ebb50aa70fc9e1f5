// SPDX-License-Identifier: Apache-2.0
//
// Which pieces has the picture of who lends and who borrows? Lenders flow into one pool, the pool
// into borrowers and what is free: never from one project to another, for that is not defined.
import type { Lending, Part } from '../api/project_types';

export interface FlowEnd {
  name: string;
  note: string;
  gpus: number;
  kind: 'project' | 'other';
  side: 'from' | 'to';
  y: number; // of its bar, and how high it is
  height: number;
  path: string; // the ribbon between its bar and the pool
}

export interface Flow {
  ends: FlowEnd[];
  total: number; // GPUs that go through the pool
  pool: { y: number; height: number };
  height: number;
}

export interface FlowSize {
  from: number; // px: where ribbons begin, the middle of the pool, where they end
  pool: number;
  to: number;
}

const kBody = 144; // px, of the pool
const kTop = 22; // above the pool is its label
const kGap = 10;
const kShown = 6; // of a side
const kLeast = 3; // px, so that the smallest is seen
const kLabel = 34; // px that two lines of text take

type Named = Pick<FlowEnd, 'name' | 'note' | 'gpus' | 'kind'>;

function named(name: string, note: string, gpus: number): Named {
  return { name, note, gpus, kind: 'other' };
}

// The largest, and the others in one.
function few(parts: readonly Part[], verb: string): Named[] {
  const shown = parts.length > kShown ? parts.slice(0, kShown - 1) : parts;
  const others = parts.slice(shown.length);
  const rest = others.reduce((sum, part) => sum + part.gpus, 0);
  const ends: Named[] = shown.map(({ project, gpus }) => ({ name: project, note: verb, gpus, kind: 'project' }));
  return [...ends, named(`${others.length} others`, verb, rest)];
}

function endsOf(lending: Lending): { from: Named[]; to: Named[] } {
  const from = [
    ...few(lending.lenders, lending.borrowers.length > 0 ? 'lends' : 'could lend'),
    named('unassigned', 'in no quota:', lending.in_no_quota),
    named('not ready', 'used on lost nodes:', lending.not_ready),
  ];
  const to = [
    ...few(lending.borrowers, 'borrows'),
    named('free', 'to be borrowed:', lending.free),
    named('not there', 'promised twice:', lending.not_there),
  ];
  const some = (ends: Named[]) => ends.filter((end) => end.gpus > 0);
  return { from: some(from), to: some(to) };
}

// Null where nothing goes through the pool.
export function lendingFlow(lending: Lending, size: FlowSize): Flow | null {
  const { from, to } = endsOf(lending);
  const total = from.reduce((sum, end) => sum + end.gpus, 0);
  if (total <= 0) return null;
  const scale = kBody / total;
  const sides = [from, to].map((ends) => ends.map((end) => Math.max(kLeast, end.gpus * scale)));
  // Each bar has room for its label.
  const rooms = sides.map((heights) => heights.map((height) => Math.max(height, kLabel)));
  const highs = rooms.map((of) => of.reduce((sum, room) => sum + room, kGap * (of.length - 1)));
  const body = Math.max(kBody, ...highs);
  const pool = { y: kTop + (body - kBody) / 2, height: kBody };
  const ends = [from, to].flatMap((all, side) => {
    let y = kTop + (body - highs[side]!) / 2;
    let at = pool.y;
    return all.map((end, index): FlowEnd => {
      const [height, room] = [sides[side]![index]!, rooms[side]![index]!];
      const own = y + (room - height) / 2;
      const kind = side === 0 ? 'from' : 'to';
      const path = ribbon(kind, size, own, height, at, end.gpus * scale);
      y += room + kGap;
      at += end.gpus * scale;
      return { ...end, side: kind, y: own, height, path };
    });
  });
  return { ends, total, pool, height: Math.ceil(kTop + body + 4) };
}

function ribbon(
  side: FlowEnd['side'], size: FlowSize, y: number, height: number, poolY: number, share: number,
): string {
  const [x1, x2] = side === 'from' ? [size.from, size.pool] : [size.pool, size.to];
  const [top1, bottom1, top2, bottom2] = side === 'from'
    ? [y, y + height, poolY, poolY + share]
    : [poolY, poolY + share, y, y + height];
  const middle = (x1 + x2) / 2;
  const n = (value: number) => Math.round(value * 10) / 10;
  return `M${n(x1)} ${n(top1)}C${n(middle)} ${n(top1)} ${n(middle)} ${n(top2)} ${n(x2)} ${n(top2)}` +
    `V${n(bottom2)}C${n(middle)} ${n(bottom2)} ${n(middle)} ${n(bottom1)} ${n(x1)} ${n(bottom1)}Z`;
}
