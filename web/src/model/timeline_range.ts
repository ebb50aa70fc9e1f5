// SPDX-License-Identifier: Apache-2.0
//
// Which time does the timeline show? What its address says; where that names no begin it goes on with now, which
// is at the same place of the screen then.
import { command } from './shell';
import type { View } from './view';

export const kPast = 0.62; // part of the time that is over, where it goes on with now
export const kMinutes = 14 * 60;
export const kPresets: [number, string][] = [[15, '15 min'], [120, '2 h'], [kMinutes, '14 h'], [7 * 24 * 60, '7 d'], [30 * 24 * 60, '30 d']];
const kMinute = 60_000;
const kRounded = 6 * 60; // minutes from which on hours will do

type Shown = Pick<View, 'minutes' | 'at'>;

// In ms. Where it goes on with now it moves by steps that are not seen, so that not each second is another time.
export function rangeOf({ minutes, at }: Shown, now: number): { from: number; to: number } {
  const long = minutes * kMinute;
  const step = Math.max(1_000, long / 2_000);
  const from = at === 0 ? Math.floor((now - kPast * long) / step) * step : at;
  return { from, to: from + long };
}

// The fewest minutes, up to the usual ones, in which all is seen that happened since then.
export function fitting(first: number, now: number): number {
  return kPresets.find(([minutes]) => minutes * kMinute * kPast >= now - first || minutes >= kMinutes)?.[0] ?? kMinutes;
}

// The same on the command line: "berth timeline --from 9h --to 5h".
export function timelineCommand({ minutes, at }: Shown): string {
  if (minutes === 0) return 'berth timeline';
  if (at !== 0) {
    const iso = (time: number) => new Date(time).toISOString().replace('.000Z', 'Z');
    return command('berth', 'timeline', '--from', iso(at), '--to', iso(at + minutes * kMinute));
  }
  const step = minutes < kRounded ? 1 : 60;
  const past = Math.round((minutes * kPast) / step) * step;
  const text = (many: number) => (many % 60 === 0 && many > 0 ? `${many / 60}h` : `${many}m`);
  return command('berth', 'timeline', '--from', text(past), '--to', text(minutes - past));
}
