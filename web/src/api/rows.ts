// SPDX-License-Identifier: Apache-2.0
//
// Which jobs are there? Put together from what a stream says of them piece by piece.
import type { Explanation, Row, RowNews, StreamRow } from './types';

const kNone: Explanation = { reason: null, why: '', blockers: [] };

export class Rows {
  #rows = new Map<number, StreamRow>();
  #explanations = new Map<number, Explanation>();
  #shown = new Map<number, Row>();

  get(id: number): Row | undefined {
    return this.#shown.get(id);
  }

  clear(): void {
    this.#rows.clear();
    this.#shown.clear();
    this.#explanations.clear();
  }

  take(news: RowNews): Row[] {
    if (news.whole) this.clear();
    for (const [number, said] of Object.entries(news.explanations)) this.#explanations.set(Number(number), said);
    for (const row of news.rows) this.#rows.set(row.id, row);
    for (const job of news.gone) this.#rows.delete(job);
    const positions = this.#positions();
    const jobs = [...this.#rows.values()].map((row) => {
      const said = this.#explanations.get(row.explanation ?? 0) ?? kNone;
      return { ...row, ...said, why: said.why || row.why, position: positions.get(row.id) ?? 0 };
    });
    this.#shown = new Map(jobs.map((job) => [job.id, job]));
    return jobs;
  }

  // Among all that wait in the first of its queues, some of them perhaps by second choice.
  #positions(): Map<number, number> {
    const queues = new Map<number, { job: number; place: number; isFirst: boolean }[]>();
    for (const row of this.#rows.values()) {
      (row.places ?? []).forEach(([queue, place], index) => {
        if (place === 0) return;
        const waiting = queues.get(queue) ?? [];
        waiting.push({ job: row.id, place, isFirst: index === 0 });
        queues.set(queue, waiting);
      });
    }
    const positions = new Map<number, number>();
    for (const waiting of queues.values()) {
      waiting.sort((one, other) => one.place - other.place);
      waiting.forEach(({ job, isFirst }, index) => isFirst && positions.set(job, index + 1));
    }
    return positions;
  }
}
