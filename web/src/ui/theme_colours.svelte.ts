// SPDX-License-Identifier: Apache-2.0
//
// What are the colours of tokens.css now? For canvases, which know no custom properties. Who asks is
// asked again when the theme changes.
import type { Rgb } from '../draw/map_palette';

let changes = $state(0);
let probe: HTMLElement | undefined;

function watch(): HTMLElement {
  const note = () => (changes += 1);
  for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)']) {
    matchMedia(query).addEventListener('change', note);
  }
  new MutationObserver(note).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const found = document.createElement('span');
  found.hidden = true;
  document.body.append(found);
  return found;
}

export function tokens(): (name: string) => Rgb {
  void changes;
  const shown = (probe ??= watch());
  return (name) => {
    shown.style.color = `var(${name})`;
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(shown).color.match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue];
  };
}
