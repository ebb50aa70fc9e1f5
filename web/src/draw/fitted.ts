// SPDX-License-Identifier: Apache-2.0
//
// How much of a text has room? All of it, or its begin with a sign that there was more: canvas would
// squeeze its letters.
export function fitted(text: string, width: number, wide: (text: string) => number): string {
  if (wide(text) <= width) return text;
  for (let end = text.length - 1; end > 0; --end) {
    const cut = `${text.slice(0, end).trimEnd()}…`;
    if (wide(cut) <= width) return cut;
  }
  return '';
}

export function writeFitted(context: CanvasRenderingContext2D, text: string, x: number, y: number, width: number): void {
  context.fillText(fitted(text, width, (part) => context.measureText(part).width), x, y);
}
