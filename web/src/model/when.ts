// SPDX-License-Identifier: Apache-2.0
//
// When does a job start, in words? Rounded to what an estimate is worth, with its band; what is not
// known is said in words.
import type { StartEstimate } from '../api/types';
import { clock } from './numbers';

const kMinute = 60_000;
const kHour = 60 * kMinute;

export interface When {
  said: string;
  band: string; // may be empty
}

// `nameOf` a job that starts before it.
export function when(
  estimate: StartEstimate | undefined, now: number, nameOf: (job: number) => string,
): When {
  if (estimate === undefined) return { said: '', band: '' };
  const { optimistic, expected, pessimistic, after } = estimate;
  const at = (time: string) => rounded(Date.parse(time), now);
  if (expected !== null) {
    const first = at(optimistic ?? expected);
    const band = pessimistic === null ? `from ${first} on` : span(first, at(pessimistic));
    return { said: Date.parse(expected) <= now ? 'about now' : `about ${at(expected)}`, band };
  }
  if (optimistic !== null) return { said: `after ${at(optimistic)}`, band: 'open end' };
  if (after !== null) return { said: `after ${nameOf(after)}`, band: 'no time yet' };
  return { said: 'no estimate yet', band: '' };
}

function span(first: string, last: string): string {
  return first === last ? '' : `${first}\u2013${last}`;
}

function rounded(time: number, now: number): string {
  const away = time - now;
  const step = away < kHour ? kMinute : away < 6 * kHour ? 5 * kMinute : 30 * kMinute;
  return clock(Math.round(time / step) * step, now);
}
