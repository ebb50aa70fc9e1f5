// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { addressOf, viewOf, type View } from './view';

const kAll: View = {
  page: 'queue', state: 'running', reason: 'QuotaFair', project: 'a b&c', text: 'user:é', sort: 'gpus',
};

test('an address says all of a view, and is relative', () => {
  const address = addressOf(kAll);
  expect(address.startsWith('./queue?')).toBe(true);
  expect(viewOf('/some/prefix/queue', address.slice(address.indexOf('?')))).toEqual(kAll);
});

test('what is the default is not said', () => {
  expect(addressOf({ ...viewOf('/queue', '') })).toBe('./queue');
  expect(addressOf(viewOf('/', ''))).toBe('./');
});

test('what an address says and is not known is the default', () => {
  const view = viewOf('/queue', '?state=lost&sort=luck');
  expect(view.state).toBe('waiting');
  expect(view.sort).toBe('position');
  expect(viewOf('/no-such-page', '').page).toBe('home');
});
