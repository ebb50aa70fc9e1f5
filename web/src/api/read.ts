// SPDX-License-Identifier: Apache-2.0
//
// How is the server asked? By addresses relative to the page, so that any prefix in front of it
// holds. What did not change since the last answer is not sent again.
import type { Problem } from './types';

// `refused`: who asks has to sign in first. `status`: of HTTP; 0 = there was no answer.
export type Answer<T> =
  | { ok: true; value: T }
  | { ok: false; problem: Problem; refused: boolean; status: number };

export const kPatienceMs = 10_000;

export class Reader<T> {
  #etag = '';
  #last: T | undefined;

  // `headers`: what is shown with each question.
  constructor(
    readonly address: string,
    readonly headers: () => Record<string, string> = () => ({}),
  ) {}

  async read(fetcher: typeof fetch = fetch): Promise<Answer<T>> {
    try {
      const headers: Record<string, string> = { Accept: 'application/json', ...this.headers() };
      if (this.#etag !== '') headers['If-None-Match'] = this.#etag;
      const answer = await fetcher(this.address, {
        headers,
        cache: 'no-store',
        signal: AbortSignal.timeout(kPatienceMs),
      });
      if (answer.status === 304 && this.#last !== undefined) return { ok: true, value: this.#last };
      if (!answer.ok) return await failureOf(answer);
      this.#last = (await answer.json()) as T;
      this.#etag = answer.headers.get('ETag') ?? '';
      return { ok: true, value: this.#last };
    } catch (error) {
      return silence(error);
    }
  }
}

export type Failed = Extract<Answer<never>, { ok: false }>;

export async function failureOf(answer: Response): Promise<Failed> {
  const { status } = answer;
  return { ok: false, problem: await problemOf(answer), refused: isRefusal(status), status };
}

// The server did not answer.
export function silence(error: unknown): Failed {
  const detail = error instanceof Error ? error.message : String(error);
  return { ok: false, problem: { title: 'No answer', detail, hint: '' }, refused: false, status: 0 };
}

// 429 is said to wrong tokens alone, where others have shown many.
function isRefusal(status: number): boolean {
  return status === 401 || status === 429;
}

export async function problemOf(answer: Response): Promise<Problem> {
  const found = (await answer.json().catch(() => ({}))) as Partial<Problem>;
  return {
    title: isRefusal(answer.status) ? 'Not signed in' : `The server answered ${answer.status}`,
    detail: found.detail ?? answer.statusText,
    hint: found.hint ?? '',
  };
}
