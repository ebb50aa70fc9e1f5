// SPDX-License-Identifier: Apache-2.0
//
// What `GET spans` would answer for a month of a busy cluster: jobs of all sizes on nodes of eight GPUs, one after
// the other, some paused for a while; those that run have an expected end, and a few wait for one.

const kProjects = ['vision', 'nlp', 'speech', 'robotics', 'lab', 'infer'];
const kNames = ['resnet', 'bert', 'sweep', 'llama-ft', 'seg', 'tokenizer', 'grasp', 'asr-base', 'gan', 'distill'];
const kHour = 3_600_000;

// A number below `most`, from a small generator of its own (mulberry32).
function dice(seed) {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * most | 0;
  };
}

const iso = (time) => (time === null ? null : new Date(time).toISOString());

function span(state, from, to, nodes = [], gpus = []) {
  return {
    state, on_hold: false, parked: false, from: iso(from), to: iso(to), attempt: 1,
    gpus: gpus.reduce((sum, many) => sum + many, 0), nodes, node_gpus: gpus,
    rule: state === 'paused' ? 'reclaim' : null, beneficiary: null, saved: true, lost_gpu_ms: 0,
  };
}

// `hours` of jobs until `now`: groups of nodes that run one gang after the other, in all fewer than `jobs`.
export function madeUpSpans({ nodes, hours, now, jobs = Infinity, seed = 1 }) {
  const roll = dice(seed);
  const items = [];
  const begin = now - hours * kHour;
  const mean = (hours * kHour * nodes) / Math.min(jobs, nodes * hours * 0.25);
  const name = (node) => `n${String(node + 1).padStart(2, '0')}`;
  for (let first = 0; first < nodes;) {
    const wide = Math.min(nodes - first, [1, 1, 1, 1, 2, 3, 4][roll(7)]);
    const where = Array.from({ length: wide }, (_, index) => name(first + index));
    const gpus = wide === 1 && roll(4) === 0 ? 4 : 8;
    for (let at = begin - roll(mean); at < now;) {
      const end = at + mean * wide * (0.3 + roll(140) / 100);
      const runs = (from, to) => span('running', from, to < now ? to : null, where, where.map(() => gpus));
      const spans = [span('queued', at - roll(mean / 4), at), span('starting', at, at + 20_000, where, where.map(() => gpus))];
      if (roll(6) === 0 && at + 0.6 * (end - at) < now) {
        const [stop, back] = [at + 0.4 * (end - at), at + 0.6 * (end - at)];
        spans.push(runs(at + 20_000, stop), span('paused', stop, back), runs(back, end));
      } else {
        spans.push(runs(at + 20_000, end));
      }
      const isOver = end < now;
      if (isOver) spans.push(span('succeeded', end, null));
      const left = end - now;
      const all = { optimistic: iso(now), expected: iso(now), pessimistic: iso(now) };
      items.push({
        id: items.length + 1, name: `${kNames[roll(kNames.length)]}-${1 + roll(9)}`, project: kProjects[roll(kProjects.length)],
        user: 'maria', state: isOver ? 'succeeded' : 'running', gpus: gpus * wide, spans, left_out: 0, evidence: 'declared',
        expected: isOver ? [] : [{ state: 'running', from: all,
          to: { optimistic: iso(now + left / 2), expected: iso(end), pessimistic: iso(now + 1.3 * left) } }],
      });
      at = end + roll(mean / 6);
    }
    first += wide;
  }
  for (let waits = 1; waits <= 3; ++waits) {
    const start = [1, 1.6, 2.5].map((times) => iso(now + times * waits * 0.6 * kHour));
    const end = [1.5, 2.6, 4.5].map((times) => iso(now + times * waits * 0.9 * kHour));
    const band = ([optimistic, expected, pessimistic]) => ({ optimistic, expected, pessimistic });
    const here = iso(now);
    items.push({
      id: items.length + 1, name: `diff-${waits}`, project: kProjects[waits], user: 'joe', state: 'queued', gpus: 8,
      spans: [span('queued', now - waits * 0.4 * kHour, null)], left_out: 0, evidence: 'declared',
      expected: [{ state: 'queued', from: band([here, here, here]), to: band(start) },
        { state: 'running', from: band(start), to: band(end) }],
    });
  }
  return {
    apiVersion: 'berth/v1', kind: 'ClusterTimeline', from: iso(begin), to: iso(now + 4 * kHour), now: iso(now), known_from: null,
    sentence: `In the last 8 h 40 min: 143 starts, 9 pauses, 24 GPU-min lost. Next to end: gan-4 in about 20 min (10 min to 40 min).`,
    counts: { jobs: items.length, starts: 143, pauses: 9, parkings: 0, ends: 120, failures: 0, lost_gpu_ms: 1_440_000 },
    items, next: '',
  };
}

export function madeUpNodes(nodes) {
  const all = (value) => Array.from({ length: nodes }, (_, node) => value(node));
  return {
    pools: ['default'], racks: ['r1'], models: ['H100'],
    nodes: {
      names: all((node) => `n${String(node + 1).padStart(2, '0')}`), gpus: all(() => 8), pool: all(() => 0),
      rack: all(() => 0), model: all(() => 0), memory: all(() => 80 * 2 ** 30),
    },
  };
}
