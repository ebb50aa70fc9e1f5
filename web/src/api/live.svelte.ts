// SPDX-License-Identifier: Apache-2.0
//
// What do we know of the server now? It says what changes, in one stream; what was known stays when
// it is silent. A page that is not looked at asks nothing, nor does one without a token.
import { Reader, type Failed } from './read';
import { authorization, end, forgetToken, signIn, token } from './session';
import { Rows } from './rows';
import { listen, type Message } from './stream';
import type { Foreseen, Overview, Problem, Row, RowList, RowNews, StartEstimate } from './types';

const kEveryMs = 1_000;
const kForeseeEveryMs = 5_000; // costs the server more
const kEveryAtMostMs = 16_000; // tries while it is silent, doubled each time
const kSilenceMs = 15_000; // then it is asked anew: it gives a sign each 5 s
const kStream = 'api/v1/stream?topics=jobs,overview';

// What is asked beside the stream, with one token.
class Questions {
  foreseen = new Reader<Foreseen>(
    'api/v1/jobs?view=row&order=importance&limit=200&finished=0&state=queued,paused&foresee=true',
    authorization,
  );
  me = new Reader<{ user: string; ends: string | null }>('api/v1/me', authorization);
}

export class Live {
  overview = $state.raw<Overview>();
  jobs = $state.raw<RowList>();
  estimates = $state.raw(new Map<number, StartEstimate>()); // by job; some seconds older
  problem = $state.raw<Problem>(); // of the last try, if it failed
  last = $state(''); // the event up to which jobs are known
  answeredAt = $state(0); // ms since 1970, of the last sign of life; 0 = none yet
  retryAt = $state(0); // while it is silent
  isHeard = $state(false); // now
  isSignedOut = $state(false); // then it asks nothing until it is asked to
  user = $state(''); // who asks; empty = not known
  hasSession = $state(false); // that can be ended
  unended = $state.raw<Problem>(); // of a session that was left and lives on
  now = $state(Date.now()); // moves once a second

  #ask = new Questions();
  #rows = new Rows();
  #shown = ''; // the token of what is known
  #left = ''; // the token of a session that is to be ended
  #foreseenAt = 0;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stream: AbortController | undefined;
  #openedAt = 0;

  // Until the function that it answers is called.
  start(): () => void {
    const clock = setInterval(this.#look, kEveryMs);
    const show = () => (document.visibilityState === 'visible' ? !this.isSignedOut && void this.read() : this.#stop());
    document.addEventListener('visibilitychange', show);
    // Another tab signed in or out.
    const reread = () => (this.isSignedOut || token() !== this.#shown) && void this.read();
    window.addEventListener('storage', reread);
    window.addEventListener('hashchange', this.#open);
    void this.#open();
    return () => {
      clearInterval(clock);
      this.#stop();
      document.removeEventListener('visibilitychange', show);
      window.removeEventListener('storage', reread);
      window.removeEventListener('hashchange', this.#open);
    };
  }

  row(id: number): Row | undefined {
    return this.jobs && this.#rows.get(id);
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
    this.#stop();
    this.#forget('');
    this.isSignedOut = true;
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
    this.#rows.clear();
    this.overview = this.jobs = this.problem = undefined;
    this.estimates = new Map();
    this.answeredAt = this.retryAt = this.#foreseenAt = this.#failures = 0;
    this.last = this.user = '';
    this.hasSession = false;
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#stream?.abort();
    this.#stream = undefined;
    this.isHeard = false;
  }

  // Once a second.
  #look = (): void => {
    this.now = Date.now();
    const isSilent = this.now - Math.max(this.answeredAt, this.#openedAt) >= kSilenceMs;
    if (this.#stream && isSilent) void this.read();
    if (this.isHeard && this.now - this.#foreseenAt >= kForeseeEveryMs) void this.#foresee();
  };

  // Asks now, whatever it waited for. Answers once the server is heard, or cannot be.
  async read(): Promise<void> {
    this.#stop();
    const shown = token();
    if (shown !== this.#shown) this.#forget(shown);
    // `npm run dev` asks over the server's socket, which needs none.
    if (shown === '' && !import.meta.env.DEV) {
      this.problem = undefined;
      this.isSignedOut = true;
      return;
    }
    const stream = (this.#stream = new AbortController());
    this.#openedAt = Date.now();
    await new Promise<void>((settle) => {
      const isThis = () => stream === this.#stream && token() === shown;
      const listener = {
        onMessage: (message: Message) => isThis() && this.#take(message),
        onSign: () => {
          if (isThis()) this.#hear();
          settle();
        },
      };
      void listen(kStream, this.last, authorization(), listener, stream.signal).then((end) => {
        if (isThis()) this.#lose(end.ok ? undefined : end);
        else if (stream === this.#stream) void this.read();
        settle();
      });
    });
  }

  #hear(): void {
    this.answeredAt = this.now = Date.now();
    this.retryAt = this.#failures = 0;
    this.problem = undefined;
    this.isSignedOut = false;
    const isNew = !this.isHeard;
    this.isHeard = true;
    if (isNew && this.user === '') void this.#learnUser();
  }

  async #learnUser(): Promise<void> {
    const ask = this.#ask;
    const me = await ask.me.read();
    if (!me.ok || ask !== this.#ask) return;
    this.user = me.value.user;
    this.hasSession = Boolean(me.value.ends);
  }

  // The stream has ended: it is tried again, later each time.
  #lose(failed: Failed | undefined): void {
    this.isHeard = false;
    this.#stream = undefined;
    this.problem = failed?.problem;
    this.now = Date.now();
    this.isSignedOut = failed?.refused === true;
    if (this.isSignedOut) {
      this.overview = this.jobs = undefined;
      return;
    }
    const wait = Math.min(kEveryMs * 2 ** this.#failures, kEveryAtMostMs);
    this.#failures += 1;
    this.retryAt = this.now + wait;
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

  #take({ event, id, data }: Message): void {
    if (event === 'overview') this.overview = JSON.parse(data) as Overview;
    if (event !== 'jobs') return;
    const news = JSON.parse(data) as RowNews;
    this.jobs = { items: this.#rows.take(news), more: news.more };
    this.last = id;
  }
}
