// SPDX-License-Identifier: Apache-2.0
//
// What would be different, now and over the last days? The one is asked at once; a replay is begun,
// looked after until it is there, and ended when something else is wanted.
import { ask } from './ask';
import type { Supposition, WhatIf } from './project_types';
import { Reader } from './read';
import { suppose } from './rights';
import { authorization } from './session';
import type { Problem } from './types';
import type { Replay, Setting } from './what_if_types';

const kAddress = 'api/v1/what-if/replay';
const kAgainMs = 400;

export interface ReplayWish {
  days: number;
  suppose: Supposition[];
  policy: Record<string, string>;
}

export class WhatIfLive {
  now = $state.raw<WhatIf>();
  nowProblem = $state.raw<Problem>();
  replay = $state.raw<Replay>();
  replayProblem = $state.raw<Problem>();
  settings = $state.raw<Setting[]>([]);

  #wished = 0; // how often a replay was: an answer to an earlier wish is of no use

  async readSettings(): Promise<void> {
    const answer = await new Reader<{ settings: Setting[] }>('api/v1/policy', authorization).read();
    if (answer.ok) this.settings = answer.value.settings;
  }

  async supposeNow(of: Supposition[], signal: AbortSignal): Promise<void> {
    const answer = await suppose(of, signal);
    if (signal.aborted) return;
    this.nowProblem = answer.ok ? undefined : answer.problem;
    this.now = answer.ok ? answer.value : undefined;
  }

  async begin(wish: ReplayWish): Promise<void> {
    await this.end();
    const wished = this.#wished;
    const take = async (answer: Response) => (await answer.json()) as Replay;
    let answer = await ask(kAddress, { method: 'POST', body: JSON.stringify(wish) }, take);
    while (wished === this.#wished) {
      this.replayProblem = answer.ok ? undefined : answer.problem;
      this.replay = answer.ok ? answer.value : undefined;
      if (this.replay === undefined || !isUnderWay(this.replay)) return;
      await new Promise((later) => setTimeout(later, kAgainMs));
      if (wished === this.#wished) answer = await ask(`${kAddress}/${this.replay.id}`, {}, take);
    }
  }

  // It is not looked after any more.
  async end(): Promise<void> {
    ++this.#wished;
    const was = this.replay;
    [this.replay, this.replayProblem] = [undefined, undefined];
    if (was === undefined || !isUnderWay(was)) return;
    await ask(`${kAddress}/${was.id}`, { method: 'DELETE' }, async () => undefined);
  }
}

export function isUnderWay(replay: Replay): boolean {
  return ['reads', 'plays_as_set', 'plays_changed'].includes(replay.state);
}
