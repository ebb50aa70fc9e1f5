// SPDX-License-Identifier: Apache-2.0
//
// What did one task of an attempt print? The end of it first, then what is added; what is earlier when it
// is asked for, up to 1 MiB at a time.
import { kPatienceMs, problemOf } from './read';
import { authorization } from './session';
import type { Problem } from './types';

const kFirstBytes = 64 * 1024;
const kPageBytes = 1024 * 1024;
const kKeptBytes = 8 * 1024 * 1024; // of what is added, the newest

export interface Place {
  job: number;
  attempt: number; // 0 = the newest
  task: number;
}

export class Log {
  text = $state('');
  begin = $state(0); // the byte at which the text begins
  isEnd = $state(false); // nothing more will come
  isRead = $state(false);
  problem = $state.raw<Problem>();

  #next = -1; // the byte after the text; -1 = not read yet
  #isReading = false;
  #decoder = new TextDecoder(); // of what is added: a letter may come in two parts

  constructor(readonly place: Place) {}

  // What has been added.
  async read(): Promise<void> {
    if (this.#isReading || this.isEnd) return;
    this.#isReading = true;
    const from = this.#next < 0 ? `tail=${kFirstBytes}` : `offset=${this.#next}`;
    const piece = await this.#ask(from);
    this.#isReading = false;
    if (piece === undefined) return;
    if (this.#next < 0) {
      // It begins amid a line, which is left out.
      const cut = piece.next === piece.bytes ? 0 : piece.text.indexOf('\n') + 1;
      this.begin = piece.next - new TextEncoder().encode(piece.text.slice(cut)).length;
      piece.text = piece.text.slice(cut);
    }
    this.#next = piece.next;
    this.isEnd = piece.isEnd;
    this.isRead = true;
    if (piece.text === '') return;
    this.text += piece.text;
    if (this.text.length <= kKeptBytes) return;
    const cut = this.text.indexOf('\n', this.text.length - kKeptBytes) + 1;
    this.begin += new TextEncoder().encode(this.text.slice(0, cut)).length;
    this.text = this.text.slice(cut);
  }

  // Up to a page of what is before the text.
  async readEarlier(): Promise<void> {
    if (this.#isReading || this.begin === 0) return;
    this.#isReading = true;
    const from = Math.max(0, this.begin - kPageBytes);
    const piece = await this.#ask(`offset=${from}`, this.begin - from);
    this.#isReading = false;
    if (piece === undefined) return;
    this.text = piece.text + this.text;
    this.begin = from;
  }

  // `most`: bytes that are wanted of it.
  async #ask(
    from: string, most = Infinity,
  ): Promise<{ text: string; bytes: number; next: number; isEnd: boolean } | undefined> {
    const { job, attempt, task } = this.place;
    const which = attempt > 0 ? `attempt=${attempt}&` : '';
    try {
      const answer = await fetch(`api/v1/jobs/${job}/log?${which}task=${task}&${from}`, {
        headers: authorization(), cache: 'no-store', signal: AbortSignal.timeout(kPatienceMs),
      });
      this.problem = answer.ok ? undefined : await problemOf(answer);
      if (!answer.ok) return undefined;
      const bytes = new Uint8Array(await answer.arrayBuffer()).slice(0, most);
      return {
        text: (most === Infinity ? this.#decoder : new TextDecoder()).decode(bytes, { stream: true }),
        bytes: bytes.length,
        next: Number(answer.headers.get('Berth-Offset')),
        isEnd: answer.headers.get('Berth-End') === 'true',
      };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.problem = { title: 'No answer', detail, hint: `berth logs ${job}` };
      return undefined;
    }
  }
}
