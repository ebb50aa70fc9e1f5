// SPDX-License-Identifier: Apache-2.0
//
// Where the GPU time went, in a browser, over a server with simulated GPUs: axe finds nothing; the page
// says what berth report says; an address shows what it says; what would save most leads to its job.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  berth, end, failures, goneTo, isWhole, kPatience, kScreens, link, openBrowser, opened, port, signedIn, up,
} from './browser_case.js';

before(async () => {
  up();
  await openBrowser();
});

after(end);

async function onPage(page, search = '') {
  await page.goto(`http://localhost:${port}/efficiency${search}`);
  await page.getByRole('heading', { level: 2, name: /GPU (seconds|minutes|hours)$/ }).waitFor();
}

const bar = (page) => page.getByRole('img', { name: /^All GPUs: / });

// --- before any job

test('before any job the bar is free, and a command says how to begin', async () => {
  const page = await signedIn();
  await onPage(page);
  await page.getByRole('heading', { level: 1, name: /^No job asked for a GPU: .* in the last 7 days were free\.$/ }).waitFor();
  assert.equal(await bar(page).getAttribute('aria-label'), 'All GPUs: free 100 %');
  await page.getByText('sums to capacity, exactly').waitFor();
  await page.getByText('berth run -g 1 -- python train.py').waitFor();
  await page.getByText('Nothing is wasted.').waitFor();
  await isWhole(page);
});

// --- once a project took its quota back from a job that saves nothing

async function untilItWorked(name) {
  for (const last = Date.now() + kPatience; Date.now() < last;) {
    if (JSON.parse(berth('show', name, '-o', 'json')).milli_gpu_ms.not_measured > 0) return;
    await new Promise((later) => setTimeout(later, 50));
  }
  assert.fail(`${name} has done no work`);
}

test('a job loses work to a pause', async () => {
  berth('project', 'create', 'vision', '--quota', '8');
  berth('project', 'create', 'speech');
  berth('run', '-d', '-p', 'speech', '-g', '8', '-n', 'asr', '--', 'sleep', '1000');
  await untilItWorked('asr');
  berth('run', '-d', '-p', 'vision', '-g', '8', '-n', 'clip', '--', 'sleep', '1000');
  await untilItWorked('clip');
});

for (const screen of kScreens) {
  test(`axe finds nothing, ${screen.colorScheme}, ${screen.viewport.width} px`, async () => {
    const page = await signedIn(screen);
    for (const by of ['project', 'user', 'job', 'gpu', 'pool', 'day']) {
      await onPage(page, `?by=${by}`);
      await page.getByRole('table').nth(2).waitFor();
      await isWhole(page);
    }
    await page.context().close();
  });
}

test('it says what the API and berth report say', async () => {
  const page = await signedIn();
  const answered = page.waitForResponse((answer) => answer.url().includes('/api/v1/ledger?'));
  await onPage(page);
  const ledger = await (await answered).json();
  const [use, waste] = ledger.sentences.map((sentence) => sentence.text);
  const headline = await page.getByRole('heading', { level: 1 }).innerText();
  assert.equal(headline.replaceAll('\n', ' ').trim(), `${use} ${waste}`);
  assert.match(waste, /^(<1|\d+) % were lost to pauses, most of it asr of /);
  const uses = page.getByRole('region', { name: 'Where it went' });
  const shown = Object.values(ledger.total.gpu_seconds).filter((seconds) => seconds > 0);
  assert.equal(await uses.getByRole('row').count(), shown.length + 1);
  const part = Math.round((100 * ledger.total.gpu_seconds.lost_to_pause) / ledger.total.sum) || '<1';
  await uses.getByRole('row', { name: /^Lost to pauses/ }).getByText(`${part} %`).waitFor();
  const report = berth('report').replaceAll(/\s+/g, ' ');
  assert.match(report, /were lost to pauses, most of it asr of /);
  assert.match(report, /asr of \S+, lost to pause: save on SIGTERM, or more often/);
});

test('what would save most leads to the job that lost it', async () => {
  const page = await signedIn();
  await onPage(page);
  const savings = page.getByRole('region', { name: 'What would save most' });
  await savings.getByText('save on SIGTERM, or more often').waitFor();
  await savings.getByText(/^berth eff \d+$/).waitFor();
  await savings.getByRole('link', { name: 'asr' }).click();
  await page.getByRole('heading', { level: 1, name: /^asr / }).waitFor();
});

test('keys and links change what a row is and the days, and back goes back', async () => {
  const page = await signedIn();
  await page.keyboard.type('ge');
  await goneTo(page, '/efficiency');
  await page.getByRole('row', { name: /^speech/ }).waitFor();
  await page.getByRole('link', { name: 'Job', exact: true }).focus();
  await page.keyboard.press('Enter');
  await goneTo(page, '/efficiency?by=job');
  await page.getByRole('row', { name: /^asr 1/ }).getByRole('link').waitFor();
  await page.getByText('berth report --by job').waitFor();
  await page.getByRole('link', { name: 'Today' }).click();
  await page.waitForURL(/by=job&from=\d{4}-\d\d-\d\d$/);
  await page.getByRole('heading', { level: 1, name: /today \(UTC\)/ }).waitFor();
  await page.getByText(/berth report --by job --since \d{4}/).waitFor();
  await page.goBack();
  await goneTo(page, '/efficiency?by=job');
  await page.getByRole('heading', { level: 1, name: /in the last 7 days/ }).waitFor();
});

test('days before there was a record say so', async () => {
  const page = await signedIn();
  await page.goto(`http://localhost:${port}/efficiency?from=2001-01-01&to=2001-01-31`);
  await page.getByRole('heading', { level: 1, name: 'No GPU time is on record from 2001-01-01 to 2001-01-31.' }).waitFor();
  await page.getByText('berth report --since 2001-01-01 --until 2001-01-31').waitFor();
  await isWhole(page);
});

test('days that end before they begin are refused with what was wanted', async () => {
  const page = await signedIn();
  await page.goto(`http://localhost:${port}/efficiency?from=2001-01-31&to=2001-01-01`);
  await page.getByRole('alert').getByText('wanted a date that is not after').waitFor();
  await isWhole(page);
  await page.getByRole('link', { name: '30 d' }).click();
  await page.getByRole('heading', { level: 1, name: /in the last 30 days/ }).waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

test('the table comes as a file, the same as of berth report --csv', async () => {
  const page = await signedIn();
  await onPage(page, '?by=user');
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV' }).click();
  const file = await coming;
  assert.equal(file.suggestedFilename(), 'gpu-time-by-user.csv');
  const heads = (text) => text.split('\n').map((line) => line.split(',')[0]);
  assert.deepEqual(heads(readFileSync(await file.path(), 'utf8')), heads(berth('report', '--by', 'user', '--csv')));
});

test('prices have a column, and what has none is named', async () => {
  berth('policy', 'set', 'gpu_prices=made-up:2.5');
  const page = await signedIn();
  await onPage(page);
  await page.getByRole('columnheader', { name: 'Cost' }).waitFor();
  await page.getByText(/^(No price is set for|GPUs whose nodes name no model)/).waitFor();
  await isWhole(page);
  berth('policy', 'reset', 'gpu_prices');
});

test('who may only look sees it', async () => {
  const page = await opened(link('--look-only'));
  await page.getByText('Live', { exact: true }).first().waitFor();
  await onPage(page);
  await page.getByRole('region', { name: 'What would save most' }).getByText('asr').first().waitFor();
});

test('a server that says no is said, with a way to ask again', async () => {
  const page = await signedIn();
  let refuses = true;
  await page.route('**/api/v1/ledger?*', (route) => (refuses
    ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"too many questions"}' })
    : route.continue()));
  await page.goto(`http://localhost:${port}/efficiency`);
  await page.getByRole('alert').getByText('too many questions').waitFor();
  await isWhole(page);
  refuses = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await bar(page).waitFor();
});

test('no page complained of anything', () => {
  assert.deepEqual(failures, []);
});
