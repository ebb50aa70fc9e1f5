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

// Times are ISO 8601, in UTC.
export interface Job {
  id: number;
  spec: {
    name: string;
    project: string;
    tasks_max: number;
    request: { gpus: number; share: number };
  };
  user: string;
  state: JobState;
  held: boolean; // until a user resumes it
  created: string;
  waiting_since: string | null;
  last_start: string | null;
  finished: string | null;
  tasks: { node: string; gpus: number[]; share: number }[];
  parked_since: string | null;
  detail: string;
  verdict: Verdict | null;
  why: string; // one sentence without a full stop; may be empty
  foresight: { start_estimate: StartEstimate | null } | null; // null: was not asked for
}

export interface JobList {
  items: Job[];
  job_names: Record<string, string>;
  more: number; // jobs that are left out
}

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
  gpus: { total: number };
  jobs: JobCounts; // of all users, that have not ended
  projects: ProjectUse[];
  sequence: number; // of the last event
}

// problem+json, or what stands for it where the server did not answer.
export interface Problem {
  title: string;
  detail: string;
  hint: string;
}
