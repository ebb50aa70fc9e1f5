// SPDX-License-Identifier: Apache-2.0
//
// What would change if, in a browser, over a server with simulated GPUs: axe finds nothing; without a past
// only now is answered; with one, both sides are what the API and berth whatif say; the address shows it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { berth, end, goneTo, isWhole, kPatience, kScreens, openBrowser, port, signedIn, up } from './browser_case.js';

before(async () => {
  up();
  await openBrowser();
  berth('project', 'create', 'vision', '--quota', '4', '--limit', '4');
  berth('project', 'create', 'speech', '--quota', '4');
});

after(end);

const kLimit = '?if=limit+vision%3D8';
const replayButton = (page) => page.getByRole('button', { name: /^Replay the last/ });

async function onPage(page, search = '') {
  await page.goto(`http://localhost:${port}/what-if${search}`);
  await page.getByRole('heading', { level: 2, name: 'The change' }).waitFor();
  await page.getByRole('button', { name: 'Live' }).waitFor();
}

async function replayed(page) {
  await replayButton(page).click();
  await page.getByRole('heading', { level: 2, name: 'Both sides' }).waitFor();
}

test('a change is made by hand, is in the address, and is answered for now', async () => {
  const page = await signedIn();
  await page.keyboard.type('gw');
  await goneTo(page, '/what-if');
  await page.getByRole('heading', { level: 1, name: /^What would change if/ }).waitFor();
  assert.equal(await replayButton(page).isDisabled(), true);
  await page.getByRole('button', { name: 'Limit', exact: true }).click();
  await page.getByRole('combobox', { name: 'project of change 1' }).selectOption('vision');
  await page.getByRole('textbox', { name: /^limit of change 1/ }).fill('8');
  await goneTo(page, '/what-if?if=limit+vision%3D8');
  await page.getByText('berth whatif limit vision=8 --days 7').waitFor();
  await page.getByRole('region', { name: 'Now' }).getByText('No job would start or pause').waitFor();
  await page.getByRole('textbox', { name: /^limit of change 1/ }).fill('much');
  await page.getByText('wanted GPUs, or none').waitFor();
  await isWhole(page);
  await page.getByRole('button', { name: 'Take change 1 away' }).click();
  await goneTo(page, '/what-if');
});

test('without a past there is only now, and a sentence says why', async () => {
  const page = await signedIn();
  await onPage(page, kLimit);
  await replayButton(page).click();
  await page.getByText('There is no answer: no job ran in these days; there is nothing to replay.').waitFor();
  await isWhole(page);
});

test('jobs run one after the other, for a limit keeps them apart', async () => {
  for (const name of ['one', 'two']) berth('run', '-d', '-p', 'vision', '-g', '4', '-n', name, '--', 'sleep', '3');
  const last = Date.now() + kPatience;
  while (JSON.parse(berth('show', 'two', '-o', 'json')).state !== 'succeeded') {
    assert.ok(Date.now() < last, 'two has not ended');
    await new Promise((later) => setTimeout(later, 100));
  }
});

for (const screen of kScreens) {
  test(`axe finds nothing, ${screen.colorScheme}, ${screen.viewport.width} px`, async () => {
    const page = await signedIn(screen);
    await onPage(page, `${kLimit}&if=nodes+${JSON.parse(berth('node', 'ls', '-o', 'json')).items[0].name}%3D2&if=policy+order%3Dage`);
    await isWhole(page);
    await replayed(page);
    await isWhole(page);
    await page.context().close();
  });
}

test('both sides are what the API and berth whatif say, and another change makes them old', async () => {
  const page = await signedIn();
  await onPage(page, kLimit);
  const answered = page.waitForResponse(async (answer) => answer.url().includes('/what-if/replay/') && (await answer.json()).state === 'done');
  await replayed(page);
  const replay = await (await answered).json();
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), replay.sentence);
  await page.getByText(replay.trust).waitFor();
  assert.match(berth('whatif', 'limit', 'vision=8', '--days', '7'), /Both sides are simulated/);
  await page.getByRole('row', { name: /^Mean wait/ }).getByText(/better$/).waitFor({ state: 'attached' });
  const projects = page.getByRole('region', { name: 'By project' });
  assert.equal(await projects.getByRole('row').count(), 2);
  await projects.getByRole('row', { name: /^vision/ }).waitFor();
  await page.getByRole('textbox', { name: /^limit of change 1/ }).fill('6');
  await page.getByText('Below is the answer to another change.').waitFor();
});
