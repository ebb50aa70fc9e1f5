// SPDX-License-Identifier: Apache-2.0
//
// How is the server asked? By addresses relative to the page, so that any prefix in front of it
// holds. What did not change since the last answer is not sent again.
import type { Problem } from './types';

export type Answer<T> = { ok: true; value: T } | { ok: false; problem: Problem; reached: boolean };

const kPatienceMs = 10_000;

export class Reader<T> {
  #etag = '';
  #last: T | undefined;

  constructor(readonly address: string) {}

  async read(fetcher: typeof fetch = fetch): Promise<Answer<T>> {
    try {
      const headers: Record<string, string> = { Accept: 'application/json' };
      if (this.#etag !== '') headers['If-None-Match'] = this.#etag;
      const answer = await fetcher(this.address, {
        headers,
        cache: 'no-store',
        signal: AbortSignal.timeout(kPatienceMs),
      });
      if (answer.status === 304 && this.#last !== undefined) return { ok: true, value: this.#last };
      if (!answer.ok) return { ok: false, problem: await problemOf(answer), reached: true };
      this.#last = (await answer.json()) as T;
      this.#etag = answer.headers.get('ETag') ?? '';
      return { ok: true, value: this.#last };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return { ok: false, problem: { title: 'No answer', detail, hint: '' }, reached: false };
    }
  }
}

async function problemOf(answer: Response): Promise<Problem> {
  const found = (await answer.json().catch(() => ({}))) as Partial<Problem>;
  const isRefused = answer.status === 401 || answer.status === 403;
  return {
    title: isRefused ? 'Not signed in' : `The server answered ${answer.status}`,
    detail: found.detail ?? answer.statusText,
    hint: found.hint ?? (isRefused ? 'berth web' : ''),
  };
}
