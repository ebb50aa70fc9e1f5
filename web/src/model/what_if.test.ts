// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { NodeView } from '../api/nodes.svelte';
import type { ReplayFigures } from '../api/what_if_types';
import { changeOf, changeText, isWrong, pairsOf, policyOf, suppositionsOf, whatIfCommands, type Change } from './what_if';

const change = (text: string) => changeOf(text) as Change;

test('an address says a change as the terminal does', () => {
  expect(change('quota vision=6')).toEqual({ kind: 'quota', name: 'vision', value: '6' });
  expect(changeText(change('policy order.tail=33'))).toBe('policy order.tail=33');
  expect(changeOf('price vision=6')).toBeUndefined();
  expect(changeOf('quota')).toBeUndefined();
});

test('what is no number is wrong, and is not asked', () => {
  expect(['quota a=6', 'limit a=none', 'weight a=0.5', 'nodes n0=-2', 'policy order=age'].map(change).some(isWrong)).toBe(false);
  expect(['quota a=', 'weight a=none', 'nodes n0=0', 'nodes n0=1.5', 'policy order='].map(change).every(isWrong)).toBe(true);
  expect(suppositionsOf([change('quota a=x'), change('weight b=0.5'), change('limit b=none')], [])).toEqual([
    { what: 'weight', name: 'b', weight_thousandths: 500 }, { what: 'limit', name: 'b', gpus: -1 },
  ]);
});

test('fewer nodes are the last of those that are alike', () => {
  const nodes = ['n2', 'n10', 'n1'].map((name) => ({ name, gpus: 8, gpu_model: 'H100', pool: 'default' }) as NodeView);
  nodes.push({ name: 'n3', gpus: 4, gpu_model: 'H100', pool: 'default' } as NodeView);
  expect(suppositionsOf([change('nodes n1=-2')], nodes)).toEqual([{ what: 'drain', name: 'n2' }, { what: 'drain', name: 'n10' }]);
  expect(suppositionsOf([change('nodes n1=3')], nodes)).toEqual([{ what: 'node', name: 'n1', count: 3 }]);
});

test('settings are asked beside, and a command says what one command can', () => {
  expect(policyOf([change('policy order=age'), change('quota a=6')])).toEqual({ order: 'age' });
  expect(whatIfCommands(['quota a=6', 'weight b=2'], 7)).toEqual([
    'berth whatif quota a=6 weight b=2', 'berth whatif quota a=6 weight b=2 --days 7']);
  expect(whatIfCommands(['policy order=age'], 30)).toEqual(['berth whatif policy order=age --days 30']);
  expect(whatIfCommands(['policy order=age', 'quota a=6'], 30)).toEqual(['berth help whatif']);
});

test('pairs have a difference, and say whether it is better', () => {
  const side = (wait: number, pauses: number, used: number): ReplayFigures => ({
    jobs: 4, mean_wait: wait, p95_wait: wait, mean_completion: 600, pauses, lost_gpu_ms: 0, used_gpu_ms: used, capacity_gpu_ms: 1000,
  });
  const [wait, , end, pauses, , use] = pairsOf({ project: '', really: side(0, 0, 0), as_set: side(720, 1, 500), changed: side(240, 3, 600) });
  expect(wait).toMatchObject({ really: '0 s', difference: '\u22128 min', isBetter: true, asSet: { text: '12 min', part: 100 } });
  expect(wait?.changed.part).toBeCloseTo(33.3, 1);
  expect(end).toMatchObject({ difference: '', isBetter: undefined });
  expect(pauses).toMatchObject({ difference: '+2', isBetter: false });
  expect(use).toMatchObject({ difference: '+10 %', isBetter: undefined });
});

test('what jobs that never end would have waited is no gain', () => {
  const side = (jobs: number, wait: number): ReplayFigures => ({
    jobs, mean_wait: wait, p95_wait: wait, mean_completion: 600, pauses: 0, lost_gpu_ms: 0, used_gpu_ms: 0, capacity_gpu_ms: 1000,
  });
  const [some] = pairsOf({ project: '', really: side(4, 60), as_set: side(4, 60), changed: side(2, 1) });
  expect(some).toMatchObject({ difference: 'of fewer jobs', isBetter: undefined });
  const [none] = pairsOf({ project: '', really: side(4, 60), as_set: side(4, 60), changed: side(0, 0) });
  expect(none?.changed.text).toBe('-');
});
