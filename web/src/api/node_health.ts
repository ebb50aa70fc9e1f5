// SPDX-License-Identifier: Apache-2.0
//
// How is a node drained, or set ready?
import { kPatienceMs, problemOf, silence } from './read';
import { authorization } from './session';
import type { Problem } from './types';

export type Health = 'ready' | 'drained';

// Lets a node take work, or no new work. Nothing: it was done.
export async function setNodeHealth(node: string, health: Health): Promise<Problem | undefined> {
  const address = node.split('/').map(encodeURIComponent).join('/');
  try {
    const answer = await fetch(`api/v1/nodes/${address}`, {
      method: 'PUT', body: JSON.stringify({ health }), headers: authorization(),
      signal: AbortSignal.timeout(kPatienceMs),
    });
    return answer.ok ? undefined : await problemOf(answer);
  } catch (error) {
    const hint = `berth node ${health === 'ready' ? 'ready' : 'drain'} ${node}`;
    return { ...silence(error).problem, hint };
  }
}
