// SPDX-License-Identifier: Apache-2.0
//
// How old is what a page shows? The server gives a sign of life each 5 s. Live to 8 s, then old, from
// 30 s disconnected.
import { duration } from './numbers';

export type Freshness = { state: 'reading' | 'live' | 'old' | 'disconnected'; words: string };

const kLiveMs = 8_000;
const kOldMs = 30_000;

// Times in ms since 1970; 0 = never, or no retry under way.
export function freshness(answeredAt: number, retryAt: number, now: number): Freshness {
  const isSilent = retryAt > 0;
  if (answeredAt === 0 && !isSilent) return { state: 'reading', words: 'Reading' };
  const age = answeredAt === 0 ? Infinity : now - answeredAt;
  if (age < kLiveMs && !isSilent) return { state: 'live', words: 'Live' };
  if (age < kOldMs) return { state: 'old', words: `${duration(Math.max(age, 1_000))} old` };
  const wait = retryAt - now;
  const next = wait >= 1_000 ? `, retrying in ${duration(wait)}` : ', retrying';
  return { state: 'disconnected', words: `Disconnected${isSilent ? next : ''}` };
}
