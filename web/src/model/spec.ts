// SPDX-License-Identifier: Apache-2.0
//
// What did a job ask for, field by field, with what the server filled in? What says nothing is left out.

// [["name", "ft"], ["request.gpus", "8"]].
export function specRows(spec: Record<string, unknown>): [string, string][] {
  return Object.entries(spec).flatMap(([name, value]) => rowsOf(name, value));
}

function rowsOf(name: string, value: unknown): [string, string][] {
  if (saysNothing(value)) return [];
  if (Array.isArray(value)) {
    const isPlain = value.every((one) => typeof one !== 'object');
    return [[name, isPlain ? value.join(', ') : value.map((one) => JSON.stringify(one)).join('\n')]];
  }
  if (typeof value === 'object') {
    return Object.entries(value as object).flatMap(([part, inside]) => rowsOf(`${name}.${part}`, inside));
  }
  return [[name, typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)]];
}

function saysNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
