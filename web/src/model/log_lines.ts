// SPDX-License-Identifier: Apache-2.0
//
// Which lines has a log, which of them are Berth's own, and which have what is searched for?

export interface LogLine {
  number: number; // in what is shown, from 1
  text: string;
  isOurs: boolean;
}

// Colours and cursor moves of terminals say nothing here.
const kEscapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;
const kControls = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g;

// A bar that a program draws over itself, with carriage returns, is its last state.
function shown(line: string): string {
  const parts = line.replace(/\r+$/, '').split('\r');
  return (parts.at(-1) ?? '').replace(kEscapes, '').replace(kControls, '\ufffd');
}

// The newest `most` lines, of those that have `search` in them.
export function logLines(text: string, search: string, most: number): { lines: LogLine[]; found: number } {
  const wanted = search.toLowerCase();
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  const lines: LogLine[] = [];
  let found = 0;
  const all = whole === '' ? [] : whole.split('\n');
  for (let at = all.length - 1; at >= 0; --at) {
    const line = all[at] as string;
    if (wanted !== '' && !line.toLowerCase().includes(wanted)) continue;
    ++found;
    if (lines.length === most) continue;
    lines.push({ number: at + 1, text: shown(line), isOurs: /^\[?berth: /.test(line) });
  }
  return { lines: lines.reverse(), found };
}
