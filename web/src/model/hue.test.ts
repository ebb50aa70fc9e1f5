// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { hues, kHues } from './hue';

const kNames = ['vision', 'nlp', 'speech', 'lab', 'infer', 'robotics', 'seventh', 'eighth'];

test('six projects have six hues, others are grey', () => {
  const six = [...hues(kNames.slice(0, kHues)).values()];
  expect(new Set(six).size).toBe(kHues);
  expect(six).not.toContain(-1);
  const all = [...hues(kNames).values()];
  expect(all.filter((hue) => hue === -1)).toHaveLength(2);
});

test('the order in which projects are listed changes no hue', () => {
  expect(hues([...kNames].reverse())).toEqual(hues(kNames));
});
