// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Live } from './live.svelte';

type Asked = { method: string; path: string; token: string };

let kept: Map<string, string>;
let asked: Asked[];
let answer: (one: Asked) => Response | Promise<Response>;
let close: (() => void) | undefined;

const kMine = 'berth.token /';

function json(body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status });
}

// As a server does to which another user has shown many wrong tokens.
function busyServer(one: Asked): Response {
  if (one.path.endsWith('/session') && one.method === 'POST') return json({ token: 'new' });
  if (one.token === '') return json({ detail: 'too many wrong tokens' }, 429);
  if (one.path.endsWith('/me')) return json({ user: 'maria', ends: '2026-12-04T00:00:00Z' });
  return json({ items: [], sentences: [] });
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv('DEV', false);
  kept = new Map([[kMine, 'old']]);
  asked = [];
  answer = busyServer;
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  });
  vi.stubGlobal('location', { href: new URL('/', import.meta.url).href, pathname: '/', search: '', hash: '' });
  vi.stubGlobal('history', { replaceState: () => undefined });
  const events = { addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.stubGlobal('document', { visibilityState: 'visible', ...events });
  vi.stubGlobal('window', events);
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    const headers = (init.headers ?? {}) as Record<string, string>;
    const token = (headers.Authorization ?? '').replace('Bearer ', '');
    const one = { method: init.method ?? 'GET', path, token };
    asked.push(one);
    return answer(one);
  });
});

afterEach(() => {
  close?.();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

async function opened(): Promise<Live> {
  const live = new Live();
  close = live.start();
  await vi.advanceTimersByTimeAsync(10);
  return live;
}

function shownOf(live: Live) {
  return [live.jobs, live.overview, live.user, live.hasSession, live.estimates.size, live.answeredAt];
}

const kNothing = [undefined, undefined, '', false, 0, 0];

test('who has no token asks nothing and is to sign in', async () => {
  kept.clear();
  const live = await opened();
  await vi.advanceTimersByTimeAsync(20_000);
  await live.read();
  expect(asked).toEqual([]);
  expect([live.isSignedOut, live.problem]).toEqual([true, undefined]);
});

test('signing out clears all at once, ends the session and asks no more', async () => {
  const live = await opened();
  expect([live.user, live.hasSession]).toEqual(['maria', true]);
  asked = [];
  const left = live.leave();
  expect(shownOf(live)).toEqual(kNothing);
  expect(live.isSignedOut).toBe(true);
  await left;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked).toEqual([{ method: 'DELETE', path: 'api/v1/session', token: 'old' }]);
  expect([live.unended, live.problem, kept.size]).toEqual([undefined, undefined, 0]);
});

test('what was asked before signing out and is answered after it is not shown', async () => {
  const live = await opened();
  let release = () => {};
  const isReleased = new Promise<void>((done) => (release = done));
  answer = async (one) => {
    await isReleased;
    return busyServer(one);
  };
  void live.read();
  const left = live.leave();
  release();
  await left;
  await vi.advanceTimersByTimeAsync(10);
  expect(shownOf(live)).toEqual(kNothing);
});

test.each([
  ['no answer', () => Promise.reject(new TypeError('Failed to fetch')), /lives on.*Failed to fetch/],
  ['a full disk', () => json({ detail: 'the disk is full' }, 503), /lives on.*the disk is full/],
])('a session that did not end for %s is said to live on, and is ended later', async (_, fails, words) => {
  const live = await opened();
  answer = fails;
  await live.leave();
  expect(shownOf(live)).toEqual(kNothing);
  expect(live.unended?.detail).toMatch(words);
  answer = busyServer;
  await live.end();
  expect(live.unended).toBeUndefined();
  expect(asked.at(-1)).toEqual({ method: 'DELETE', path: 'api/v1/session', token: 'old' });
});

test('a token that the server does not know is to sign in, also where it answers 429', async () => {
  answer = () => json({ detail: 'too many wrong tokens' }, 429);
  const live = await opened();
  expect([live.isSignedOut, live.problem?.title]).toEqual([true, 'Not signed in']);
});

test('another tab that signs out takes what is shown with it', async () => {
  const live = await opened();
  kept.clear();
  await live.read();
  expect(shownOf(live)).toEqual(kNothing);
  expect(live.isSignedOut).toBe(true);
});
