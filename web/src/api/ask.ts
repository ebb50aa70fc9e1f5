// SPDX-License-Identifier: Apache-2.0
//
// How is something asked of the server that is no question asked again and again (read.ts)?
import { failureOf, kPatienceMs, silence, type Answer } from './read';
import { authorization } from './session';
import type { Problem } from './types';

export async function ask<T>(
  address: string, options: RequestInit, take: (answer: Response) => Promise<T>,
): Promise<Answer<T>> {
  try {
    const answer = await fetch(address, {
      ...options,
      headers: { ...authorization(), ...options.headers },
      cache: 'no-store',
      signal: options.signal ?? AbortSignal.timeout(kPatienceMs),
    });
    if (!answer.ok) return await failureOf(answer);
    return { ok: true, value: await take(answer) };
  } catch (error) {
    return silence(error);
  }
}

// To do something. Nothing: it was done. `command`: what does the same where there is no answer.
export async function order(address: string, options: RequestInit, command: string): Promise<Problem | undefined> {
  const done = await ask(address, options, async () => undefined);
  if (done.ok) return undefined;
  return done.status === 0 ? { ...done.problem, hint: command } : done.problem;
}
