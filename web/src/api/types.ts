// SPDX-License-Identifier: Apache-2.0
//
// What does the server answer? The members that the pages read of it, and no others.

export type JobState =
  | 'queued' | 'starting' | 'running' | 'pausing' | 'paused'
  | 'cancelling' | 'succeeded' | 'failed' | 'cancelled';

export interface Verdict {
  reason: string; // of a closed list: "QuotaFair"
  position: number; // in the order in which jobs are served; 0 = in none
  blockers: number[]; // jobs
}

// When a job starts, as far as it is known.
export interface StartEstimate {
  optimistic: string | null;
  expected: string | null;
  pessimistic: string | null;
  after: number | null; // a job that starts before it
}

// A job as a line of a list. Times are ISO 8601, in UTC.
export interface Row {
  id: number;
  name: string;
  project: string;
  user: string;
  gpus: number; // that it has; of one without, that it asks for
  state: JobState;
  held: boolean; // until a user resumes it
  parked: boolean;
  since: string; // it is in this state, or waits
  position: number; // in the order in which jobs are served; 0 = in none
  reason: string | null; // why it waits, of a closed list: "QuotaFair"
  why: string; // the same without a full stop, or how it ended; may be empty
  blockers: number[]; // jobs
  nodes: string[]; // the first of those it runs on
}

// Why jobs wait, said once for all that wait alike.
export type Explanation = Pick<Row, 'reason' | 'why' | 'blockers'>;

// A job in a stream: why it waits is a number, and its position follows from its place in a queue.
export interface StreamRow extends Omit<Row, 'position' | 'reason' | 'blockers'> {
  explanation?: number; // 0 = none
  places?: [queue: number, place: number][]; // the order in a queue is that of places; 0 = none yet
}

// What a stream says of all jobs: with `whole` there are no others.
export interface RowNews {
  whole: boolean;
  rows: StreamRow[];
  gone: number[];
  more: number; // jobs that have no line
  explanations: Record<string, Explanation>;
}

export interface RowList {
  items: Row[];
  more: number;
}

export interface Foreseen {
  items: { id: number; foresight?: { start_estimate: StartEstimate | null } }[];
}

// Its GPUs do nothing; `acts_at`: unless they are used before, null = nothing follows.
export interface IdleWarning {
  since: string;
  act: 'warn' | 'park' | 'end';
  acts_at: string | null;
  why_not: string; // it is not parked, though the rule says so
}

// One job, as it is asked for by its number.
export interface WholeJob {
  id: number;
  spec: {
    name: string;
    project: string;
    tasks_max: number;
    request: { gpus: number; share: number };
  } & Record<string, unknown>;
  user: string;
  state: JobState;
  held: boolean;
  created: string;
  waiting_since: string | null;
  last_start: string | null;
  finished: string | null;
  tasks: { node: string; gpus: number[]; share: number }[];
  parked_since: string | null;
  idle: IdleWarning | null;
  detail: string;
  verdict: Verdict | null;
  why: string;
  foresight: { start_estimate: StartEstimate | null; starts_if: string } | null; // null: not asked for
  command: string;
  last_checkpoint: string | null;
  attempts: number;
  pauses: number;
  attained_gpu_ms: number; // up to `settled`
  settled: string;
  lost_gpu_ms: number;
  exit_code: number;
  pause_way: { rung: 'unknown' | 'checkpoint' | 'signal' | 'kill'; why_not: string };
  saves_when_asked: boolean;
  job_names?: Record<string, string>;
}

// What it was, from one moment to the next; `to` is null while it is so.
export interface Span {
  state: JobState;
  on_hold: boolean;
  parked: boolean;
  from: string;
  to: string | null;
  attempt: number;
  tasks: number;
  gpus: number;
  nodes: string[]; // the first of them
  node_gpus: number[]; // on each of these
  rule: string | null;
  beneficiary: number | null;
  actor: string;
  saved: boolean;
  lost_gpu_ms: number;
  reason: string;
}

// By three forecasts; null = not known.
export interface Band {
  optimistic: string | null;
  expected: string | null;
  pessimistic: string | null;
}

export interface Timeline {
  sentence: string;
  now: string;
  spans: Span[];
  left_out: number;
  waited: number; // seconds, as below
  ran: number;
  paused: number;
  expected: { state: JobState; from: Band; to: Band }[];
  evidence: 'certain' | 'declared' | 'learned' | 'so_far' | 'none';
  job_names?: Record<string, string>;
}

// What a project had, when a job was paused for another one.
export interface PauseSide {
  project: string;
  used: number;
  quota: number; // -1 = without a bound
}

export interface Receipt {
  time: string;
  rule: string;
  beneficiary: number | null;
  actor: string;
  deadline: string;
  stopped: string | null;
  saved: boolean;
  frozen: { time: number } | null;
  detail: string;
  attempt: number;
  whole_job: boolean;
  tasks: number;
  cost: { unsaved_gpu_ms: number };
  lost_gpu_ms: number;
  sides: { pool: string; own: PauseSide; other: PauseSide; asked: number } | null;
}

export interface Receipts {
  items: Receipt[]; // the newest first
  left_out: number;
  job_names?: Record<string, string>;
}

export interface JobEvent {
  sequence: number;
  time: string;
  actor: string;
  type: string;
  [member: string]: unknown;
}

export interface EventList {
  items: JobEvent[];
  next: string; // after which event there are more; empty = these are all
  job_names?: Record<string, string>;
}

export type Right = 'see' | 'read' | 'submit' | 'steer' | 'cluster' | 'server';
export type Verb = 'pause' | 'resume' | 'keep' | 'cancel';

// GPUs in all pools together.
export interface ProjectUse {
  name: string;
  quota: number;
  used: number;
  wanted: number; // on top, by jobs that wait
  above_quota: number;
  unused_quota: number;
}

export interface JobCounts {
  running: number; // or starting
  waiting: number;
  paused: number; // go on by themselves
  on_hold: number; // until a user resumes them
  leaving: number;
}

export interface Overview {
  sentences: { about: 'own_jobs' | 'waiting' | 'not_ready' | 'quotas'; text: string }[];
  gpus: { total: number; not_ready: number };
  jobs: JobCounts; // of all users, that have not ended
  projects: ProjectUse[];
}

// problem+json, or what stands for it where the server did not answer.
export interface Problem {
  title: string;
  detail: string;
  hint: string;
}
