// SPDX-License-Identifier: Apache-2.0
//
// How are numbers said? GPUs whole or with two decimals, durations in two units at most.

const kNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

export function gpus(count: number): string {
  const rounded = Math.round(count * 100) / 100;
  const [whole = '0', part] = String(rounded).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return part === undefined ? grouped : `${grouped}.${part}`;
}

// "1 job", "2 jobs".
export function count(many: number, one: string, several = `${one}s`): string {
  return `${gpus(many)} ${many === 1 ? one : several}`;
}

// "1st", "2nd", "11th".
export function ordinal(number: number): string {
  const isRegular = number % 100 >= 11 && number % 100 <= 13;
  const end = isRegular ? undefined : ['st', 'nd', 'rd'][(number % 10) - 1];
  return `${number}${end ?? 'th'}`;
}

// What stands behind a number where a column has no head: " GPU", " GPUs".
export function gpuUnit(many: number): string {
  return count(many, ' GPU').slice(gpus(many).length + 1);
}

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 1) return 'less than 1 s';
  if (minutes < 1) return `${seconds} s`;
  if (minutes < 10) return two(minutes, 'min', seconds % 60, 's');
  if (hours < 1) return `${minutes} min`;
  if (days < 1) return two(hours, 'h', minutes % 60, 'min');
  return two(days, 'd', hours % 24, 'h');
}

function two(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

// "14:38" today, "Mon 09:40" within a week, else the date; in the viewer's zone.
export function clock(time: number, now: number): string {
  const at = new Date(time);
  const today = new Date(now);
  const minute = `${padded(at.getHours())}:${padded(at.getMinutes())}`;
  if (at.toDateString() === today.toDateString()) return minute;
  if (Math.abs(now - time) < 6 * 86_400_000) return `${kNames[at.getDay()]} ${minute}`;
  return `${at.getFullYear()}-${padded(at.getMonth() + 1)}-${padded(at.getDate())}`;
}

// "14:38:05": a moment of a log or a short axis, in the viewer's zone.
export function clockSeconds(time: number): string {
  const at = new Date(time);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(padded).join(':');
}

function padded(part: number): string {
  return String(part).padStart(2, '0');
}
