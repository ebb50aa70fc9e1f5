// SPDX-License-Identifier: Apache-2.0
//
// What do we know of the server now? Asked once a second; what was known stays when it is silent.
// A page that is not looked at asks nothing.
import { Reader, type Answer } from './read';
import type { JobList, Problem, ProjectList, Status } from './types';

const kEveryMs = 1_000;
const kEveryAtMostMs = 16_000; // while it is silent, doubled each time

export class Live {
  status = $state.raw<Status>();
  jobs = $state.raw<JobList>();
  projects = $state.raw<ProjectList>();
  problem = $state.raw<Problem>(); // of the last try, if it failed
  answeredAt = $state(0); // ms since 1970, of the last full answer; 0 = none yet
  retryAt = $state(0); // while it is silent
  now = $state(Date.now()); // moves once a second

  #status = new Reader<Status>('api/v1/status');
  #jobs = new Reader<JobList>('api/v1/jobs?order=importance&limit=1000&finished=100');
  #projects = new Reader<ProjectList>('api/v1/projects');
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;

  // Until the function that it answers is called.
  start(): () => void {
    const clock = setInterval(() => (this.now = Date.now()), kEveryMs);
    const look = () => document.visibilityState === 'visible' && void this.read();
    document.addEventListener('visibilitychange', look);
    void this.read();
    return () => {
      clearInterval(clock);
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', look);
    };
  }

  // Asks now, whatever it waited for.
  async read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    clearTimeout(this.#timer);
    const answers = await Promise.all([
      this.#status.read(), this.#jobs.read(), this.#projects.read(),
    ]);
    this.#isReading = false;
    this.#take(answers);
    const wait = Math.min(kEveryMs * 2 ** this.#failures, kEveryAtMostMs);
    this.retryAt = this.#failures > 0 ? Date.now() + wait : 0;
    this.#timer = setTimeout(() => document.visibilityState === 'visible' && void this.read(), wait);
  }

  #take([status, jobs, projects]: [Answer<Status>, Answer<JobList>, Answer<ProjectList>]): void {
    if (status.ok) this.status = status.value;
    if (jobs.ok) this.jobs = jobs.value;
    if (projects.ok) this.projects = projects.value;
    const failed = [status, jobs, projects].find((answer) => !answer.ok);
    this.problem = failed?.ok === false ? failed.problem : undefined;
    this.now = Date.now();
    if (failed === undefined) this.answeredAt = this.now;
    this.#failures = failed === undefined ? 0 : this.#failures + 1;
  }
}
