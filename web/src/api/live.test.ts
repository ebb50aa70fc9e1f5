// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Live } from './live.svelte';

type Asked = { method: string; path: string; token: string; last: string };

let kept: Map<string, string>;
let asked: Asked[];
let answer: (one: Asked) => Response | Promise<Response>;
let close: (() => void) | undefined;

const kMine = 'berth.token /';

function json(body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status });
}

// The streams that are open, and what they have said so far.
let streams: ReadableStreamDefaultController<Uint8Array>[];

function say(text: string): void {
  streams.at(-1)?.enqueue(new TextEncoder().encode(text));
}

function openStream(): Response {
  return new Response(new ReadableStream({ start: (one) => void streams.push(one) }));
}

// As a server does to which another user has shown many wrong tokens.
function busyServer(one: Asked): Response {
  if (one.path.endsWith('/session') && one.method === 'POST') return json({ token: 'new' });
  if (one.token === '') return json({ detail: 'too many wrong tokens' }, 429);
  if (one.path.endsWith('/me')) return json({ user: 'maria', ends: '2026-12-04T00:00:00Z' });
  if (one.path.includes('/stream')) return openStream();
  return json({ items: [] });
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv('DEV', false);
  kept = new Map([[kMine, 'old']]);
  asked = [];
  streams = [];
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
    const one = { method: init.method ?? 'GET', path, token, last: headers['Last-Event-ID'] ?? '' };
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
  if (streams.length > 0) say(':\n\n');
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
  expect(asked).toEqual([{ method: 'DELETE', path: 'api/v1/session', token: 'old', last: '' }]);
  expect([live.unended, live.problem, kept.size]).toEqual([undefined, undefined, 0]);
});

test('what was said before signing out and is heard after it is not shown', async () => {
  const live = await opened();
  const left = live.leave();
  await left;
  try {
    say(kFirst);
  } catch { /* it was let go */ }
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
  expect(asked.at(-1)).toEqual({ method: 'DELETE', path: 'api/v1/session', token: 'old', last: '' });
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

const kFirst = 'event: jobs\nid: 7\ndata: {"whole":true,"rows":[{"id":1},{"id":2}],"gone":[],"more":3,"explanations":{}}\n\n';

function idsOf(live: Live): number[] | undefined {
  return live.jobs?.items.map(({ id }) => id);
}

test('jobs are those of the first message, then what is new', async () => {
  const live = await opened();
  say(`${kFirst}event: overview\ndata: {"sentences":[]}\n\nevent: jo`);
  await vi.advanceTimersByTimeAsync(10);
  expect([idsOf(live), live.jobs?.more, live.last]).toEqual([[1, 2], 3, '7']);
  expect(live.overview).toEqual({ sentences: [] });
  say('bs\nid: 9\ndata: {"whole":false,"rows":[{"id":5}],"gone":[1],"more":0,"explanations":{}}\n\n');
  await vi.advanceTimersByTimeAsync(10);
  expect([idsOf(live), live.last]).toEqual([[2, 5], '9']);
  expect([live.row(5)?.id, live.row(1)]).toEqual([5, undefined]);
});

test('a stream that ends is opened again where it was, and what was known stays', async () => {
  const live = await opened();
  say(kFirst);
  await vi.advanceTimersByTimeAsync(10);
  asked = [];
  streams.at(-1)?.close();
  await vi.advanceTimersByTimeAsync(100);
  expect([live.isHeard, idsOf(live), live.retryAt > 0]).toEqual([false, [1, 2], true]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked.filter(({ path }) => path.includes('/stream')).map(({ last }) => last)).toEqual(['7']);
  say('event: jobs\nid: 8\ndata: {"whole":true,"rows":[],"gone":[],"more":0,"explanations":{}}\n\n');
  await vi.advanceTimersByTimeAsync(10);
  expect([live.isHeard, idsOf(live), live.retryAt]).toEqual([true, [], 0]);
});

test('a stream that gives no sign of life is opened anew', async () => {
  await opened();
  asked = [];
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked.filter(({ path }) => path.includes('/stream')).length).toBeGreaterThan(0);
});

test('a server that does not answer is asked less and less often', async () => {
  answer = () => Promise.reject(new TypeError('Failed to fetch'));
  const live = await opened();
  expect(live.problem?.detail).toBe('Failed to fetch');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.length).toBeLessThan(10);
});
