// SPDX-License-Identifier: Apache-2.0
//
// What does the server say of all jobs in some time? `GET spans`, page after page.
import type { Band, JobState, Span } from './types';

export type PastSpan = Omit<Span, 'tasks' | 'actor' | 'reason'>;

export interface JobSpans {
  id: number;
  name: string;
  project: string;
  user: string;
  state: JobState; // now
  gpus: number; // the most that it had at once
  spans: PastSpan[]; // whole: also what lies before and behind the time that was asked for
  left_out: number;
  expected: { state: JobState; from: Band; to: Band }[];
  evidence: 'certain' | 'declared' | 'learned' | 'so_far' | 'none';
}

export interface ClusterTimeline {
  sentence: string;
  from: string;
  to: string;
  now: string;
  known_from: string | null; // earlier some jobs are not known; null: all are
  counts: {
    jobs: number; starts: number; pauses: number; parkings: number; ends: number; failures: number; lost_gpu_ms: number;
  };
  items: JobSpans[];
  next: string;
}
