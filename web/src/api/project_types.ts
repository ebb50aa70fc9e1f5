// SPDX-License-Identifier: Apache-2.0
//
// What does the server answer about projects? GPUs are decimals; -1 = without a bound.
import type { Receipt } from './types';

// Of a project in one pool; `quota` is null where it states none.
export interface Rights {
  quota: number | null;
  limit: number;
  weight: number;
  kind: 'guaranteed' | 'fixed';
}

export interface PoolUse {
  pool: string;
  quota: number; // of one that states none: what those below it sum to
  limit: number;
  fair_share: number;
  used: number;
  waiting: number;
}

// As it is written down, with the tag that says which version of it this is.
export interface Project {
  name: string;
  parent: string; // empty = below the root
  rights: Rights; // in the default pool
  pools: Record<string, Rights>;
}

export interface ProjectView extends Project {
  use: PoolUse[];
}

export interface Part {
  project: string;
  gpus: number;
}

// Both sides sum to the same: lenders, in no quota, not ready = borrowers, free, not there.
export interface Lending {
  pool: string;
  sentences: { about: 'borrowers' | 'lenders' | 'quotas' | 'owed'; text: string }[];
  capacity: number;
  quotas: number;
  lenders: Part[];
  borrowers: Part[];
  owed: Part[];
  in_no_quota: number;
  not_ready: number;
  kept: number;
  free: number;
  not_there: number;
}

export interface ProjectList {
  items: ProjectView[];
  lending: Lending[];
}

export interface ShareRow {
  project: string;
  quota: number;
  limit: number;
  wants: number;
  weight_thousandths: number;
  priority: number;
  from_quota: number;
  from_surplus: number;
  odd: number;
  fair_share: number;
}

export interface ShareOffer {
  priority: number;
  round: number;
  project: string;
  left: number;
  part_ppm: number;
  offered: number;
  taken: number;
}

export interface ShareLevel {
  parent: string; // empty = the pool
  total: number;
  surplus: number;
  rows: ShareRow[];
  offers: ShareOffer[];
}

export interface ShareAccount {
  project: string;
  pool: string;
  fair_share: number;
  levels: ShareLevel[];
}

export interface Supposition {
  what: 'quota' | 'limit' | 'weight' | 'node' | 'drain';
  name: string; // of nodes that come: that they are like
  pool?: string;
  count?: number;
  gpus?: number;
  weight_thousandths?: number;
}

export type Fate =
  | 'absent' | 'runs' | 'starts' | 'grows' | 'promised' | 'pauses' | 'shrinks' | 'moves' | 'waits';

export interface JobFate {
  fate: Fate;
  beneficiary: number | null;
  why: string;
}

export interface ShareThen {
  quota: number;
  limit: number;
  weight_thousandths: number;
  fair_share: number;
  used: number;
  waiting: number;
}

export interface WhatIf {
  sentence: string;
  jobs: { job: number; now: JobFate; then: JobFate }[];
  projects: { project: string; pool: string; now: ShareThen; then: ShareThen }[];
  job_names?: Record<string, string>;
}

// A pause of a job for another one.
export interface Taking extends Receipt {
  job: number;
}

export interface TakingList {
  items: Taking[]; // the newest first
  after: number; // the event behind which they were looked for; 0 = in the whole log
  job_names?: Record<string, string>;
}
