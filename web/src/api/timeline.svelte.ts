// SPDX-License-Identifier: Apache-2.0
//
// What were all jobs in the time that is looked at? More than that is asked for, so that a small step to either
// side shows what is there; asked again when it goes beyond, and now and then while it goes on with now.
import type { Topology } from './gpu_columns';
import { Reader } from './read';
import { authorization } from './session';
import type { ClusterTimeline, JobSpans } from './timeline_types';
import type { Problem } from './types';

export interface Range { from: number; to: number } // ms

const kPagesMost = 20; // of 1,000 jobs or 5,000 spans
const kEveryMs = 5_000;
const kEveryPart = 1 / 500; // of the time that is seen: a month is not asked for each second

export class TimelineLive {
  sentence = $state('');
  knownFrom = $state<number>(); // ms; undefined: all is known
  jobs = $state.raw<JobSpans[]>();
  isCut = $state(false); // there were more than are shown
  loaded = $state.raw<Range>({ from: 0, to: 0 });
  loadedAt = $state(0); // ms of the server's clock
  skew = $state(0); // ms that the server's clock is ahead of ours
  topology = $state.raw<Topology>();
  problem = $state.raw<Problem>(); // of the last try, if it failed

  #topology = new Reader<Topology>('api/v1/map/topology', authorization);
  #askedAt = 0;
  #askedOf: Range = { from: 0, to: 0 };
  #isReading = false;

  // Reads where that is not known yet, or is old.
  async read(range: Range, now: number): Promise<void> {
    if (this.#isReading) return;
    const every = Math.max(kEveryMs, (range.to - range.from) * kEveryPart);
    const isOld = range.to > this.loadedAt && now - this.#askedAt >= every;
    const isSame = range.from === this.#askedOf.from && range.to === this.#askedOf.to;
    const isMoved = !isSame && (this.problem === undefined || now - this.#askedAt >= kEveryMs);
    if (this.jobs !== undefined && !isOld && !isMoved) return;
    [this.#isReading, this.#askedAt, this.#askedOf] = [true, now, range];
    try {
      await this.#readAll(range);
    } finally {
      this.#isReading = false;
    }
  }

  async #readAll(range: Range): Promise<void> {
    const around = (range.to - range.from) / 2;
    const wide = { from: range.from - around, to: range.to + around };
    const [head, nodes] = await Promise.all([this.#page(range, 1, ''), this.#topology.read()]);
    this.problem = head.ok ? undefined : head.problem;
    if (!head.ok) return;
    if (nodes.ok) this.topology = nodes.value;
    const jobs: JobSpans[] = [];
    let next = '';
    let pages = 0;
    do {
      const page = await this.#page(wide, 1_000, next);
      if (!page.ok) {
        this.problem = page.problem;
        return;
      }
      jobs.push(...page.value.items);
      next = page.value.next;
    } while (next !== '' && ++pages < kPagesMost);
    this.sentence = head.value.sentence;
    this.knownFrom = head.value.known_from === null ? undefined : Date.parse(head.value.known_from);
    this.skew = Date.parse(head.value.now) - Date.now();
    this.isCut = next !== '';
    [this.jobs, this.loaded, this.loadedAt] = [jobs, wide, Date.parse(head.value.now)];
  }

  #page({ from, to }: Range, limit: number, after: string) {
    const asked = new URLSearchParams({
      from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: String(limit),
    });
    if (after !== '') asked.set('after', after);
    return new Reader<ClusterTimeline>(`api/v1/spans?${asked}`, authorization).read();
  }
}
