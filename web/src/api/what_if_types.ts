// SPDX-License-Identifier: Apache-2.0
//
// What does the server answer about a replay of the last days? Times are seconds.

// Of jobs that end on both sides, and ended; GPU time is that of all jobs, in the days alone.
export interface ReplayFigures {
  jobs: number;
  mean_wait: number;
  p95_wait: number;
  mean_completion: number;
  pauses: number;
  lost_gpu_ms: number;
  used_gpu_ms: number;
  capacity_gpu_ms: number; // 0 for a project
}

export interface ReplaySides {
  project: string; // empty = all of them
  really: ReplayFigures;
  as_set: ReplayFigures;
  changed: ReplayFigures;
}

export type ReplayState = 'reads' | 'plays_as_set' | 'plays_changed' | 'done' | 'failed' | 'cancelled';

export interface Replay {
  id: number;
  state: ReplayState;
  percent: number;
  problem: string; // why it failed
  from: string;
  to: string;
  sentence: string;
  trust: string;
  all: ReplaySides;
  projects: ReplaySides[]; // who gains most first
  never_ran: number;
  never_end: number;
}

export interface Setting {
  name: string;
  value: string;
  takes: string;
  meaning: string;
}
