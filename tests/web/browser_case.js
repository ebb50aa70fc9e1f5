// SPDX-License-Identifier: Apache-2.0
//
// What every test in a browser begins with: a server with simulated GPUs, chromium, pages that have
// signed in, axe. Without chromium a test says so and ends with 77.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const kChromium = [process.env.BERTH_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome']
  .find((path) => path && existsSync(path));
if (!kChromium) {
  console.log('skipped: no chromium is here (apt install chromium, or BERTH_CHROMIUM)');
  process.exit(77);
}

const web = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = web('playwright-core');
const kAxe = readFileSync(web.resolve('axe-core/axe.min.js'), 'utf8');
const kTags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];
export const kPatience = 60_000;
export const kScreens = [1440, 390].flatMap((width) =>
  ['dark', 'light'].map((colorScheme) => ({ colorScheme, viewport: { width, height: 900 } })));

const data = mkdtempSync(join(tmpdir(), 'berth-web-'));
export const failures = []; // what a page complained of
export let port = 0;
let browser;

export function berth(...words) {
  const program = join(process.env.BERTH_BIN, 'berth');
  return execFileSync(program, words, {
    encoding: 'utf8', env: { ...process.env, BERTH_DATA: data },
  });
}

export function up(gpus = 'sim:8x80G') {
  berth('up', '--gpus', gpus, '--port', String(port));
  port = Number(readFileSync(join(data, 'port'), 'utf8'));
}

export async function openBrowser() {
  browser = await chromium.launch({ executablePath: kChromium, args: ['--no-sandbox'] });
}

export async function end() {
  await browser?.close();
  berth('down', '--jobs', 'cancel');
  rmSync(data, { recursive: true });
}

export function link(...words) {
  return /http:\S+/.exec(berth('web', ...words))[0];
}

export async function opened(address, options = {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(kPatience);
  const page = await context.newPage();
  page.on('pageerror', (error) => failures.push(error.message));
  page.on('console', (message) => {
    const isSilence = /Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !isSilence) failures.push(message.text());
  });
  await page.goto(address);
  return page;
}

export async function signedIn(options) {
  const page = await opened(link(), options);
  await page.getByText('Live', { exact: true }).first().waitFor();
  return page;
}

async function axe(page) {
  await page.evaluate(kAxe);
  const found = await page.evaluate(
    (values) => globalThis.axe.run(document, { runOnly: { type: 'tag', values } }), kTags);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

// Axe finds nothing, nothing is wider than the screen, and no word is one of a program.
export async function isWhole(page) {
  assert.deepEqual(await axe(page), []);
  const { wide, words } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - innerWidth,
    words: document.body.innerText,
  }));
  assert.ok(wide <= 0, `the page is ${wide} px wider than the screen`);
  assert.doesNotMatch(words, /\b(NaN|null|undefined|0s|Infinity)\b|\[object/);
}

export async function goneTo(page, end) {
  await page.waitForURL((url) => url.href.endsWith(end));
}
