// SPDX-License-Identifier: Apache-2.0
//
// What does the page of a job say beside the server's sentence: whose it is, what it took, and how it
// would be paused?
import type { PauseSide, Receipt, Span, Timeline, WholeJob } from '../api/types';
import { clock, count, duration, gpus } from './numbers';
import type { Doing, Headline } from './words';

export type Fact = { name: string; value: string; more?: string };

const kMinute = 60_000;
const kHour = 60 * kMinute;

// The name in front, the rest of the sentence behind it.
export function jobHeadline(sentence: string, name: string): Headline {
  const answer = sentence.startsWith(name) ? name : '';
  return { answer, rest: sentence.slice(answer.length).trimStart(), note: '' };
}

// What it has, or else asks for.
export function gpusOf({ spec, tasks }: WholeJob): number {
  if (tasks.length > 0) return tasks.reduce((sum, task) => sum + task.gpus.length * task.share, 0);
  return spec.tasks_max * spec.request.gpus * spec.request.share;
}

export function doingOf({ state, held, parked_since }: WholeJob): Doing {
  return { state, held, parked: parked_since !== null };
}

// "8 GPUs on n09, project nlp, by maria."
export function asked(job: WholeJob): string {
  const nodes = [...new Set(job.tasks.map((task) => task.node))];
  const [first] = nodes;
  const place = nodes.length === 1 ? ` on ${first}` : nodes.length > 1 ? ` on ${nodes.length} nodes` : '';
  const tasks = job.spec.tasks_max > 1 ? ` in ${count(job.spec.tasks_max, 'task')}` : '';
  return `${count(gpusOf(job), 'GPU')}${tasks}${place}, project ${job.spec.project}, by ${job.user}.`;
}

// "12 GPU-s", "35.7 GPU-h".
export function gpuTime(ms: number): string {
  if (ms < 10 * kMinute) return `${gpus(Math.floor(ms / 1000))} GPU-s`;
  if (ms < kHour) return `${Math.floor(ms / kMinute)} GPU-min`;
  return `${gpus(Math.floor(ms / (kHour / 10)) / 10)} GPU-h`;
}

// The GPU time that it has had by now.
export function usedMs(job: WholeJob, now: number): number {
  const has = job.tasks.length > 0 ? gpusOf(job) : 0;
  return job.attained_gpu_ms + has * Math.max(0, now - Date.parse(job.settled));
}

export function times(many: number): string {
  return many === 1 ? 'once' : many === 2 ? 'twice' : `${many} times`;
}

// One line of what it took so far. `passed`: ms since the timeline was asked for.
export function facts(job: WholeJob, timeline: Timeline, now: number): Fact[] {
  const passed = job.finished === null ? Math.max(0, now - Date.parse(timeline.now)) : 0;
  const last = timeline.spans.at(-1)?.state;
  const so = (seconds: number, grows: boolean) => 1000 * seconds + (grows ? passed : 0);
  const waited = so(timeline.waited, last === 'queued');
  const paused = so(timeline.paused, last === 'paused');
  const ran = so(timeline.ran, last !== 'queued' && last !== 'paused');
  const found: Fact[] = [{ name: 'Waited', value: waited < 1000 ? 'not at all' : duration(waited) }];
  if (job.attempts > 0) found.push({ name: 'Ran', value: duration(ran) });
  if (job.pauses > 0) {
    found.push({ name: 'Paused', value: duration(paused), more: `, ${times(job.pauses)}` });
  }
  if (job.attempts > 0) {
    found.push({ name: 'Used', value: gpuTime(usedMs(job, now)) });
    found.push({ name: 'Lost', value: job.lost_gpu_ms > 0 ? gpuTime(job.lost_gpu_ms) : 'nothing' });
  }
  if (job.last_checkpoint !== null && job.tasks.length > 0) {
    found.push({ name: 'Saved', value: `${duration(now - Date.parse(job.last_checkpoint))} ago` });
  }
  if (job.finished !== null && job.state !== 'cancelled') {
    found.push({ name: 'Exit code', value: String(job.exit_code) });
  }
  return found;
}

// Behind the title of its bar: "2 attempts, paused once".
export function spansNote(job: WholeJob, timeline: Timeline): string {
  const said = job.attempts > 0 ? [count(job.attempts, 'attempt')] : [];
  if (job.pauses > 0) said.push(`paused ${times(job.pauses)}`);
  if (timeline.left_out > 0) said.push(`${count(timeline.left_out, 'earlier span')} left out`);
  return said.join(', ');
}

// Work of its GPUs that is lost when it stops now without saving, in ms of one GPU.
export function atRiskMs(job: WholeJob, now: number): number {
  const since = job.last_checkpoint ?? job.last_start;
  if (since === null || job.tasks.length === 0) return 0;
  return gpusOf(job) * Math.max(0, now - Date.parse(since));
}

// How a pause would go, in one sentence; empty where it has nothing that runs.
export function pauseWay(job: WholeJob, now: number): { isSafe: boolean; text: string } | undefined {
  if (job.tasks.length === 0 || job.state === 'cancelling') return undefined;
  const risk = atRiskMs(job, now);
  const lost = `up to ${gpuTime(risk)} of work would be lost`;
  switch (job.pause_way.rung) {
    case 'checkpoint':
      return { isSafe: true, text: 'By checkpoint: its processes stay, and nothing is lost. By a signal while none of them uses a GPU.' };
    case 'signal':
      return job.saves_when_asked
        ? { isSafe: true, text: 'It is asked by a signal to save and stop, and did so the last time.' }
        : { isSafe: false, text: `It is asked by a signal to save and stop. If it does not, ${lost}.` };
    case 'kill':
      return { isSafe: false, text: `It does not save when it is asked: ${lost}.` };
    case 'unknown':
      return undefined;
  }
}

const kRules: Record<string, string> = {
  reclaim: 'reclaim: a project below its quota takes back GPUs that it had lent',
  preempt: 'preempt: a job of its project goes first, by priority or expected cost',
  consolidate: 'consolidate: it moves, so that a larger job fits',
  stale: 'stale: it ran too long below its minimum of tasks',
  part: 'part: together with another job it got less done than one after the other',
  park: 'park: it made no call to its GPUs for as long as it had said',
};

export function ruleWords(receipt: Receipt): string {
  return kRules[receipt.rule] ?? (receipt.rule === 'user' ? 'a user asked for it' : receipt.rule);
}

// "vision used 112 of its quota of 160 GPUs": what one side had.
export function sideWords(side: PauseSide): string {
  if (side.quota < 0) return `used ${count(side.used, 'GPU')}`;
  const above = side.used - side.quota;
  if (above > 0) return `was ${gpus(above)} over its quota of ${count(side.quota, 'GPU')}`;
  return `used ${gpus(side.used)} of its quota of ${count(side.quota, 'GPU')}`;
}

// How it left its GPUs.
export function leftWords(receipt: Receipt, now: number): string {
  if (receipt.stopped === null) {
    return Date.parse(receipt.deadline) > now ? 'saving now' : 'it ended before it had paused';
  }
  const after = duration(Date.parse(receipt.stopped) - Date.parse(receipt.time));
  if (receipt.rule === 'park') return 'off its GPUs, its processes are kept';
  if (receipt.frozen !== null) return `after ${after}, by checkpoint`;
  if (receipt.saved) return `saved and stopped after ${after}`;
  const isKilled = receipt.stopped >= receipt.deadline;
  return isKilled ? `did not stop in ${after} and was killed` : `ended after ${after} without saving`;
}

const kWords: Record<Span['state'], string> = {
  queued: 'waited', starting: 'starting', running: 'running', pausing: 'saving', paused: 'paused',
  cancelling: 'stopping', succeeded: 'succeeded', failed: 'failed', cancelled: 'cancelled',
};

export function spanWord(span: Pick<Span, 'state' | 'parked' | 'on_hold'>): string {
  if (span.parked && span.state === 'paused') return 'parked';
  if (span.on_hold && (span.state === 'queued' || span.state === 'paused')) return 'on hold';
  return kWords[span.state];
}

// For which job it is paused, by which rule, and what the machine said of it.
export function spanCause(span: Span, nameOf: (job: number) => string): string {
  const isPause = span.state === 'paused' || span.state === 'pausing';
  const whom = span.beneficiary !== null ? `for ${nameOf(span.beneficiary)}` : span.parked ? '' : `by ${span.actor}`;
  const cause = isPause ? `${whom} (${span.rule ?? 'user'})` : '';
  const lost = span.lost_gpu_ms > 0 ? `${gpuTime(span.lost_gpu_ms)} lost` : '';
  return [[cause, lost].filter((part) => part !== '').join(', '), span.reason].filter((part) => part !== '').join(': ');
}

export interface Attempt {
  attempt: number;
  from: number;
  to: number | null; // while it goes on
  gpus: number; // the most
  nodes: string[];
  end: string;
}

// Each start of the whole gang, the newest first.
export function attemptsOf(spans: readonly Span[]): Attempt[] {
  const found = new Map<number, Attempt>();
  spans.forEach((span) => {
    if (span.attempt === 0) return;
    const known = found.get(span.attempt);
    const hasPlace = span.gpus > 0 || span.nodes.length > 0;
    if (!hasPlace) {
      if (known && known.end === '') known.end = endWords(span);
      return;
    }
    const to = span.to === null ? null : Date.parse(span.to);
    if (known === undefined) {
      const { attempt, gpus: many, nodes } = span;
      found.set(attempt, { attempt, from: Date.parse(span.from), to, gpus: many, nodes, end: '' });
    } else {
      Object.assign(known, { to, gpus: Math.max(known.gpus, span.gpus), nodes: span.nodes, end: '' });
    }
  });
  return [...found.values()].reverse();
}

function endWords(span: Span): string {
  if (span.state === 'queued') return `lost: ${span.reason}`;
  const word = spanWord(span);
  if (span.state !== 'paused') return span.reason === '' ? word : `${word}: ${span.reason}`;
  return span.saved ? `${word}, saved` : `${word}, ${gpuTime(span.lost_gpu_ms)} lost`;
}

// When it is expected to end, for the line below the headline; empty = not known.
export function endWordsOf(timeline: Timeline, now: number): string {
  const to = timeline.expected.at(-1)?.to;
  if (!to?.expected) return '';
  const at = (time: string) => clock(Date.parse(time), now);
  const band = to.optimistic && to.pessimistic ? ` (${at(to.optimistic)} to ${at(to.pessimistic)})` : '';
  return `Expected to end about ${at(to.expected)}${band}.`;
}
