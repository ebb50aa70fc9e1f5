// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { Reader } from './read';

function answering(status: number, body: string, headers: Record<string, string> = {}) {
  const asked: RequestInit[] = [];
  const fetcher = async (_: unknown, init?: RequestInit) => {
    asked.push(init ?? {});
    return new Response(status === 304 ? null : body, { status, headers });
  };
  return { asked, fetcher: fetcher as typeof fetch };
}

test('what did not change is what was answered before', async () => {
  const reader = new Reader<{ a: number }>('api/v1/x');
  await reader.read(answering(200, '{"a":1}', { ETag: '"7"' }).fetcher);
  const again = answering(304, '');
  expect(await reader.read(again.fetcher)).toEqual({ ok: true, value: { a: 1 } });
  expect(again.asked[0]?.headers).toMatchObject({ 'If-None-Match': '"7"' });
});

test('a problem is said in the words of the server', async () => {
  const body = '{"title":"not_found","detail":"there is no job 7","hint":"berth ls"}';
  const answer = await new Reader('x').read(answering(404, body).fetcher);
  expect(answer).toEqual({
    ok: false, refused: false, status: 404,
    problem: { title: 'The server answered 404', detail: 'there is no job 7', hint: 'berth ls' },
  });
});

test('what is no answer, or no JSON, is a problem too', async () => {
  const silent = (async () => { throw new TypeError('Failed to fetch'); }) as typeof fetch;
  expect(await new Reader('x').read(silent)).toMatchObject({ ok: false, refused: false, status: 0 });
  expect(await new Reader('x').read(answering(200, '<html>').fetcher)).toMatchObject({ ok: false });
  const refused = await new Reader('x').read(answering(502, '').fetcher);
  expect(refused).toMatchObject({ ok: false, problem: { title: 'The server answered 502' } });
});

test('a token is shown with each question, and who has none hears how to get one', async () => {
  const shown = answering(200, '{}');
  await new Reader('x', () => ({ Authorization: 'Bearer t' })).read(shown.fetcher);
  expect(shown.asked[0]?.headers).toMatchObject({ Authorization: 'Bearer t' });
  const body = '{"detail":"wanted a token","hint":"berth web"}';
  expect(await new Reader('x').read(answering(401, body).fetcher)).toEqual({
    ok: false, refused: true, status: 401,
    problem: { title: 'Not signed in', detail: 'wanted a token', hint: 'berth web' },
  });
});
