// SPDX-License-Identifier: Apache-2.0
//
// What do we know of all projects now, of the fair share of one, and of what it gave and took? What did not change is not
// sent again; a share is asked for again when projects have changed, or some seconds have passed.
import { Reader } from './read';
import { authorization } from './session';
import type { ProjectList, ShareAccount, TakingList } from './project_types';
import type { Problem, Right } from './types';

const kShareEveryMs = 5_000;

export class ProjectsLive {
  list = $state.raw<ProjectList>();
  share = $state.raw<ShareAccount>(); // of the project that was asked for last
  takings = $state.raw<TakingList>(); // likewise
  takingsOf = $state('');
  rights = $state.raw<Right[]>([]);
  problem = $state.raw<Problem>(); // of the last try, if it failed
  shareProblem = $state.raw<Problem>();

  #list = new Reader<ProjectList>('api/v1/projects', authorization);
  #me = new Reader<{ rights: Right[] }>('api/v1/me', authorization);
  #takings: Reader<TakingList> | undefined;
  #share: Reader<ShareAccount> | undefined;
  #sharedAt = 0;
  #sharedOf: ProjectList | undefined;
  #isReading = false;

  // `project`: whose share is wanted; empty = none's.
  async read(project: string, pool: string): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    if (this.rights.length === 0) {
      const me = await this.#me.read();
      if (me.ok) this.rights = me.value.rights;
    }
    const answer = await this.#list.read();
    this.#isReading = false;
    this.problem = answer.ok ? undefined : answer.problem;
    if (!answer.ok) return;
    this.list = answer.value;
    if (project !== '') await Promise.all([this.#readShare(project, pool), this.#readTakings(project)]);
  }

  async #readTakings(project: string): Promise<void> {
    const address = `api/v1/receipts?project=${encodeURIComponent(project)}`;
    if (this.#takings?.address !== address) this.#takings = new Reader<TakingList>(address, authorization);
    const asked = this.#takings;
    const answer = await asked.read();
    if (!answer.ok || asked !== this.#takings) return;
    [this.takings, this.takingsOf] = [answer.value, project];
  }

  async #readShare(project: string, pool: string): Promise<void> {
    const address = `api/v1/projects/${encodeURIComponent(project)}/fair-share?pool=${encodeURIComponent(pool)}`;
    const isOther = this.#share?.address !== address;
    const isOld = Date.now() - this.#sharedAt >= kShareEveryMs || this.#sharedOf !== this.list;
    if (!isOther && !isOld) return;
    if (isOther) this.#share = new Reader<ShareAccount>(address, authorization);
    const asked = this.#share;
    this.#sharedAt = Date.now();
    this.#sharedOf = this.list;
    const answer = await asked!.read();
    if (asked !== this.#share) return; // another project was chosen meanwhile
    this.shareProblem = answer.ok ? undefined : answer.problem;
    if (answer.ok) this.share = answer.value;
  }
}
