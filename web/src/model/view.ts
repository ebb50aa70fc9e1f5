// SPDX-License-Identifier: Apache-2.0
//
// Which page is shown, and what of it? The address says all of it: a link shows the same to others.
import type { By } from '../api/ledger_types';

export type PageName = 'home' | 'map' | 'queue' | 'job' | 'projects' | 'timeline' | 'efficiency' | 'what-if' | 'nodes';
export type Tab = 'overview' | 'logs' | 'attempts' | 'events' | 'spec';
export type StateFilter = 'waiting' | 'hold' | 'running' | 'ended';
export type TimelineRows = 'nodes' | 'jobs' | 'projects';
export type MapColour = 'project' | 'state' | 'activity' | 'memory';
export type Sort = 'position' | 'waiting' | 'gpus' | 'project';

export interface View {
  page: PageName;
  state: StateFilter;
  reason: string; // empty = all, as below
  project: string;
  pool: string;
  text: string;
  sort: Sort;
  job: number; // of the page of a job, as below; 0 = none
  tab: Tab;
  attempt: number; // whose log is shown; 0 = the newest
  rank: number;
  colour: MapColour; // of the map, as below
  chosen: string; // a node, or one of its GPUs: "n61:4"; empty = nothing
  by: By; // of the ledger, as below
  from: string; // "2026-11-21", as below; empty = the server's default
  to: string;
  rows: TimelineRows; // of the timeline, as below
  minutes: number; // that are seen; 0 = as many as what happened needs
  at: number; // ms: the first moment seen; 0 = it goes on with now
  suppose: string[]; // of a what-if: "quota vision=6", as model/what_if.ts reads it
  days: number; // that are replayed
  zoom: string; // "2.5@0.31,0.4": times, and the point in the middle as parts of the map; empty = all of it
}

const kStates: readonly StateFilter[] = ['waiting', 'hold', 'running', 'ended'];
const kPages: readonly PageName[] = ['home', 'map', 'queue', 'job', 'projects', 'timeline', 'efficiency', 'what-if', 'nodes'];
const kTabs: readonly Tab[] = ['overview', 'logs', 'attempts', 'events', 'spec'];
export const kColours: readonly MapColour[] = ['project', 'state', 'activity', 'memory'];
export const kBys: readonly By[] = ['project', 'user', 'job', 'gpu', 'pool', 'day'];
export const kRows: readonly TimelineRows[] = ['nodes', 'jobs', 'projects'];
export const kDaysReplayed = 7;
const kDaysMost = 90;
const kMinutesMost = 400 * 24 * 60;
const kSorts: readonly Sort[] = ['position', 'waiting', 'gpus', 'project'];

// "/berth/queue", "?state=running" -> the view. What it does not know it takes for the default.
export function viewOf(path: string, search: string): View {
  const asked = new URLSearchParams(search);
  const word = <T extends string>(name: string, known: readonly T[]): T =>
    known.find((one) => one === asked.get(name)) ?? (known[0] as T);
  const number = (name: string) => (/^\d{1,15}$/.test(asked.get(name) ?? '') ? Number(asked.get(name)) : 0);
  const day = (name: string) => (/^\d{4}-\d{2}-\d{2}$/.test(asked.get(name) ?? '') ? (asked.get(name) as string) : '');
  const page = path.slice(path.lastIndexOf('/') + 1);
  return {
    page: kPages.find((one) => one === page) ?? 'home',
    state: word('state', kStates),
    reason: asked.get('reason') ?? '',
    project: asked.get('project') ?? '',
    pool: asked.get('pool') ?? '',
    text: asked.get('q') ?? '',
    sort: word('sort', kSorts),
    job: number('id'),
    tab: word('tab', kTabs),
    attempt: number('attempt'),
    rank: number('rank'),
    colour: word('colour', kColours),
    chosen: asked.get('sel') ?? '',
    zoom: asked.get('zoom') ?? '',
    suppose: asked.getAll('if'),
    days: Math.min(number('days'), kDaysMost) || kDaysReplayed,
    by: word('by', kBys),
    from: day('from'),
    to: day('to'),
    rows: word('rows', kRows),
    minutes: Math.min(number('minutes'), kMinutesMost),
    at: Date.parse(asked.get('at') ?? '') || 0,
  };
}

// The relative address of a view, without what is the default: "queue?reason=QuotaFair", "job?id=7".
export function addressOf(view: Partial<View> & { page: PageName }): string {
  if (view.page === 'home') return './';
  const said = new URLSearchParams();
  if (view.page === 'job') {
    said.set('id', String(view.job ?? 0));
    if (view.tab && view.tab !== kTabs[0]) said.set('tab', view.tab);
    if (view.attempt) said.set('attempt', String(view.attempt));
    if (view.rank) said.set('rank', String(view.rank));
    return `./job?${said}`;
  }
  if (view.page === 'projects') {
    if (view.pool) said.set('pool', view.pool);
    if (view.project) said.set('project', view.project);
    return withSearch('./projects', said);
  }
  if (view.page === 'efficiency') {
    if (view.by && view.by !== kBys[0]) said.set('by', view.by);
    if (view.from) said.set('from', view.from);
    if (view.to) said.set('to', view.to);
    return withSearch('./efficiency', said);
  }
  if (view.page === 'what-if') {
    for (const change of view.suppose ?? []) said.append('if', change);
    if (view.days && view.days !== kDaysReplayed) said.set('days', String(view.days));
    return withSearch('./what-if', said);
  }
  if (view.page === 'nodes') {
    if (view.text) said.set('q', view.text);
    return withSearch('./nodes', said);
  }
  if (view.page === 'timeline') {
    if (view.rows && view.rows !== kRows[0]) said.set('rows', view.rows);
    if (view.minutes) said.set('minutes', String(view.minutes));
    if (view.at) said.set('at', new Date(view.at).toISOString());
    if (view.text) said.set('q', view.text);
    return withSearch('./timeline', said);
  }
  if (view.page === 'map') {
    if (view.colour && view.colour !== kColours[0]) said.set('colour', view.colour);
    if (view.pool) said.set('pool', view.pool);
    if (view.text) said.set('q', view.text);
    if (view.chosen) said.set('sel', view.chosen);
    if (view.zoom) said.set('zoom', view.zoom);
    return withSearch('./map', said);
  }
  if (view.state && view.state !== kStates[0]) said.set('state', view.state);
  if (view.reason) said.set('reason', view.reason);
  if (view.project) said.set('project', view.project);
  if (view.text) said.set('q', view.text);
  if (view.sort && view.sort !== kSorts[0]) said.set('sort', view.sort);
  return withSearch('./queue', said);
}

function withSearch(page: string, said: URLSearchParams): string {
  const search = said.toString();
  return search === '' ? page : `${page}?${search}`;
}
