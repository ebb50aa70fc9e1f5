// SPDX-License-Identifier: Apache-2.0
//
// What do we know of the server now? Asked once a second; what was known stays when it is silent.
// A page that is not looked at asks nothing.
import { Reader, type Answer } from './read';
import { authorization, signIn, signOut } from './session';
import type { JobList, Overview, Problem, StartEstimate } from './types';

const kEveryMs = 1_000;
const kForeseeEveryMs = 5_000; // costs the server more
const kEveryAtMostMs = 16_000; // while it is silent, doubled each time

export class Live {
  overview = $state.raw<Overview>();
  jobs = $state.raw<JobList>();
  estimates = $state.raw(new Map<number, StartEstimate>()); // by job; some seconds older
  problem = $state.raw<Problem>(); // of the last try, if it failed
  answeredAt = $state(0); // ms since 1970, of the last full answer; 0 = none yet
  retryAt = $state(0); // while it is silent
  isSignedOut = $state(false); // then it asks nothing until it is asked to
  user = $state(''); // who asks; empty = not known
  hasSession = $state(false); // that can be ended
  now = $state(Date.now()); // moves once a second

  #overview = new Reader<Overview>('api/v1/overview', authorization);
  #jobs = new Reader<JobList>('api/v1/jobs?order=importance&limit=1000&finished=100', authorization);
  #foreseen = new Reader<JobList>(
    'api/v1/jobs?order=importance&limit=200&finished=0&state=queued,paused&foresee=true',
    authorization,
  );
  #foreseenAt = 0;
  #me = new Reader<{ user: string; ends?: string }>('api/v1/me', authorization);
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;

  // Until the function that it answers is called.
  start(): () => void {
    const clock = setInterval(() => (this.now = Date.now()), kEveryMs);
    const look = () => !this.isSignedOut && document.visibilityState === 'visible' && void this.read();
    document.addEventListener('visibilitychange', look);
    const reread = () => this.isSignedOut && void this.read(); // another tab signed in
    window.addEventListener('storage', reread);
    window.addEventListener('hashchange', this.#open);
    void this.#open();
    return () => {
      clearInterval(clock);
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('storage', reread);
      window.removeEventListener('hashchange', this.#open);
    };
  }

  // Signs in where the address has a code. A used code is no news to who is signed in already.
  #open = async (): Promise<void> => {
    const refused = await signIn();
    await this.read();
    if (refused && this.isSignedOut) this.problem = refused;
  };

  async leave(): Promise<void> {
    await signOut();
    this.user = '';
    await this.read();
  }

  // Asks now, whatever it waited for.
  async read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    clearTimeout(this.#timer);
    const answers = await Promise.all([this.#overview.read(), this.#jobs.read()]);
    if (this.user === '' && answers[0].ok) {
      const me = await this.#me.read();
      if (me.ok) this.user = me.value.user;
      this.hasSession = me.ok && me.value.ends !== undefined;
    }
    this.#isReading = false;
    this.#take(answers);
    if (this.isSignedOut) return;
    if (this.now - this.#foreseenAt >= kForeseeEveryMs) void this.#foresee();
    const wait = Math.min(kEveryMs * 2 ** this.#failures, kEveryAtMostMs);
    this.retryAt = this.#failures > 0 ? Date.now() + wait : 0;
    this.#timer = setTimeout(() => document.visibilityState === 'visible' && void this.read(), wait);
  }

  async #foresee(): Promise<void> {
    this.#foreseenAt = this.now;
    const answer = await this.#foreseen.read();
    if (!answer.ok) return;
    this.estimates = new Map(answer.value.items.flatMap(({ id, foresight }) =>
      foresight?.start_estimate ? [[id, foresight.start_estimate] as const] : []));
  }

  #take([overview, jobs]: [Answer<Overview>, Answer<JobList>]): void {
    if (overview.ok) this.overview = overview.value;
    if (jobs.ok) this.jobs = jobs.value;
    const failed = [overview, jobs].find((answer) => !answer.ok);
    this.problem = failed?.ok === false ? failed.problem : undefined;
    this.now = Date.now();
    this.isSignedOut = failed?.ok === false && failed.refused;
    if (this.isSignedOut) this.overview = this.jobs = undefined;
    if (failed === undefined) this.answeredAt = this.now;
    this.#failures = failed === undefined ? 0 : this.#failures + 1;
  }
}
