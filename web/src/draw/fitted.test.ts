// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { fitted } from './fitted';

const wide = (text: string) => text.length;

test.each([
  ['what has room is whole', 'sim1', 4, 'sim1'],
  ['else its begin is', 'free, no waiting job fits', 10, 'free, no…'],
  ['no blank stands before the sign', 'free, no', 7, 'free,…'],
  ['where not even a letter has room there is nothing', 'sim1', 1, ''],
])('%s', (_, text, width, shown) => expect(fitted(text, width, wide)).toBe(shown));
