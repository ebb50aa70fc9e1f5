// SPDX-License-Identifier: Apache-2.0
//
// Who is signed in here? A link of `berth web` has a code behind its "#", which is exchanged for a
// token once. The token stays in this browser, for this origin and this prefix, and is shown as a
// header (ADR 0041).
import { problemOf } from './read';
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

export async function signOut(): Promise<void> {
  await fetch('api/v1/session', { method: 'DELETE', headers: authorization() }).catch(() => undefined);
  keep('');
}

export function authorization(): Record<string, string> {
  const shown = token();
  return shown === '' ? {} : { Authorization: `Bearer ${shown}` };
}
