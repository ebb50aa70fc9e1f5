// SPDX-License-Identifier: Apache-2.0
//
// The timeline in a browser, over a server with simulated GPUs: axe finds nothing; a pause is hatched and lasts as
// long as the API says; keys, address and table say the same. Then over made-up spans of 10,000 jobs in 30 days:
// frames are as fast as a person looks.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  berth, end, failures, goneTo, isWhole, kPatience, kScreens, openBrowser, port, signedIn, up,
} from './browser_case.js';
import { madeUpNodes, madeUpSpans } from './made_up_spans.js';

// Of a machine without a graphics card and with two cores, of which other tests use one: what a person's machine has
// to do in 16 ms.
const kSlower = 3;
const kFrameMs = 16 * kSlower;
const kAxis = 26; // px, as below: of src/draw/timeline_layout.ts
const kRow = 24;

const spansOf = () => JSON.parse(berth('timeline', '-o', 'json')).items;
let paused;

before(async () => {
  up('sim:8x80G');
  berth('project', 'create', 'nlp', '--quota', '4');
  berth('run', '-d', '-p', 'nlp', '-g', '8', '-n', 'bert', '--', 'sh', '-c', "trap 'exit 0' TERM; while :; do sleep 0.1; done");
  const bert = spansOf().find(({ name }) => name === 'bert').id;
  while (spansOf().find(({ id }) => id === bert).state !== 'running') continue;
  berth('pause', String(bert));
  while ((paused = spansOf().find(({ id }) => id === bert)).state !== 'paused') continue;
  berth('run', '-d', '-p', 'nlp', '-g', '4', '-n', 'clip', '--expected-time', '10m', '--', 'sleep', '1000');
  await openBrowser();
});

after(end);

async function onTimeline(page, search = '') {
  await page.goto(`http://localhost:${port}/timeline${search}`);
  await page.getByRole('heading', { level: 1, name: /^In the last .*: 2 starts, 1 pause/ }).waitFor();
}

for (const screen of kScreens) {
  test(`axe finds nothing on the timeline, ${screen.colorScheme}, ${screen.viewport.width} px`, async () => {
    const page = await signedIn(screen);
    for (const search of ['', '?rows=jobs&minutes=30', '?rows=projects&minutes=120&q=bert']) {
      await onTimeline(page, search);
      await page.getByRole('application').waitFor();
      await isWhole(page);
    }
    await page.keyboard.press('T');
    await page.getByRole('table').getByText('on hold').first().waitFor();
    await isWhole(page);
    await page.context().close();
  });
}

// The px of its axis at which a time is.
async function placeOf(page, time, minutes) {
  const box = await page.getByRole('application').boundingBox();
  const left = 44; // names are short
  const at = new URL(page.url()).searchParams.get('at');
  return { box, x: left + ((Date.parse(time) - Date.parse(at)) / (minutes * 60_000)) * (box.width - left) };
}

test('a pause is hatched, and from when it is is what the API and berth show say', async () => {
  const page = await signedIn();
  const pause = paused.spans.at(-1);
  const at = new Date(Date.parse(pause.from) - 60_000).toISOString();
  await page.goto(`http://localhost:${port}/timeline?rows=jobs&minutes=5&at=${at}`);
  const { box, x } = await placeOf(page, pause.from, 5);
  const from = new Date(pause.from).toTimeString().slice(0, 8);
  const readout = page.getByText(`bert of nlp: on hold ${from} to now`);
  const y = kAxis + 1.5 * kRow; // clip is newer, and above
  while (!(await readout.isVisible())) {
    await page.mouse.move(box.x + x + 10, box.y + y);
    await page.mouse.move(box.x + x + 12, box.y + y);
  }
  assert.ok(berth('show', String(paused.id)).includes(from));
  await page.mouse.move(box.x + x + 12, box.y - 20);
  // Along the middle of the bar stripes come and go; before it there are none.
  const colours = await page.evaluate(({ x, y }) => {
    const canvas = document.querySelector('canvas');
    const pen = canvas.getContext('2d');
    const along = (from) => new Set(Array.from({ length: 12 }, (_, step) => pen.getImageData(Math.round(from + step), y, 1, 1).data.join()));
    return { pause: along(x + 4).size, before: along(x - 30).size };
  }, { x, y: kAxis + kRow + 8 });
  assert.ok(colours.pause >= 3 && colours.before <= 2, JSON.stringify(colours));
});

test('the table says the same times', async () => {
  const page = await signedIn();
  await onTimeline(page);
  await page.keyboard.press('T');
  for (const [state, word] of [['running', 'running'], ['paused', 'on hold']]) {
    const { from } = paused.spans.findLast((span) => span.state === state);
    const row = page.getByRole('row').filter({ has: page.locator(`time[datetime="${from}"]`) }).filter({ hasText: word });
    await row.getByRole('link', { name: 'bert' }).first().waitFor();
  }
  await page.getByRole('row', { name: /clip.*expected to end.*about/ }).waitFor();
});

test('the keyboard goes from span to span, and what they are is read out', async () => {
  const page = await signedIn();
  await page.keyboard.type('gt');
  await page.getByRole('link', { name: 'Jobs' }).click();
  await goneTo(page, '/timeline?rows=jobs');
  await page.getByRole('application').focus();
  const said = (words) => page.locator('[aria-live]').getByText(words).waitFor();
  await page.keyboard.press('ArrowDown');
  await said(/^clip of nlp: expected to end about/);
  await page.keyboard.press('ArrowLeft');
  await said(/^clip of nlp: running .* to now .*, 4 GPUs on sim1/);
  await page.keyboard.press('ArrowDown');
  await said(/^bert of nlp: /);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /^bert has been paused/ }).waitFor();
});

test('the address says rows, time and highlight; keys move in time and come back to now', async () => {
  const page = await signedIn();
  await onTimeline(page, '?rows=projects&minutes=120&q=bert');
  await page.getByRole('status').getByText('1 job').waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('[');
  await page.waitForURL(/at=.*q=bert/);
  await page.keyboard.press('-');
  await page.waitForURL(/minutes=180/);
  await page.getByText(/berth timeline --from 20/).waitFor();
  await page.keyboard.press('t');
  await goneTo(page, '/timeline?rows=projects&minutes=180&q=bert');
  await page.getByText('berth timeline --from 112m --to 68m').waitFor();
  await page.goto(`http://localhost:${port}/timeline?minutes=60&at=2020-01-01T00:00:00.000Z`);
  await page.getByText('No job ran in this time.').waitFor();
});

test('an answer that is no answer is said, and asked for again', async () => {
  const page = await signedIn();
  let refuses = true;
  await page.route('**/api/v1/spans?*', (route) => (refuses
    ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"too many questions"}' })
    : route.continue()));
  await page.goto(`http://localhost:${port}/timeline`);
  await page.getByRole('alert').getByText('too many questions').waitFor({ timeout: kPatience });
  await isWhole(page);
  refuses = false;
  await page.getByRole('heading', { level: 1, name: /2 starts/ }).waitFor();
});

// --- 10,000 jobs in 30 days on 500 nodes

async function frames(page, acts) {
  await page.evaluate(() => performance.clearMeasures('timeline-frame'));
  for (const act of acts) {
    await act();
    await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
  }
  const durations = await page.evaluate(() =>
    performance.getEntriesByName('timeline-frame', 'measure').map(({ duration }) => duration));
  return durations.sort((one, other) => one - other);
}

const at95 = (sorted) => sorted[Math.floor(sorted.length * 0.95)] ?? 0;

test('10,000 jobs of 30 days are panned, zoomed and scrolled as fast as a person looks', async () => {
  const page = await signedIn({ viewport: { width: 1440, height: 900 } });
  const spans = madeUpSpans({ nodes: 500, hours: 30 * 24, now: Date.now(), jobs: 27_000 });
  assert.ok(spans.items.length > 9_000, String(spans.items.length));
  await page.route('**/api/v1/map/topology', (route) =>
    route.fulfill({ contentType: 'application/json', body: JSON.stringify(madeUpNodes(500)) }));
  await page.route('**/api/v1/spans?*', (route) => route.fulfill({ contentType: 'application/json', body: JSON.stringify(spans) }));
  for (const rows of ['nodes', 'jobs']) {
    await page.goto(`http://localhost:${port}/timeline?rows=${rows}&minutes=43200`);
    const canvas = page.getByRole('application');
    await canvas.and(page.getByLabel(/Timeline of [\d,]{3,} rows/)).waitFor();
    const box = await canvas.boundingBox();
    const middle = { x: box.x + box.width / 2, y: box.y + 200 };
    await page.mouse.move(middle.x, middle.y);
    const steps = Array.from({ length: 40 }, (_, step) => step);
    await page.mouse.down();
    const panned = await frames(page, steps.map((step) => () => page.mouse.move(middle.x + 4 * step, middle.y)));
    await page.mouse.up();
    const scrolled = await frames(page, steps.map(() => () => page.mouse.wheel(0, 60)));
    await page.keyboard.down('Control');
    const zoomed = await frames(page, steps.map((step) => () => page.mouse.wheel(0, step < 20 ? -60 : 60)));
    await page.keyboard.up('Control');
    const said = (list) => `${list.length} frames, median ${(list[list.length >> 1] ?? 0).toFixed(1)} ms, p95 ${at95(list).toFixed(1)} ms`;
    console.log(`${rows}, pan: ${said(panned)}\n${rows}, scroll: ${said(scrolled)}\n${rows}, zoom: ${said(zoomed)}`);
    for (const list of [panned, scrolled, zoomed]) {
      assert.ok(list.length >= 10, `only ${list.length} frames`);
      assert.ok(at95(list) <= kFrameMs, said(list));
    }
  }
});

test('no page complained of anything', () => {
  assert.deepEqual(failures, []);
});
