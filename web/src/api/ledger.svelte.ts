// SPDX-License-Identifier: Apache-2.0
//
// Where did the GPU time go in these days? Of all GPUs, and by what is asked. It moves slowly, so it is
// asked for again when something else is wanted, or some seconds have passed.
import { ask } from './ask';
import { Reader } from './read';
import { authorization } from './session';
import type { By, Ledger } from './ledger_types';
import type { Problem } from './types';

const kEveryMs = 10_000;

// Days as 2026-11-27; empty = the server's default.
export interface Range {
  from: string;
  to: string;
}

export function ledgerAddress({ from, to }: Range, by: By, form: 'json' | 'csv' = 'json'): string {
  const asked = new URLSearchParams({ by });
  if (from) asked.set('from', from);
  if (to) asked.set('to', to);
  if (form === 'csv') asked.set('form', form);
  return `api/v1/ledger?${asked}`;
}

export class LedgerLive {
  all = $state.raw<Ledger>(); // sums to capacity
  rows = $state.raw<Ledger>(); // by what was asked for last
  problem = $state.raw<Problem>(); // of the last try, if it failed

  #asked = '';
  #askedAt = 0;

  async read(range: Range, by: By, isWanted = false): Promise<void> {
    const address = ledgerAddress(range, by);
    const isOther = address !== this.#asked;
    if (!isWanted && !isOther && Date.now() - this.#askedAt < kEveryMs) return;
    [this.#asked, this.#askedAt] = [address, Date.now()];
    const ask = (of: By) => new Reader<Ledger>(ledgerAddress(range, of), authorization).read();
    const [rows, all] = await Promise.all([ask(by), by === 'job' ? ask('project') : undefined]);
    if (address !== this.#asked) return; // something else is wanted meanwhile
    const failed = [rows, all].find((answer) => answer?.ok === false);
    this.problem = failed?.ok === false ? failed.problem : undefined;
    if (!rows.ok || all?.ok === false) return;
    this.rows = rows.value;
    this.all = all?.value ?? rows.value;
  }

  // The same as a file. A link could not show the token.
  async download(range: Range, by: By): Promise<void> {
    const answer = await ask(ledgerAddress(range, by, 'csv'), {}, (given) => given.blob());
    this.problem = answer.ok ? undefined : answer.problem;
    if (!answer.ok) return;
    const file = document.createElement('a');
    file.href = URL.createObjectURL(answer.value);
    file.download = `gpu-time-by-${by}.csv`;
    file.click();
    URL.revokeObjectURL(file.href);
  }
}
