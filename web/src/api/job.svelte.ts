// SPDX-License-Identifier: Apache-2.0
//
// What do we know of one job now? What changes with every second is asked each time; what the server
// works out, when the job has changed or some seconds have passed.
import { order } from './ask';
import { Reader } from './read';
import { authorization } from './session';
import type { EventList, JobEvent, Problem, Receipts, Right, Timeline, Verb, WholeJob } from './types';

const kForeseeEveryMs = 5_000;
const kEventsMax = 1_000; // that are shown; the newest

export class JobLive {
  job = $state.raw<WholeJob>();
  timeline = $state.raw<Timeline>();
  receipts = $state.raw<Receipts>();
  events = $state.raw<JobEvent[]>();
  names = $state.raw<Record<string, string>>({}); // of other jobs, "project/name" by number
  rights = $state.raw<Right[]>([]);
  problem = $state.raw<Problem>(); // of the last try, if it failed
  isUnknown = $state(false); // there is no job of that number
  refused = $state.raw<Problem>(); // what was asked to be done and was not

  #now: Reader<WholeJob>;
  #foreseen: Reader<WholeJob>;
  #timeline: Reader<Timeline>;
  #receipts: Reader<Receipts>;
  #me = new Reader<{ rights: Right[] }>('api/v1/me', authorization);
  #foreseenAt = 0;
  #foreseenOf = ''; // what the job was then
  #readTo = 0; // the last event that is known
  #isReading = false;

  constructor(readonly id: number) {
    this.#now = new Reader(`api/v1/jobs/${id}`, authorization);
    this.#foreseen = new Reader(`api/v1/jobs/${id}?foresee=true`, authorization);
    this.#timeline = new Reader(`api/v1/jobs/${id}/timeline`, authorization);
    this.#receipts = new Reader(`api/v1/jobs/${id}/receipts`, authorization);
  }

  async read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    if (this.rights.length === 0) {
      const me = await this.#me.read();
      if (me.ok) this.rights = me.value.rights;
    }
    const answer = await this.#now.read();
    this.#isReading = false;
    this.problem = answer.ok ? undefined : answer.problem;
    this.isUnknown = !answer.ok && answer.status === 404;
    if (!answer.ok) return;
    const job = answer.value;
    this.job = { ...job, foresight: this.job?.foresight ?? null };
    const is = `${job.state} ${job.held} ${job.attempts} ${job.tasks.length} ${job.parked_since} ${job.idle?.acts_at}`;
    const isOld = Date.now() - this.#foreseenAt >= kForeseeEveryMs;
    if (is === this.#foreseenOf && (!isOld || job.finished !== null)) return;
    this.#foreseenAt = Date.now();
    this.#foreseenOf = is;
    await Promise.all([this.#foresee(), this.#readEvents()]);
  }

  async #foresee(): Promise<void> {
    const [job, timeline, receipts] = await Promise.all([
      this.#foreseen.read(), this.#timeline.read(), this.#receipts.read(),
    ]);
    if (job.ok) this.job = job.value;
    if (timeline.ok) this.timeline = timeline.value;
    if (receipts.ok) this.receipts = receipts.value;
    const failed = [job, timeline, receipts].find((answer) => !answer.ok);
    if (failed?.ok === false) this.problem = failed.problem;
    for (const answer of [job, timeline, receipts]) {
      if (answer.ok) this.names = { ...this.names, ...answer.value.job_names };
    }
  }

  // Those that are new since it was last asked.
  async #readEvents(): Promise<void> {
    const address = `api/v1/events?job=${this.id}&after=`;
    for (let hasMore = true; hasMore;) {
      const page = await new Reader<EventList>(`${address}${this.#readTo}`, authorization).read();
      if (!page.ok) return;
      const { items, next, job_names } = page.value;
      hasMore = next !== '' && items.length > 0;
      this.#readTo = items.at(-1)?.sequence ?? this.#readTo;
      this.events = [...(this.events ?? []), ...items].slice(-kEventsMax);
      this.names = { ...this.names, ...job_names };
    }
  }

  // Asks the server to do it; what became of it shows in the job.
  async steer(verb: Verb): Promise<void> {
    this.refused = undefined;
    this.refused = await order(`api/v1/jobs/${this.id}/${verb}`, { method: 'POST' }, `berth ${verb} ${this.id}`);
    await this.read();
  }
}
