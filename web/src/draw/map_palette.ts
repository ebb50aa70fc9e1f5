// SPDX-License-Identifier: Apache-2.0
//
// Which colours has each look on the ground of this theme? Of a tile its ground, its bar and its pattern;
// of a GPU that is too small for them one colour. What is dimmed is a quarter of that.
import {
  kAllHues, kBad, kBlocked, kBusy, kFree, kIdle, kLooks, kMoving, kOthers, kReserved, kSteps, kUnmeasured,
} from '../model/map_looks';

export type Rgb = [number, number, number];
export type Mark = 'none' | 'dash' | 'upright' | 'diagonal' | 'outline' | 'dashed' | 'cross';

export interface TilePaint {
  ground: string; // empty = none
  bar: string; // from below, up to its part
  part: number; // 0 to 1
  mark: Mark;
}

export interface Palette {
  tiles: TilePaint[]; // by look, then all dimmed
  packed: Uint32Array; // likewise, as ImageData has it on a little-endian machine
  bg: string;
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  accent: string;
  idle: string;
  moving: string;
  surface: string;
  onTile: string;
}

const kDim = 0.25;
const kGround = 0.26;

export function mixed(back: Rgb, front: Rgb, part: number): Rgb {
  return back.map((value, at) => Math.round(value + ((front[at] ?? 0) - value) * part)) as Rgb;
}

function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

interface Drawn {
  ground: Rgb | undefined;
  bar: Rgb;
  part: number;
  mark: Mark;
  dot: Rgb; // where it is one colour
}

// `token`: what a custom property of tokens.css is now.
export function paletteOf(token: (name: string) => Rgb): Palette {
  const bg = token('--bg');
  const states = Object.fromEntries(['idle', 'moving', 'blocked', 'free', 'bad'].map((name) =>
    [name, token(`--state-${name}`)])) as Record<string, Rgb>;
  const state = (name: string) => states[name] as Rgb;
  const drawn: Drawn[] = new Array<Drawn>(kLooks);
  for (let hue = 0; hue < kAllHues; ++hue) {
    const full = token(hue < kAllHues - 2 ? `--hue-${hue}` : hue === kAllHues - 2 ? '--hue-grey' : '--busy');
    for (let step = 0; step < kSteps; ++step) {
      const part = step / (kSteps - 1);
      const dot = mixed(bg, full, 0.42 + 0.58 * part);
      drawn[kBusy + hue * kSteps + step] = { ground: mixed(bg, full, kGround), bar: full, part, mark: 'none', dot };
    }
    const soft = mixed(bg, full, 0.55);
    drawn[kUnmeasured + hue] = { ground: soft, bar: soft, part: 0, mark: 'none', dot: mixed(bg, full, 0.75) };
    drawn[kIdle + hue] = { ground: mixed(bg, full, 0.2), bar: full, part: 0, mark: 'dash', dot: state('idle') };
  }
  const alone = (ground: Rgb | undefined, mark: Mark, dot: Rgb): Drawn => ({ ground, bar: dot, part: 0, mark, dot });
  const free = state('free');
  drawn[kMoving] = alone(mixed(bg, state('moving'), 0.3), 'upright', state('moving'));
  drawn[kReserved] = alone(undefined, 'dashed', mixed(free, state('moving'), 0.3));
  drawn[kBlocked] = alone(free, 'diagonal', mixed(free, state('blocked'), 0.35));
  drawn[kFree] = alone(undefined, 'outline', free);
  drawn[kOthers] = alone(mixed(bg, token('--ink3'), 0.45), 'none', mixed(bg, token('--ink3'), 0.45));
  drawn[kBad] = alone(state('bad'), 'cross', state('bad'));
  const dimmed = drawn.map((one) => ({
    ...one,
    ground: one.ground && mixed(bg, one.ground, kDim),
    bar: mixed(bg, one.bar, kDim),
    dot: mixed(bg, one.dot, kDim),
    mark: one.mark === 'outline' ? one.mark : ('none' as const),
  }));
  const all = [...drawn, ...dimmed];
  return {
    tiles: all.map(({ ground, bar, part, mark }) => ({ ground: ground ? css(ground) : '', bar: css(bar), part, mark })),
    packed: Uint32Array.from(all, ({ dot: [red, green, blue] }) => (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0),
    bg: css(bg),
    ink: css(token('--ink')),
    ink2: css(token('--ink2')),
    ink3: css(token('--ink3')),
    line: css(token('--line2')),
    accent: css(token('--accent')),
    idle: css(state('idle')),
    moving: css(state('moving')),
    surface: css(token('--surface')),
    onTile: css(token('--bg')),
  };
}
