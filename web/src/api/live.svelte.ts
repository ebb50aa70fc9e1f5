// SPDX-License-Identifier: Apache-2.0
//
// What do we know of the server now? Asked once a second; what was known stays when it is silent.
// A page that is not looked at asks nothing, nor does one without a token.
import { Reader, type Answer } from './read';
import { authorization, end, forgetToken, signIn, token } from './session';
import type { JobList, Overview, Problem, StartEstimate } from './types';

const kEveryMs = 1_000;
const kForeseeEveryMs = 5_000; // costs the server more
const kEveryAtMostMs = 16_000; // while it is silent, doubled each time

// What is asked, and the last answers to it: of one token.
class Questions {
  overview = new Reader<Overview>('api/v1/overview', authorization);
  jobs = new Reader<JobList>('api/v1/jobs?order=importance&limit=1000&finished=100', authorization);
  foreseen = new Reader<JobList>(
    'api/v1/jobs?order=importance&limit=200&finished=0&state=queued,paused&foresee=true',
    authorization,
  );
  me = new Reader<{ user: string; ends?: string }>('api/v1/me', authorization);
}

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
  unended = $state.raw<Problem>(); // of a session that was left and lives on
  now = $state(Date.now()); // moves once a second

  #ask = new Questions();
  #shown = ''; // the token of what is known
  #left = ''; // the token of a session that is to be ended
  #foreseenAt = 0;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;

  // Until the function that it answers is called.
  start(): () => void {
    const clock = setInterval(() => (this.now = Date.now()), kEveryMs);
    const look = () => !this.isSignedOut && document.visibilityState === 'visible' && void this.read();
    document.addEventListener('visibilitychange', look);
    // Another tab signed in or out.
    const reread = () => (this.isSignedOut || token() !== this.#shown) && void this.read();
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

  // Signs in where the address has a code, and ends the session that this one takes the place of.
  // A used code is no news to who is signed in already.
  #open = async (): Promise<void> => {
    const before = token();
    const refused = await signIn();
    if (before !== '' && token() !== before) void this.#end(before);
    await this.read();
    if (refused && this.isSignedOut) this.problem = refused;
  };

  // What is shown goes at once, whatever the server then says of the session.
  async leave(): Promise<void> {
    const left = token();
    forgetToken();
    this.#forget('');
    this.isSignedOut = true;
    clearTimeout(this.#timer);
    await this.#end(left);
  }

  // Tries again to end a session that was left.
  async end(): Promise<void> {
    await this.#end(this.#left);
  }

  async #end(left: string): Promise<void> {
    this.#left = left;
    this.unended = await end(left);
  }

  // What was known was for the eyes of another token.
  #forget(shown: string): void {
    this.#shown = shown;
    this.#ask = new Questions();
    this.overview = this.jobs = this.problem = undefined;
    this.estimates = new Map();
    this.answeredAt = this.retryAt = this.#foreseenAt = this.#failures = 0;
    this.user = '';
    this.hasSession = false;
  }

  // Asks now, whatever it waited for.
  async read(): Promise<void> {
    const shown = token();
    if (shown !== this.#shown) this.#forget(shown);
    clearTimeout(this.#timer);
    // `npm run dev` asks over the server's socket, which needs none.
    if (shown === '' && !import.meta.env.DEV) {
      this.problem = undefined;
      this.isSignedOut = true;
      return;
    }
    if (this.#isReading) return;
    this.#isReading = true;
    const ask = this.#ask;
    const answers = await Promise.all([ask.overview.read(), ask.jobs.read()]);
    const me = this.user === '' && answers[0].ok ? await ask.me.read() : undefined;
    this.#isReading = false;
    if (token() !== shown) return this.read();
    if (me?.ok) {
      this.user = me.value.user;
      this.hasSession = me.value.ends !== undefined;
    }
    this.#take(answers);
    if (this.isSignedOut) return;
    if (this.now - this.#foreseenAt >= kForeseeEveryMs) void this.#foresee();
    const wait = Math.min(kEveryMs * 2 ** this.#failures, kEveryAtMostMs);
    this.retryAt = this.#failures > 0 ? Date.now() + wait : 0;
    this.#timer = setTimeout(() => document.visibilityState === 'visible' && void this.read(), wait);
  }

  async #foresee(): Promise<void> {
    this.#foreseenAt = this.now;
    const ask = this.#ask;
    const answer = await ask.foreseen.read();
    if (!answer.ok || ask !== this.#ask) return;
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
