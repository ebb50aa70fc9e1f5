// SPDX-License-Identifier: Apache-2.0
//
// Which hue has a project? Of the six, by its name alone, and where two names want one the later
// name takes the next that is free: the same on every page. The seventh project and later are grey.

export const kHues = 6;

// For each name 0 to 5, or -1 = grey.
export function hues(names: readonly string[]): Map<string, number> {
  const taken = new Set<number>();
  const found = new Map<string, number>();
  for (const name of [...names].sort()) {
    let hue = hash(name) % kHues;
    for (let tries = 0; taken.has(hue) && tries < kHues; ++tries) hue = (hue + 1) % kHues;
    found.set(name, taken.size < kHues ? hue : -1);
    taken.add(hue);
  }
  return found;
}

// FNV-1a.
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  }
  return value;
}
