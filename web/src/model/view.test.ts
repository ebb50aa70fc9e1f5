// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { addressOf, viewOf, type View } from './view';

const kAll: View = {
  page: 'queue', state: 'running', reason: 'QuotaFair', project: 'a b&c', pool: '', text: 'user:é', sort: 'gpus',
  job: 0, tab: 'overview', attempt: 0, rank: 0,
  colour: 'project', chosen: '', zoom: '', by: 'project', from: '', to: '', rows: 'nodes', minutes: 0, at: 0, suppose: [], days: 7,
};

test('an address says all of a view, and is relative', () => {
  const address = addressOf(kAll);
  expect(address.startsWith('./queue?')).toBe(true);
  expect(viewOf('/some/prefix/queue', address.slice(address.indexOf('?')))).toEqual(kAll);
});

test('an address says all of what is shown of the map', () => {
  const view: View = {
    ...viewOf('/map', ''), colour: 'activity', pool: 'h 100', text: 'bert', chosen: 'n61:4', zoom: '2@0.5,0.5',
  };
  const address = addressOf(view);
  expect(address.startsWith('./map?colour=activity')).toBe(true);
  expect(viewOf('/berth/map', address.slice(address.indexOf('?')))).toEqual(view);
  expect(addressOf(viewOf('/map', ''))).toBe('./map');
});

test('what is the default is not said', () => {
  expect(addressOf({ ...viewOf('/queue', '') })).toBe('./queue');
  expect(addressOf(viewOf('/', ''))).toBe('./');
});

test('what an address says and is not known is the default', () => {
  const view = viewOf('/queue', '?state=lost&sort=luck');
  expect(view.state).toBe('waiting');
  expect(view.sort).toBe('position');
  expect(viewOf('/no-such-page', '').page).toBe('home');
});

test('a job has its number behind a question mark, and keeps what is shown of it', () => {
  const view = viewOf('/some/prefix/job', '?id=1058&tab=logs&attempt=2&rank=3');
  expect([view.page, view.job, view.tab, view.attempt, view.rank]).toEqual(['job', 1058, 'logs', 2, 3]);
  expect(addressOf(view)).toBe('./job?id=1058&tab=logs&attempt=2&rank=3');
  expect(addressOf({ page: 'job', job: 7 })).toBe('./job?id=7');
});

test('what is no number of a job is none', () => {
  for (const id of ['', '-1', '7x', '1e3', '9'.repeat(30)]) {
    expect(viewOf('/job', `?id=${id}`).job).toBe(0);
  }
});

test('the page of projects has its pool and its project in the address', () => {
  const view = viewOf('/some/prefix/projects', '?pool=h200&project=a%20b');
  expect([view.page, view.pool, view.project]).toEqual(['projects', 'h200', 'a b']);
  expect(addressOf(view)).toBe('./projects?pool=h200&project=a+b');
  expect(addressOf({ page: 'projects' })).toBe('./projects');
});

test('the page of what-ifs has its changes and its days in the address', () => {
  const view = viewOf('/some/prefix/what-if', '?if=quota+a%3D6&if=nodes+n0%3D-2&days=30');
  expect([view.page, view.suppose, view.days]).toEqual(['what-if', ['quota a=6', 'nodes n0=-2'], 30]);
  expect(addressOf(view)).toBe('./what-if?if=quota+a%3D6&if=nodes+n0%3D-2&days=30');
  expect(addressOf({ page: 'what-if' })).toBe('./what-if');
});

test('the page of efficiency has its days and what a row stands for in the address', () => {
  const view = viewOf('/some/prefix/efficiency', '?by=day&from=2026-11-01&to=2026-11-30');
  expect([view.page, view.by, view.from, view.to]).toEqual(['efficiency', 'day', '2026-11-01', '2026-11-30']);
  expect(addressOf(view)).toBe('./efficiency?by=day&from=2026-11-01&to=2026-11-30');
  expect(addressOf(viewOf('/efficiency', '?by=luck&from=yesterday'))).toBe('./efficiency');
});

test('the page of nodes has its filter in the address', () => {
  expect(addressOf(viewOf('/berth/nodes', '?q=n6'))).toBe('./nodes?q=n6');
  expect(addressOf({ page: 'nodes' })).toBe('./nodes');
});

test('an address of the timeline says rows, length, begin and highlight', () => {
  const view = viewOf('/timeline', '?rows=jobs&minutes=120&at=2026-11-27T06:00:00.000Z&q=bert');
  expect(view).toMatchObject({ page: 'timeline', rows: 'jobs', minutes: 120, at: Date.parse('2026-11-27T06:00:00Z'), text: 'bert' });
  expect(viewOf('/timeline', addressOf(view).slice('./timeline'.length))).toEqual(view);
  expect(addressOf({ page: 'timeline', rows: 'nodes', minutes: 0, at: 0 })).toBe('./timeline');
  expect(viewOf('/timeline', '?rows=all&minutes=x&at=noon')).toMatchObject({ rows: 'nodes', minutes: 0, at: 0 });
});
