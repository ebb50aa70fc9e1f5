// SPDX-License-Identifier: Apache-2.0
//
// What does each GPU do now? Asked once a second while the page is looked at; what did not change is not
// sent again, and which nodes there are is asked only when it did.
import { setNodeHealth, type Health } from './node_health';
import { failureOf, kPatienceMs, Reader, silence, type Answer } from './read';
import { authorization } from './session';
import { columnsOf, type GpuColumns, type Topology } from './gpu_columns';
import type { Problem, Right } from './types';

class ColumnReader {
  #etag = '';
  #last: GpuColumns | undefined;

  async read(): Promise<Answer<GpuColumns>> {
    try {
      const headers: Record<string, string> = { ...authorization() };
      if (this.#etag !== '') headers['If-None-Match'] = this.#etag;
      const answer = await fetch('api/v1/map', {
        headers, cache: 'no-store', signal: AbortSignal.timeout(kPatienceMs),
      });
      if (answer.status === 304 && this.#last) return { ok: true, value: this.#last };
      if (!answer.ok) return await failureOf(answer);
      this.#last = columnsOf(await answer.arrayBuffer());
      this.#etag = answer.headers.get('ETag') ?? '';
      return { ok: true, value: this.#last };
    } catch (error) {
      return silence(error);
    }
  }
}

export class MapLive {
  topology = $state.raw<Topology>();
  columns = $state.raw<GpuColumns>(); // of that topology
  rights = $state.raw<Right[]>([]);
  problem = $state.raw<Problem>(); // of the last try, if it failed
  refused = $state.raw<Problem>(); // what was asked to be done and was not

  #columns = new ColumnReader();
  #topology = new Reader<Topology>('api/v1/map/topology', authorization);
  #me = new Reader<{ rights: Right[] }>('api/v1/me', authorization);
  #topologyOf = ''; // its ETag
  #isReading = false;

  async read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await this.#readAll();
    } finally {
      this.#isReading = false;
    }
  }

  async #readAll(): Promise<void> {
    if (this.rights.length === 0) {
      const me = await this.#me.read();
      if (me.ok) this.rights = me.value.rights;
    }
    const answer = await this.#columns.read();
    this.problem = answer.ok ? undefined : answer.problem;
    if (!answer.ok) return;
    if (answer.value.topology !== this.#topologyOf) {
      const topology = await this.#topology.read();
      if (!topology.ok) {
        this.problem = topology.problem;
        return;
      }
      // Nodes that came in between are with the next columns.
      const { gpus } = topology.value.nodes;
      if (gpus.reduce((sum, many) => sum + many, 0) !== answer.value.use.length) return;
      this.#topologyOf = answer.value.topology;
      this.topology = topology.value;
    }
    this.columns = answer.value;
  }

  // Lets a node take work, or no new work.
  async setHealth(node: string, health: Health): Promise<void> {
    this.refused = await setNodeHealth(node, health);
    await this.read();
  }
}
