// SPDX-License-Identifier: Apache-2.0
//
// The pages as a browser shows them, over a server with simulated GPUs: axe finds nothing in either
// theme and width, keys lead where they say, an address shows what it says, a restart of the server
// turns the chip and loses nothing, any prefix holds.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import {
  berth, end, failures, goneTo, isWhole, kPatience, kScreens, link, openBrowser, opened, port, signedIn, up,
} from './browser_case.js';

before(async () => {
  up();
  berth('project', 'create', 'nlp', '--quota', '2');
  berth('project', 'create', 'vision', '--quota', '4');
  berth('project', 'create', 'pages');
  for (const [project, gpus, name] of [['nlp', 4, 'bert'], ['vision', 2, 'resnet'],
    ['nlp', 8, 'large'], ['nlp', 8, 'larger']]) {
    berth('run', '-d', '-p', project, '-g', String(gpus), '-n', name, '--', 'sleep', '1000');
  }
  await openBrowser();
});

after(end);

test('who has not signed in is asked to, and a link signs in once', async () => {
  const page = await opened(`http://localhost:${port}/`);
  await page.getByText('Sign in.').waitFor();
  await isWhole(page);
  const used = link();
  await page.goto(used);
  await page.getByText('2 of your 4 jobs run; 2 wait.').waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await page.reload();
  await page.getByText('2 of your 4 jobs run; 2 wait.').waitFor();
  const other = await opened(used);
  await other.getByRole('alert').getByText('opened before').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Sign in.').waitFor();
});

function keptToken(page) {
  return page.evaluate(() => Object.values({ ...localStorage }).find((value) => value.startsWith('bts_')));
}

async function statusOf(page, token) {
  return page.evaluate(async (shown) => (await fetch('api/v1/me', {
    headers: { Authorization: `Bearer ${shown}` },
  })).status, token);
}

async function isSignedOut(page) {
  await page.getByText('Sign in.').waitFor();
  assert.equal(await page.getByRole('row').count(), 0);
  assert.equal(await page.getByText('Who owes whom').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0);
  await isWhole(page);
}

test('signing out clears the page beside another user who shows wrong tokens', async () => {
  const page = await signedIn();
  const left = await keptToken(page);
  const statuses = await Promise.all(Array.from({ length: 14 }, () => statusOf(page, 'wrong')));
  assert.ok(statuses.includes(429), String(statuses));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await isSignedOut(page);
  assert.notEqual(await statusOf(page, left), 200);
  await page.reload();
  await isSignedOut(page);
  assert.equal(await page.getByText('429').count(), 0);
});

test('a session that could not be ended is said to live on, and is ended when it is tried', async () => {
  const page = await signedIn();
  const left = await keptToken(page);
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('alert').getByText('the session lives on').waitFor();
  await isSignedOut(page);
  await page.context().setOffline(false);
  assert.equal(await statusOf(page, left), 200);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('alert').waitFor({ state: 'hidden' });
  assert.notEqual(await statusOf(page, left), 200);
});

test('a link opened while signed in ends the session that it takes the place of', async () => {
  const page = await signedIn();
  const before = await keptToken(page);
  const ended = page.waitForResponse((answer) => answer.request().method() === 'DELETE');
  await page.goto(link());
  assert.equal((await ended).status(), 200);
  await page.getByText('2 of your 4 jobs run; 2 wait.').waitFor();
  assert.notEqual(await keptToken(page), before);
  assert.notEqual(await statusOf(page, before), 200);
});

for (const screen of kScreens) {
  test(`axe finds nothing, ${screen.colorScheme}, ${screen.viewport.width} px`, async () => {
    const page = await signedIn(screen);
    await page.getByText('2 of your 4 jobs run; 2 wait.').waitFor();
    await isWhole(page);
    for (const [state, words] of [['waiting', 'larger'], ['running', 'bert'], ['ended', 'have ended']]) {
      await page.goto(`http://localhost:${port}/queue?state=${state}`);
      await page.getByRole('main').getByText(words).first().waitFor();
      await isWhole(page);
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await isWhole(page);
  });
}

test('keys lead to pages, to the filter and back', async () => {
  const page = await signedIn();
  await page.keyboard.type('gq');
  await goneTo(page, '/queue');
  await page.keyboard.press('/');
  await page.keyboard.type('name-that-no-job-has');
  await page.getByText('No job is like this.').waitFor();
  await goneTo(page, '/queue?q=name-that-no-job-has');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.type('gh');
  await goneTo(page, `${port}/`);
  await page.getByText('Who owes whom').waitFor();
});

test('an address shows what it says, and back goes back', async () => {
  const page = await signedIn();
  await page.goto(`http://localhost:${port}/queue?state=running&project=nlp`);
  await page.getByRole('row', { name: /bert/ }).waitFor();
  assert.equal(await page.getByRole('row', { name: /resnet/ }).count(), 0);
  await page.getByRole('link', { name: /^Waiting/ }).click();
  await page.getByRole('row', { name: /larger/ }).waitFor();
  await goneTo(page, '/queue?project=nlp');
  await page.goBack();
  await page.getByRole('row', { name: /bert/ }).waitFor();
  await goneTo(page, '/queue?state=running&project=nlp');
});

test('the queue says when a job starts, or that this is not known', async () => {
  const page = await signedIn();
  await page.goto(`http://localhost:${port}/queue`);
  const row = page.getByRole('row', { name: /larger/ });
  await row.getByText(/no estimate yet|^about |^after /).waitFor();
});

// One job of each kind, in a project of its own; `done` gets their numbers.
async function withJobs(done) {
  const submit = (...words) => Number(berth('run', '-d', '-p', 'pages', ...words).trim());
  const speaks = submit('-g', '1', '-n', 'speaks', '--expected-time', '1h', '--', 'sh', '-c',
    'seq 1 3000; echo "<b>no markup</b>"; sleep 1000');
  const ended = submit('-g', '0', '--cpus', '1', '-n', 'ended', '--', 'sh', '-c', 'echo last words; exit 3');
  const held = submit('-g', '1', '-n', 'rests', '--', 'sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.1; done');
  const waits = submit('-g', '8', '-n', 'queues', '--', 'sleep', '1000');
  try {
    await untilState(held, 'running');
    berth('pause', String(held));
    await untilState(held, 'paused');
    await untilState(ended, 'failed');
    await done({ speaks, ended, held, waits });
  } finally {
    for (const job of [speaks, held, waits]) berth('cancel', String(job));
    for (const job of [speaks, held, waits]) await untilState(job, 'cancelled');
  }
}

async function untilState(job, state) {
  for (const end = Date.now() + kPatience; Date.now() < end;) {
    if (JSON.parse(berth('show', String(job), '-o', 'json')).state === state) return;
    await new Promise((later) => setTimeout(later, 50));
  }
  assert.fail(`job ${job} is not ${state}`);
}

test('the page of a job says how it is, in every state, theme and width', async () => {
  await withJobs(async ({ speaks, ended, held, waits }) => {
    for (const screen of kScreens) {
      const page = await signedIn(screen);
      const open = (address) => page.goto(`http://localhost:${port}/${address}`);
      for (const [job, sentence, section] of [
        [speaks, /^speaks has run for .* and ends in about/, 'Log'],
        [waits, /^queues has waited for/, 'Why it waits'],
        [held, /^rests has been paused for .*, until a user resumes it\.$/, 'Pause receipt'],
        [ended, /^ended failed .* with exit code 3/, 'Log'],
      ]) {
        await open(`job?id=${job}`);
        await page.getByRole('heading', { level: 1, name: sentence }).waitFor();
        await page.getByRole('heading', { level: 2, name: section }).waitFor();
        await page.getByRole('img', { name: /^Spans/ }).waitFor();
        await isWhole(page);
        for (const tab of ['logs', 'attempts', 'events', 'spec']) {
          await open(`job?id=${job}&tab=${tab}`);
          await page.getByRole('heading', { level: 1, name: sentence }).waitFor();
          if (tab !== 'logs') await page.getByRole('row').nth(1).waitFor();
          await isWhole(page);
        }
      }
      await page.context().close();
    }
  });
});

test('rows lead to the page of a job, and its keys to its parts and back', async () => {
  const page = await signedIn();
  await page.goto(`http://localhost:${port}/queue?state=running`);
  await page.getByRole('row', { name: /bert/ }).getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: /^bert has run for/ }).waitFor();
  await page.waitForURL(/\/job\?id=\d+$/);
  assert.equal(await page.title(), `Job ${new URL(page.url()).searchParams.get('id')} \u00b7 Berth`);
  await page.keyboard.press('l');
  await page.waitForURL(/tab=logs$/);
  await page.keyboard.press('Escape');
  await page.waitForURL(/\/job\?id=\d+$/);
  await page.keyboard.press('p');
  const dialog = page.getByRole('dialog', { name: 'Pause bert' });
  await dialog.getByText('It leaves 4 GPUs').waitFor();
  await isWhole(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Cancel bert' }).waitFor();
  await page.getByRole('button', { name: 'Leave it as it is' }).click();
  await page.keyboard.press('Escape');
  await page.waitForURL(/\/queue/);
});

test('a job is paused and resumed from its page, and says what both had', async () => {
  await withJobs(async ({ held }) => {
    const page = await signedIn();
    await page.goto(`http://localhost:${port}/job?id=${held}`);
    await page.getByText('a user asked for it').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('heading', { level: 1, name: /^rests has run for/ }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('heading', { level: 1, name: /^rests has been paused/ }).waitFor();
    await page.getByRole('link', { name: 'Attempts 2' }).click();
    await page.getByRole('link', { name: '2, its log' }).waitFor();
  });
});

test('a log begins at its end, is searched, and is text whatever a job prints', async () => {
  await withJobs(async ({ speaks }) => {
    const page = await signedIn();
    await page.goto(`http://localhost:${port}/job?id=${speaks}&tab=logs`);
    const log = page.getByRole('log');
    await log.getByText('<b>no markup</b>').waitFor();
    assert.ok(await log.evaluate((box) => box.scrollTop + box.clientHeight > box.scrollHeight - 40));
    await page.getByLabel('Search in the log').fill('1234');
    await page.getByText('1 line', { exact: true }).waitFor();
    assert.equal(await log.getByText('1234', { exact: true }).count(), 1);
  });
});

test('who may only look sees a job and its log, and nothing to do', async () => {
  const page = await opened(link('--look-only'));
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.goto(`http://localhost:${port}/job?id=1`);
  await page.getByRole('heading', { level: 1, name: /^bert has run for/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: /Pause|Cancel/ }).count(), 0);
  await page.getByRole('link', { name: 'Logs' }).waitFor();
  await page.keyboard.press('c');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await isWhole(page);
});

test('a job that does not exist is said to be unknown', async () => {
  const page = await signedIn();
  for (const [address, words] of [['job?id=99999', 'There is no job 99999.'], ['job?id=x', 'No job is named here.']]) {
    await page.goto(`http://localhost:${port}/${address}`);
    await page.getByText(words).waitFor();
    await isWhole(page);
  }
});

// Projects of their own, of which one borrows what another one may want back; `done` gets the job that
// would have to go.
async function withQuotas(done) {
  const submit = (...words) => Number(berth('run', '-d', ...words, '--', 'sh', '-c',
    'trap "exit 0" TERM; while :; do sleep 0.1; done').trim());
  berth('project', 'create', 'owner', '--quota', '0');
  berth('project', 'create', 'guest', '--quota', '0');
  const guest = submit('-p', 'guest', '-g', '1', '-n', 'visits');
  const second = submit('-p', 'guest', '-g', '1', '-n', 'visits-too');
  await untilState(guest, 'running');
  await untilState(second, 'running');
  const wants = submit('-p', 'owner', '-g', '1', '-n', 'wants');
  try {
    await done({ guest, second, wants });
  } finally {
    for (const job of [wants, second, guest]) {
      try { berth('cancel', String(job)); } catch { /* it has ended */ }
      await untilState(job, 'cancelled');
    }
    berth('project', 'rm', 'owner');
    berth('project', 'rm', 'guest');
  }
}

test('the page of projects says who borrows, in every theme and width', async () => {
  for (const screen of kScreens) {
    const page = await signedIn(screen);
    await page.goto(`http://localhost:${port}/projects`);
    await page.getByRole('heading', { level: 1, name: /^nlp borrows 2 GPUs\. vision lends 2\./ }).waitFor();
    await page.getByText('Quotas sum to 6 of 8 GPUs.').waitFor();
    await page.getByRole('heading', { level: 2, name: /^How nlp comes to 4/ }).waitFor();
    await page.getByRole('img', { name: /vision lends 2; .*nlp borrows 2/ }).waitFor();
    await isWhole(page);
    await page.keyboard.press('e');
    const dialog = page.getByRole('dialog', { name: 'Rights of nlp' });
    await dialog.getByRole('textbox', { name: /^Quota/ }).fill('3');
    await dialog.getByRole('status').getByText(/job/).waitFor();
    await isWhole(page);
    await page.context().close();
  }
});

test('the address holds the project, keys lead through projects and to the page', async () => {
  const page = await signedIn();
  await page.keyboard.type('gp');
  await goneTo(page, '/projects');
  await page.goto(`http://localhost:${port}/projects?project=vision`);
  await page.getByRole('heading', { level: 2, name: /^How vision comes to 2/ }).waitFor();
  await page.getByText('berth fairshare vision').waitFor();
  await page.keyboard.press('k');
  await goneTo(page, 'project=nlp');
  await page.getByRole('heading', { level: 2, name: /^How nlp comes to 4/ }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 2, name: /^How vision/ }).waitFor();
  await page.goto(`http://localhost:${port}/projects?pool=nowhere`);
  await page.getByText('There is no pool nowhere.').waitFor();
  await isWhole(page);
});

test('a quota is previewed, applied and taken back without a pointer', async () => {
  await withQuotas(async ({ guest, second, wants }) => {
    const page = await signedIn();
    await page.goto(`http://localhost:${port}/projects?project=owner`);
    await page.getByRole('heading', { level: 2, name: /^How owner comes to 0/ }).waitFor();
    await page.keyboard.press('e');
    const dialog = page.getByRole('dialog', { name: 'Rights of owner' });
    await dialog.getByRole('textbox', { name: /^Quota/ }).and(page.locator(':focus')).waitFor();
    await page.waitForFunction(() => document.activeElement.selectionEnd === 1);
    await page.keyboard.type('1');
    const said = dialog.getByRole('status');
    await said.getByText('1 job would pause, and 1 would start').waitFor();
    const goes = Number(/job\?id=(\d+)/.exec(await dialog.getByRole('listitem')
      .filter({ hasText: 'would pause for owner/wants' }).getByRole('link').getAttribute('href'))[1]);
    assert.ok([guest, second].includes(goes), `${goes} is paused`);
    await dialog.getByText('berth whatif quota owner=1').or(dialog.getByText("berth whatif quota 'owner=1'")).waitFor();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('The quota of owner is 1, was 0.').waitFor();
    await untilState(goes, 'paused');
    await untilState(wants, 'running');
    await page.getByRole('heading', { level: 2, name: 'Receipts of owner' }).waitFor();
    await page.getByRole('row', { name: /owner asked 1 GPU for owner\/wants; guest gave those of guest\/visits/ }).waitFor();
    await isWhole(page);
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByText('The quota of owner is 0, was 1.').waitFor();
    assert.equal(JSON.parse(berth('project', 'ls', '-o', 'json')).items
      .find((project) => project.name === 'owner').rights.quota, 0);
  });
});

test('what was changed meanwhile is shown, and what was typed stays', async () => {
  const page = await signedIn();
  await page.goto(`http://localhost:${port}/projects?project=pages`);
  await page.getByRole('button', { name: 'Edit quota, with preview' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: /^Limit/ }).fill('7');
  await dialog.getByRole('status').getByText('No job would start or pause').waitFor();
  berth('project', 'set', 'pages', '--limit', '5');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.getByRole('alert').getByText('The limit of pages is 5, was none').waitFor();
  assert.equal(await dialog.getByRole('textbox', { name: /^Limit/ }).inputValue(), '7');
  await isWhole(page);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('The limit of pages is 7, was 5.').waitFor();
  // The way back is a change like any other: of what was read.
  berth('project', 'set', 'pages', '--limit', '6');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('alert').getByText('has changed since it was read').waitFor();
  await isWhole(page);
  berth('project', 'set', 'pages', '--limit', 'none');
});

test('who may only look sees who borrows, and no form', async () => {
  const page = await opened(/http:\S+/.exec(berth('web', '--look-only'))[0]);
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.goto(`http://localhost:${port}/projects`);
  await page.getByRole('heading', { level: 2, name: /^How nlp comes to 4/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: /Edit/ }).count(), 0);
  await page.keyboard.press('e');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await isWhole(page);
});

test('a job on hold has a state of its own, and does not wait', async () => {
  berth('run', '-d', '-p', 'vision', '-g', '8', '-n', 'held', '--', 'sleep', '1000');
  const held = /\d+/.exec(berth('ls', '-q', '-p', 'vision').trim().split('\n').at(-1))[0];
  berth('pause', held);
  try {
    const page = await signedIn();
    await page.goto(`http://localhost:${port}/queue`);
    await page.getByRole('row', { name: /larger/ }).waitFor();
    await page.getByRole('heading', { name: /^2 jobs wait/ }).waitFor();
    await page.getByRole('link', { name: 'Waiting 2', exact: true }).waitFor();
    await page.getByRole('link', { name: 'On hold 1', exact: true }).click();
    await page.getByRole('row', { name: /held/ }).getByText(/^On hold/).waitFor();
    await goneTo(page, '/queue?state=hold');
    await isWhole(page);
  } finally {
    berth('cancel', held);
  }
});

test('a long name is cut, is whole in its title, and leaves the columns where they are', async () => {
  const kLong = 'n'.repeat(200);
  berth('project', 'create', kLong);
  berth('run', '-d', '-p', kLong, '-g', '1', '-n', kLong, '--', 'sleep', '1000');
  try {
    for (const width of [1440, 800, 320]) {
      const page = await signedIn({ viewport: { width, height: 900 } });
      for (const path of ['', 'queue?state=running', `queue?project=${kLong}`, 'queue']) {
        await page.goto(`http://localhost:${port}/${path}`);
        await page.getByRole('main').getByText(/job/i).first().waitFor();
        if (!path.includes('project')) await page.getByRole('row').nth(1).waitFor();
        await isWhole(page);
        const wide = await page.evaluate(() => {
          const main = document.getElementById('main');
          return main.scrollWidth - main.clientWidth;
        });
        assert.ok(wide <= 0, `${width} px, /${path.slice(0, 20)}: ${wide} px too wide`);
      }
      await page.goto(`http://localhost:${port}/queue?state=running`);
      const name = page.getByRole('row').getByTitle(kLong, { exact: true }).first();
      await name.waitFor();
      assert.ok((await name.boundingBox()).width < width / 2 + 100);
      await page.context().close();
    }
  } finally {
    berth('cancel', /\d+/.exec(berth('ls', '-q', '-p', kLong))[0]);
  }
});

test('the theme is the viewer\'s, and stays', async () => {
  const page = await signedIn({ colorScheme: 'dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.getByLabel('Theme').selectOption('light');
  const light = await ground();
  assert.notEqual(light, dark);
  await page.reload();
  assert.equal(await ground(), light);
});

test('a restart of the server turns the chip and loses no row', async () => {
  const page = await signedIn();
  await page.goto(`http://localhost:${port}/queue`);
  const rows = page.getByRole('row');
  await rows.filter({ hasText: 'larger' }).waitFor();
  const many = await rows.count();
  berth('down');
  await page.getByRole('button', { name: /\d s old|Disconnected/ }).waitFor();
  assert.equal(await rows.count(), many);
  up();
  await page.getByRole('button', { name: 'Live' }).waitFor();
  assert.equal(await rows.count(), many);
});

test('behind a prefix all links and questions keep it', async () => {
  const kPrefix = '/some/berth';
  const outside = [];
  const proxy = http.createServer((asked, answer) => {
    if (!asked.url.startsWith(`${kPrefix}/`)) outside.push(asked.url);
    const passed = http.request({
      port,
      path: asked.url.slice(kPrefix.length),
      method: asked.method,
      headers: asked.headers,
    }, (found) => {
      answer.writeHead(found.statusCode, found.headers);
      found.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  const page = await opened(`http://127.0.0.1:${proxy.address().port}${kPrefix}/queue${new URL(link()).hash}`);
  await page.getByRole('row', { name: /larger/ }).waitFor();
  await page.getByRole('link', { name: 'Home' }).click();
  await goneTo(page, `${kPrefix}/`);
  await page.getByText('2 of your 4 jobs run; 2 wait.').waitFor();
  assert.deepEqual(outside, []);
  await page.context().close();
  proxy.closeAllConnections();
  proxy.close();
});

test('no page complained of anything', () => {
  assert.deepEqual(failures, []);
});
