// SPDX-License-Identifier: Apache-2.0
//
// What does the server answer about GPU time? In seconds of whole GPUs.

export type GpuUse =
  | 'busy' | 'allocated_idle' | 'not_measured' | 'starting' | 'leaving' | 'lost_to_pause'
  | 'lost_to_failure' | 'reserved' | 'blocked_by_room' | 'blocked_by_rules' | 'free' | 'others' | 'unhealthy';
export type GpuSeconds = Record<GpuUse, number>;

export type By = 'project' | 'user' | 'job' | 'gpu' | 'pool' | 'day';

export interface LedgerRow {
  name: string; // empty: of GPUs that no job has, or whose node names no model
  gpu_seconds: GpuSeconds;
  sum: number;
  cost?: number; // where prices are set
}

// What an act would get back, at most.
export interface Saving {
  use: GpuUse;
  gpu_seconds: number; // in these days
  gpu_seconds_a_week: number;
  act: string;
  command: string;
  job: number | null; // null = of the pool
  name: string;
  others: number; // jobs of the same project and user
  project: string;
  user: string;
  pool: string;
}

export interface Ledger {
  from: string; // days, UTC, both included
  to: string;
  by: By;
  sentences: { about: 'use' | 'waste'; text: string }[];
  wasted: number;
  savings: Saving[];
  other_savings_a_week: number;
  rows: LedgerRow[];
  total: LedgerRow;
  capacity?: number; // not by job: what jobs had in their whole lives is of no days
  unpriced: string[];
}
