// SPDX-License-Identifier: Apache-2.0
//
// Which page is shown, and what of it? The address says all of it: a link shows the same to others.

export type PageName = 'home' | 'queue';
export type StateFilter = 'waiting' | 'hold' | 'running' | 'ended';
export type Sort = 'position' | 'waiting' | 'gpus' | 'project';

export interface View {
  page: PageName;
  state: StateFilter;
  reason: string; // empty = all, as below
  project: string;
  text: string;
  sort: Sort;
}

const kStates: readonly StateFilter[] = ['waiting', 'hold', 'running', 'ended'];
const kSorts: readonly Sort[] = ['position', 'waiting', 'gpus', 'project'];

// "/berth/queue", "?state=running" -> the view. What it does not know it takes for the default.
export function viewOf(path: string, search: string): View {
  const asked = new URLSearchParams(search);
  const word = <T extends string>(name: string, known: readonly T[]): T =>
    known.find((one) => one === asked.get(name)) ?? (known[0] as T);
  return {
    page: path.slice(path.lastIndexOf('/') + 1) === 'queue' ? 'queue' : 'home',
    state: word('state', kStates),
    reason: asked.get('reason') ?? '',
    project: asked.get('project') ?? '',
    text: asked.get('q') ?? '',
    sort: word('sort', kSorts),
  };
}

// The relative address of a view, without what is the default: "queue?reason=QuotaFair".
export function addressOf(view: Partial<View> & { page: PageName }): string {
  if (view.page === 'home') return './';
  const said = new URLSearchParams();
  if (view.state && view.state !== kStates[0]) said.set('state', view.state);
  if (view.reason) said.set('reason', view.reason);
  if (view.project) said.set('project', view.project);
  if (view.text) said.set('q', view.text);
  if (view.sort && view.sort !== kSorts[0]) said.set('sort', view.sort);
  const search = said.toString();
  return search === '' ? './queue' : `./queue?${search}`;
}
