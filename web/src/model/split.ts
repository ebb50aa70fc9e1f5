// SPDX-License-Identifier: Apache-2.0
//
// How does a project come to its fair share? In steps that can be added up by hand: what there is,
// what each uses of its quota, what is left by weight and round by round, what of it is in use.
import type { ShareAccount, ShareLevel, ShareOffer, ShareRow } from '../api/project_types';
import { gpus } from './numbers';

export interface SplitLine {
  name: string;
  note: string; // may be empty
  gpus: number;
  isOwn: boolean; // of the project, or of a department above it
  isSum: boolean;
}

export interface SplitStep {
  title: string;
  lines: SplitLine[];
}

// `used`: by the project now; `why`: the reason why its first waiting job waits, may be empty.
export function splitSteps(account: ShareAccount, used: number, why: string): SplitStep[] {
  const steps = account.levels.flatMap((level, at) =>
    stepsOf(level, account.levels[at + 1]?.parent ?? account.project, account.pool));
  const left = account.fair_share - used;
  const lines = [line('its fair share', '', account.fair_share, true)];
  if (left > 0) lines.push(line('not in use', why, -left));
  if (left < 0) lines.push(line('above it', 'until others want their share', -left));
  lines.push(sum(`${account.project} uses`, used));
  steps.push({ title: 'What it uses', lines });
  return steps.map((step, at) => ({ ...step, title: `${at + 1} ${step.title}` }));
}

function line(name: string, note: string, of: number, isOwn = false): SplitLine {
  return { name, note, gpus: of, isOwn, isSum: false };
}

function sum(name: string, of: number): SplitLine {
  return { name, note: '', gpus: of, isOwn: true, isSum: true };
}

function stepsOf(level: ShareLevel, own: string, pool: string): SplitStep[] {
  const isOwn = (row: { project: string }) => row.project === own;
  const row = level.rows.find(isOwn);
  const steps: SplitStep[] = [];
  if (level.parent === '') {
    steps.push({ title: 'What there is', lines: [line('GPUs of ready nodes', `pool ${pool}`, level.total, true)] });
  }
  const whose = level.parent === '' ? 'Each gets' : `Of the ${gpus(level.total)} of ${level.parent}, each gets`;
  steps.push({
    title: `${whose} what it wants of its quota`,
    lines: [
      ...level.rows.map((each) => line(each.project, quotaNote(each), each.from_quota, isOwn(each))),
      { ...sum('left over', level.surplus), isOwn: false },
    ],
  });
  const offers = level.offers.filter((offer) => offer.taken > 0 || offer.project === own);
  const odd = level.rows.filter((each) => each.odd > 0);
  const lines = [
    ...offers.map((offer) => line(offer.project, offerNote(offer, level), offer.taken, isOwn(offer))),
    ...odd.map((each) => line(each.project, 'of what could not be divided', each.odd, isOwn(each))),
  ];
  const entitled = row ? sum(`${own} is entitled to`, row.fair_share) : undefined;
  const parts = row ? [row.from_quota, row.from_surplus, row.odd].filter((part) => part > 0) : [];
  if (entitled && parts.length > 1) entitled.note = parts.map(gpus).join(' + ');
  if (lines.length > 0) steps.push({ title: 'What is left, by weight', lines: [...lines, ...(entitled ? [entitled] : [])] });
  else if (entitled) steps.at(-1)!.lines.push(entitled);
  return steps;
}

function quotaNote(row: ShareRow): string {
  if (row.quota < 0) return `wants ${gpus(row.wants)}, quota without a bound`;
  if (row.quota === 0) return row.wants > 0 ? `wants ${gpus(row.wants)}, no quota` : 'no quota';
  return `wants ${gpus(row.wants)} of ${gpus(row.quota)}`;
}

// "round 2: 84 x 50 % = 42"; what it does not need of that it leaves.
function offerNote(offer: ShareOffer, level: ShareLevel): string {
  const rounds = level.offers.some((other) => other.round > 1) ? `round ${offer.round}: ` : '';
  const percent = Math.round(offer.part_ppm / 100) / 100;
  const needs = offer.taken < Math.floor(offer.offered) ? ', needs less' : '';
  return `${rounds}${gpus(offer.left)} \u00d7 ${percent} % = ${gpus(offer.offered)}${needs}`;
}
