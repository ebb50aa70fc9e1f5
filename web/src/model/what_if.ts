// SPDX-License-Identifier: Apache-2.0
//
// Which change is supposed, how does an address say it, what is asked of the server for it, and how is
// what it would do shown?
import type { NodeView } from '../api/nodes.svelte';
import type { Supposition } from '../api/project_types';
import type { ReplayFigures, ReplaySides } from '../api/what_if_types';
import { gpuTimeSaid, partWords } from './ledger';
import { duration } from './numbers';
import { command } from './shell';

export type ChangeKind = 'quota' | 'limit' | 'weight' | 'nodes' | 'policy';
export const kChangeKinds: readonly ChangeKind[] = ['quota', 'limit', 'weight', 'nodes', 'policy'];

// "quota vision=6": `name` is of a project, of a node that those more are like, or of a setting.
export interface Change {
  kind: ChangeKind;
  name: string;
  value: string;
}

export function changeOf(text: string): Change | undefined {
  const [, kind, name, value] = /^([a-z]+) ([^=]*)=(.*)$/s.exec(text) ?? [];
  const known = kChangeKinds.find((one) => one === kind);
  return known && name !== undefined ? { kind: known, name, value: value ?? '' } : undefined;
}

export function changeText({ kind, name, value }: Change): string {
  return `${kind} ${name}=${value}`;
}

// A number with up to three decimals; of nodes a whole one, fewer below 0; of a setting anything.
export function isWrong({ kind, value }: Change): boolean {
  const text = value.trim();
  if (kind === 'policy') return text === '';
  if (kind === 'nodes') return !/^-?[1-9]\d{0,2}$/.test(text);
  if (kind !== 'weight' && text === 'none') return false;
  return !/^\d{1,9}(\.\d{1,3})?$/.test(text);
}

// `nodes`: of which those that are fewer are taken, the last by name of those that are alike.
export function suppositionsOf(changes: readonly Change[], nodes: readonly NodeView[]): Supposition[] {
  return changes.filter((change) => change.kind !== 'policy' && !isWrong(change)).flatMap<Supposition>(({ kind, name, value }) => {
    const text = value.trim();
    if (kind === 'nodes') {
      const count = Number(text);
      if (count > 0) return [{ what: 'node', name, count }];
      return alike(nodes, name).slice(count).map((one) => ({ what: 'drain', name: one }));
    }
    if (kind === 'weight') return [{ what: kind, name, weight_thousandths: Math.round(Number(text) * 1000) }];
    return kind === 'policy' ? [] : [{ what: kind, name, gpus: text === 'none' ? -1 : Number(text) }];
  });
}

function alike(nodes: readonly NodeView[], name: string): string[] {
  const like = nodes.find((one) => one.name === name);
  if (like === undefined) return [];
  const isAlike = (one: NodeView) => one.gpus === like.gpus && one.gpu_model === like.gpu_model && one.pool === like.pool;
  return nodes.filter(isAlike).map((one) => one.name).sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}

export function policyOf(changes: readonly Change[]): Record<string, string> {
  return Object.fromEntries(changes.filter((one) => one.kind === 'policy' && !isWrong(one)).map(({ name, value }) => [name, value.trim()]));
}

// The same in a terminal, where one command says all of it.
export function whatIfCommands(texts: readonly string[], days: number): string[] {
  const changes = texts.map(changeOf).filter((one) => one !== undefined).filter((one) => !isWrong(one));
  const over = ['--days', String(days)];
  const said = changes.flatMap(({ kind, name, value }) => (kind === 'policy' ? [`${name}=${value}`] : [kind, `${name}=${value}`]));
  if (changes.length === 0 || changes.some((one) => one.kind === 'nodes')) return ['berth help whatif'];
  if (changes.every((one) => one.kind === 'policy')) return [command('berth', 'whatif', 'policy', ...said, ...over)];
  if (changes.some((one) => one.kind === 'policy')) return ['berth help whatif'];
  return [command('berth', 'whatif', ...said), command('berth', 'whatif', ...said, ...over)];
}

// One measure of both sides: bars in percent of the longer one.
export interface Pair {
  title: string;
  means: string;
  really: string;
  asSet: { text: string; part: number };
  changed: { text: string; part: number };
  difference: string; // "−8 min", "+2"; empty = none
  isBetter: boolean | undefined; // nothing: neither; more use is no better with more nodes
}

export function pairsOf({ really, as_set, changed }: ReplaySides): Pair[] {
  const pair = (
    title: string, means: string, of: (side: ReplayFigures) => number, say: (value: number) => string, isJudged = true,
  ): Pair => {
    const [one, other] = [of(as_set), of(changed)];
    const most = Math.max(one, other, Number.MIN_VALUE);
    // Of no job there is nothing to say, and jobs that never end are no gain of the others.
    const said = (side: ReplayFigures) => (side.jobs === 0 && isJudged ? '-' : say(of(side)));
    const isOfFewer = isJudged && as_set.jobs !== changed.jobs;
    const isSame = isOfFewer || said(as_set) === said(changed);
    return {
      title, means, really: said(really),
      asSet: { text: said(as_set), part: (100 * one) / most },
      changed: { text: said(changed), part: (100 * other) / most },
      difference: isOfFewer ? 'of fewer jobs' : isSame ? '' : differenceOf(other - one, say),
      isBetter: isSame || !isJudged ? undefined : other < one,
    };
  };
  // Rounded, as the server's sentence.
  const time = (seconds: number) => (seconds < 0.5 ? '0 s' : duration(Math.round(seconds) * 1000));
  const gpuTime = (ms: number) => (ms === 0 ? 'none' : gpuTimeSaid(ms / 1000));
  return [
    pair('Mean wait', 'in line, all waits of a job together', (side) => side.mean_wait, time),
    pair('Wait, 95 of 100', 'waited by 95 of 100 jobs at most', (side) => side.p95_wait, time),
    pair('Time to the end', 'from submission, on average', (side) => side.mean_completion, time),
    pair('Pauses', 'of jobs that ran', (side) => side.pauses, String),
    pair('Lost GPU time', 'saving, starting again', (side) => side.lost_gpu_ms, gpuTime),
    pair('Use of GPUs', 'that jobs had, of all', (side) => (100 * side.used_gpu_ms) / Math.max(side.capacity_gpu_ms, 1),
      (percent) => partWords(percent, 100), false),
  ];
}

function differenceOf(difference: number, say: (value: number) => string): string {
  return `${difference < 0 ? '\u2212' : '+'}${say(Math.abs(difference))}`;
}
