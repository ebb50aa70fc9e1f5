// SPDX-License-Identifier: Apache-2.0
//
// Who is signed in here? A link of `berth web` has a code behind its "#", which is exchanged for a
// token once. The token stays in this browser, for this origin and this prefix, and is shown as a
// header (ADR 0041).
import { kPatienceMs, problemOf } from './read';
import type { Problem } from './types';

const kCode = '#code=';

function place(): string {
  return `berth.token ${new URL('./', location.href).pathname}`;
}

export function token(): string {
  try {
    return localStorage.getItem(place()) ?? '';
  } catch {
    return kept; // a browser may refuse to remember
  }
}

let kept = '';

function keep(shown: string): void {
  kept = shown;
  try {
    if (shown === '') localStorage.removeItem(place());
    else localStorage.setItem(place(), shown);
  } catch {
    // It holds until the page is closed.
  }
}

// Exchanges the code of the address, if there is one, and takes it out of the address and history.
export async function signIn(): Promise<Problem | undefined> {
  if (!location.hash.startsWith(kCode)) return undefined;
  const code = location.hash.slice(kCode.length);
  history.replaceState(null, '', location.pathname + location.search);
  try {
    const answer = await fetch('api/v1/session', { method: 'POST', body: JSON.stringify({ code }) });
    if (!answer.ok) return await problemOf(answer);
    keep(((await answer.json()) as { token: string }).token);
    return undefined;
  } catch (error) {
    return { title: 'No answer', detail: String(error), hint: 'berth web' };
  }
}

export function forgetToken(): void {
  keep('');
}

// Ends the session of a token at the server. A problem says that it lives on there.
export async function end(shown: string): Promise<Problem | undefined> {
  try {
    const answer = await fetch('api/v1/session', {
      method: 'DELETE', headers: bearer(shown), signal: AbortSignal.timeout(kPatienceMs),
    });
    if (answer.ok || kEnded.includes(answer.status)) return undefined;
    return livesOn((await problemOf(answer)).detail);
  } catch (error) {
    return livesOn(error instanceof Error ? error.message : String(error));
  }
}

// The token is that of no session, or of none that can be ended.
const kEnded = [401, 409, 429];

function livesOn(cause: string): Problem {
  const detail =
    'This browser has forgotten its token, but at the server the session lives on until it ends, ' +
    `a week after it began: ${cause}.`;
  return { title: 'The session has not ended', detail, hint: '' };
}

export function authorization(): Record<string, string> {
  return bearer(token());
}

function bearer(shown: string): Record<string, string> {
  return shown === '' ? {} : { Authorization: `Bearer ${shown}` };
}
