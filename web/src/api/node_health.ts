// SPDX-License-Identifier: Apache-2.0
//
// How is a node drained, or set ready?
import { order } from './ask';
import type { Problem } from './types';

export type Health = 'ready' | 'drained';

// Lets a node take work, or no new work. Nothing: it was done.
export function setNodeHealth(node: string, health: Health): Promise<Problem | undefined> {
  const address = node.split('/').map(encodeURIComponent).join('/');
  const command = `berth node ${health === 'ready' ? 'ready' : 'drain'} ${node}`;
  return order(`api/v1/nodes/${address}`, { method: 'PUT', body: JSON.stringify({ health }) }, command);
}
