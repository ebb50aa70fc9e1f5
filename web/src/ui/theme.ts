// SPDX-License-Identifier: Apache-2.0
//
// Dark or light? As the system says, until the viewer says otherwise in this browser.

export type Theme = 'auto' | 'dark' | 'light';
export const kThemes: readonly Theme[] = ['auto', 'dark', 'light'];

const kKey = 'berth.theme';

export function savedTheme(): Theme {
  try {
    return kThemes.find((theme) => theme === localStorage.getItem(kKey)) ?? 'auto';
  } catch {
    return 'auto'; // a browser may refuse to remember
  }
}

export function apply(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function save(theme: Theme): void {
  apply(theme);
  try {
    localStorage.setItem(kKey, theme);
  } catch {
    // It holds until the page is closed.
  }
}
