// SPDX-License-Identifier: Apache-2.0
//
// What does a receipt say to a project: did it give or take, how much, and with which loss?
import type { Taking } from '../api/project_types';
import { gpuTime, sideWords } from './job';
import { count } from './numbers';

export interface TakingWords {
  says: string; // "vision asked 8 GPUs for vision/large; nlp gave those of": the job behind it
  from: string; // the job that was paused; it may have had fewer, or more, than were asked
  loss: string;
}

// What both had then.
export function sidesWords({ own, other }: NonNullable<Taking['sides']>): string {
  const said = `${own.project} ${sideWords(own)}`;
  return own.project === other.project ? said : `${other.project} ${sideWords(other)}; ${said}`;
}

export function takingWords(
  taking: Taking, project: string, now: number, nameOf: (job: number) => string,
): TakingWords {
  const { sides } = taking;
  const isLeaving = Date.parse(taking.deadline) > now;
  const loss = taking.stopped === null ? (isLeaving ? 'is leaving' : 'it ended first')
    : taking.lost_gpu_ms > 0 ? `${gpuTime(taking.lost_gpu_ms)} lost` : 'nothing lost';
  const from = nameOf(taking.job);
  if (sides === null) return { says: 'Paused:', from, loss };
  const asked = `${count(sides.asked, 'GPU')} for ${nameOf(taking.beneficiary ?? 0)}`;
  if (sides.own.project === sides.other.project) return { says: `${project} asked ${asked} and gave those of`, from, loss };
  return { says: `${sides.other.project} asked ${asked}; ${sides.own.project} gave those of`, from, loss };
}
