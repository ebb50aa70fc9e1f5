// SPDX-License-Identifier: Apache-2.0
//
// Nodes in a browser, over a server with simulated GPUs: axe finds nothing; the page says what berth
// node ls says; a node is drained with its effect shown before, and set ready again by Undo.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  berth, end, failures, goneTo, isWhole, kScreens, link, openBrowser, opened, port, signedIn, up,
} from './browser_case.js';

before(async () => {
  up('sim:3x4x80G');
  berth('run', '-d', '-g', '3', '-n', 'bert', '--', 'sleep', '1000');
  await openBrowser();
});

after(end);

const kAllReady = 'All 3 nodes are ready, with 12 GPUs.';

async function onPage(page, search = '') {
  await page.goto(`http://localhost:${port}/nodes${search}`);
  await page.getByRole('row').nth(1).waitFor();
}

// Of the node that bert is on.
const row = (page) => page.getByRole('row', { name: /bert/ });
const sick = (page) => page.getByRole('region', { name: 'Take no work, or not on all GPUs' });

test('where all is well that is said, and what is on each node', async () => {
  const page = await signedIn();
  await page.keyboard.type('gn');
  await goneTo(page, '/nodes');
  await page.getByRole('heading', { level: 1, name: kAllReady }).waitFor();
  await row(page).getByText('3 of 4').waitFor();
  assert.equal(await page.getByRole('row').count(), 4);
  assert.equal(await sick(page).count(), 0);
  await row(page).getByRole('link', { name: 'bert' }).click();
  await page.getByRole('heading', { level: 1, name: /^bert / }).waitFor();
});

test('a node is drained with its effect shown before, comes first with who is hit, and is set ready by Undo', async () => {
  const page = await signedIn();
  await onPage(page);
  const act = row(page).getByRole('button', { name: /^Drain/ });
  const name = (await act.getAttribute('aria-label')).slice('Drain '.length);
  await act.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: `Drain ${name}` });
  await dialog.getByText('It takes no new work: 1 free GPU cannot be had. 1 job on it goes on until it ends.').waitFor();
  await isWhole(page);
  await dialog.getByRole('button', { name: 'Drain' }).click();
  await page.getByRole('heading', { level: 1, name: new RegExp(`^${name} is drained: 4 of 12 GPUs take no new work. 1 job is still on it.$`) }).waitFor();
  await sick(page).getByRole('row', { name: /bert/ }).getByText('drained: it takes no new work').waitFor();
  assert.match(berth('node', 'ls'), new RegExp(`${name} .*drained`, 'i'));
  await page.getByRole('status').getByText('it takes no new work').waitFor();
  await isWhole(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { level: 1, name: kAllReady }).waitFor();
  await page.getByText('It is as it was.').waitFor();
});

test('axe finds nothing with a sick node in any theme and width', async () => {
  berth('node', 'drain', 'n2');
  for (const screen of kScreens) {
    const page = await signedIn(screen);
    await onPage(page);
    await sick(page).waitFor();
    await isWhole(page);
    await page.context().close();
  }
  berth('node', 'ready', 'n2');
});

test('a filter is in the address, and a name leads to the node on the map', async () => {
  const page = await signedIn();
  await onPage(page, '?q=n2');
  assert.equal(await page.getByRole('row').count(), 2);
  await page.getByLabel('Filter').fill('nothing-like-this');
  await page.getByText('No node is like this.').waitFor();
  await page.getByLabel('Filter').fill('n1');
  await goneTo(page, '/nodes?q=n1');
  await page.getByRole('link', { name: 'n1' }).click();
  await goneTo(page, '/map?sel=n1');
});

test('who may only look sees nodes, and nothing to do to them', async () => {
  const page = await opened(link('--look-only'));
  await page.getByText('Live', { exact: true }).first().waitFor();
  await onPage(page);
  await row(page).getByText('3 of 4').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Drain/ }).count(), 0);
});

test('a server that says no is said, with a way to ask again', async () => {
  const page = await signedIn();
  let refuses = true;
  await page.route('**/api/v1/nodes', (route) => (refuses
    ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"too many questions"}' })
    : route.continue()));
  await page.goto(`http://localhost:${port}/nodes`);
  await page.getByRole('alert').getByText('too many questions').waitFor();
  await isWhole(page);
  refuses = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: kAllReady }).waitFor();
});

test('no page complained of anything', () => {
  assert.deepEqual(failures, []);
});
