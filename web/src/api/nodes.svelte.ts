// SPDX-License-Identifier: Apache-2.0
//
// What do we know of all nodes now? Asked again some seconds after the last answer, or at once when
// something was done to one.
import { setNodeHealth, type Health } from './node_health';
import { Reader } from './read';
import { authorization } from './session';
import type { Problem, Right } from './types';

const kEveryMs = 5_000;

export interface Device {
  index: number;
  healthy: boolean;
  used: number; // 0 to 1
  jobs: number[];
  uncounted: unknown[]; // processes beside the shares of jobs
  utilization_percent: number | null; // null = not measured
}

export interface NodeView {
  name: string;
  gpus: number;
  gpu_model: string;
  gpu_memory: number;
  health: 'ready' | 'drained' | 'down';
  pool: string;
  joins: string; // the pool to which it goes once nothing runs on it; empty = it stays
  topology: Record<string, string>;
  shares_lack: string; // why shares of its GPUs cannot be kept; empty = they can
  others: { gpu_indices: number[] };
  devices: Device[];
}

export interface NodeList {
  items: NodeView[];
  sentences: string[];
}

export class NodesLive {
  list = $state.raw<NodeList>();
  rights = $state.raw<Right[]>([]);
  problem = $state.raw<Problem>(); // of the last try, if it failed
  refused = $state.raw<Problem>(); // what was asked to be done and was not

  #list = new Reader<NodeList>('api/v1/nodes', authorization);
  #me = new Reader<{ rights: Right[] }>('api/v1/me', authorization);
  #askedAt = 0;

  async read(isWanted = false): Promise<void> {
    if (!isWanted && Date.now() - this.#askedAt < kEveryMs) return;
    this.#askedAt = Date.now();
    if (this.rights.length === 0) {
      const me = await this.#me.read();
      if (me.ok) this.rights = me.value.rights;
    }
    const answer = await this.#list.read();
    this.problem = answer.ok ? undefined : answer.problem;
    if (answer.ok) this.list = answer.value;
  }

  // Whether it was done.
  async setHealth(node: string, health: Health): Promise<boolean> {
    this.refused = await setNodeHealth(node, health);
    await this.read(true);
    return this.refused === undefined;
  }
}
