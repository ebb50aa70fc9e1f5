// SPDX-License-Identifier: Apache-2.0
//
// How does each GPU look? A look is a number: what it is used for and, of a job's, in which hue and how
// full. Amber, red and lilac are states; a project never has them.
import { kNoProject, kNotMeasured, type GpuColumns } from '../api/gpu_columns';
import { hues, kHues } from './hue';
import type { MapColour } from './view';

export const kSteps = 16;
export const kGreyHue = kHues;
export const kStateHue = kHues + 1; // blue
export const kAllHues = kHues + 2;

// The first look of each kind: one for each hue and step, for each hue, or one alone.
export const kBusy = 0;
export const kUnmeasured = kBusy + kAllHues * kSteps;
export const kIdle = kUnmeasured + kAllHues;
export const kMoving = kIdle + kAllHues;
export const kReserved = kMoving + 1;
export const kBlocked = kMoving + 2;
export const kFree = kMoving + 3;
export const kOthers = kMoving + 4;
export const kBad = kMoving + 5;
export const kLooks = kMoving + 6;

type Kind = 'busy' | 'idle' | 'unmeasured' | number;

const kKinds: Record<string, Kind> = {
  busy: 'busy', allocated_idle: 'idle', not_measured: 'unmeasured', starting: kMoving, leaving: kMoving,
  reserved: kReserved, blocked_by_room: kBlocked, blocked_by_rules: kBlocked, free: kFree,
  others: kOthers, unhealthy: kBad,
};

// The hue of each project by its position: of the named ones those of all pages, the rest grey.
export function projectHues(projects: readonly string[], named: readonly string[]): Uint8Array {
  const known = hues(named);
  return Uint8Array.from(projects, (name) => {
    const hue = known.get(name) ?? -1;
    return hue < 0 ? kGreyHue : hue;
  });
}

function lookOf(kind: Kind, hue: number, busy: number, memory: number, colour: MapColour): number {
  if (typeof kind === 'number') return kind;
  const shown = colour === 'memory' ? memory : busy;
  if (colour === 'activity' || colour === 'memory') {
    return shown === kNotMeasured ? kUnmeasured + kGreyHue : kBusy + kStateHue * kSteps + shown;
  }
  const its = colour === 'state' ? kStateHue : hue;
  if (kind === 'idle') return kIdle + its;
  if (kind === 'unmeasured') return kUnmeasured + its;
  return kBusy + its * kSteps + (busy === kNotMeasured ? kSteps - 1 : busy);
}

export interface Looks {
  gpus: Uint8Array;
  shared: Uint8Array; // of parts
}

export function looksOf(columns: GpuColumns, hueOf: Uint8Array, colour: MapColour): Looks {
  const kinds = columns.uses.map((use) => kKinds[use] ?? kOthers);
  const hue = (project: number) => (project === kNoProject ? kGreyHue : hueOf[project] ?? kGreyHue);
  const gpus = new Uint8Array(columns.use.length);
  for (let gpu = 0; gpu < gpus.length; ++gpu) {
    gpus[gpu] = lookOf(kinds[columns.use[gpu] as number] ?? kOthers, hue(columns.project[gpu] as number),
      columns.busy[gpu] as number, columns.memory[gpu] as number, colour);
  }
  const shared = Uint8Array.from(columns.sharedUse, (use, part) => {
    const gpu = columns.sharedGpu[part] as number;
    return lookOf(kinds[use] ?? kOthers, hue(columns.sharedProject[part] as number),
      columns.busy[gpu] as number, columns.memory[gpu] as number, colour);
  });
  return { gpus, shared };
}

// GPUs by use and by project, parts counted as parts; of the shown ones alone.
export interface Tally {
  uses: Map<string, number>;
  projects: Map<string, number>;
}

export function tallyOf(columns: GpuColumns, isShown: (gpu: number) => boolean): Tally {
  const uses = new Array<number>(columns.uses.length).fill(0);
  const projects = new Array<number>(columns.projects.length).fill(0);
  let part = 0;
  const add = (use: number, project: number, amount: number) => {
    uses[use] = (uses[use] ?? 0) + amount;
    if (project !== kNoProject) projects[project] = (projects[project] ?? 0) + amount;
  };
  for (let gpu = 0; gpu < columns.use.length; ++gpu) {
    const begin = part;
    for (; columns.sharedGpu[part] === gpu; ++part) {
      if (!isShown(gpu)) continue;
      add(columns.sharedUse[part] as number, columns.sharedProject[part] as number, (columns.sharedAmount[part] as number) / 1000);
    }
    if (part === begin && isShown(gpu)) add(columns.use[gpu] as number, columns.project[gpu] as number, 1);
  }
  const named = (names: string[], counts: number[]) =>
    new Map(names.flatMap((name, at) => ((counts[at] ?? 0) > 0 ? [[name, counts[at] ?? 0] as const] : [])));
  return { uses: named(columns.uses, uses), projects: named(columns.projects, projects) };
}
