// SPDX-License-Identifier: Apache-2.0
//
// Which rows has the table of projects, who gives and who takes? Of one pool; departments stand
// before what is below them.
import type { Lending, ProjectList, ProjectView, Rights } from '../api/project_types';
import type { Row } from '../api/types';
import { count, gpus } from './numbers';
import type { Headline } from './words';

export const kDefaultPool = 'default';

export interface ProjectRow {
  name: string;
  depth: number; // 0 = below the root
  isDepartment: boolean;
  kind: Rights['kind'];
  quota: number; // -1 = without a bound, as below
  limit: number;
  weight: number;
  used: number;
  fair: number;
  wanted: number; // on top, by jobs that wait
}

export function rightsIn(project: Pick<ProjectView, 'rights' | 'pools'>, pool: string): Rights {
  const own = project.pools[pool];
  if (own || pool === kDefaultPool) return own ?? project.rights;
  return { ...project.rights, quota: null };
}

// Those below a folded department are left out.
export function projectRows(
  list: ProjectList, pool: string, folded: ReadonlySet<string> = new Set(),
): ProjectRow[] {
  const below = new Map<string, ProjectView[]>();
  for (const project of list.items) {
    below.set(project.parent, [...(below.get(project.parent) ?? []), project]);
  }
  const rows: ProjectRow[] = [];
  const add = (parent: string, depth: number) => {
    for (const project of below.get(parent) ?? []) {
      const use = project.use.find((one) => one.pool === pool);
      if (use === undefined) continue;
      const { kind, weight } = rightsIn(project, pool);
      rows.push({
        name: project.name, depth, isDepartment: below.has(project.name), kind, weight,
        quota: use.quota, limit: use.limit, used: use.used, fair: use.fair_share, wanted: use.waiting,
      });
      if (!folded.has(project.name)) add(project.name, depth + 1);
    }
  };
  add('', 0);
  return rows;
}

export function amount(of: number): string {
  return of < 0 ? 'none' : gpus(of);
}

// A quota without a bound is drawn as what is in use: there is nothing to compare with.
export function useOf({ quota, used, wanted }: Pick<ProjectRow, 'quota' | 'used' | 'wanted'>) {
  return { quota: quota < 0 ? used : quota, used, wanted };
}

export interface Balance {
  words: string;
  gpus: number; // 0 = there is no number to say
}

// Who owes whom. Unused quota is owed to who waits for it, and lent while some project borrows.
export function balanceOf(row: ProjectRow, lending: Lending | undefined): Balance {
  const { quota, used } = row;
  if (quota < 0) return { words: 'no bound', gpus: 0 };
  if (used > quota) return { words: 'borrows', gpus: used - quota };
  if (used === quota) return { words: quota === 0 ? 'uses none' : 'even', gpus: 0 };
  if (row.kind === 'fixed') return { words: 'keeps', gpus: quota - used };
  const owed = Math.min(row.wanted, quota - used);
  if (owed > 0) return { words: 'is owed', gpus: owed };
  const isLent = (lending?.borrowers.length ?? 0) > 0;
  return { words: isLent ? 'lends' : 'could lend', gpus: quota - used };
}

// What becomes of what is lent or borrowed when an owner asks; empty = nothing does.
export function returnWords(row: ProjectRow): string {
  if (row.quota < 0 || row.isDepartment) return '';
  if (row.used > row.quota) {
    return `${row.name} gives up to ${count(row.used - row.quota, 'GPU')} back when owners ask for their quota: ` +
      'its jobs that lose least are paused for theirs.';
  }
  if (row.kind === 'fixed') return `${row.name} neither lends nor borrows: its jobs start at once within its quota.`;
  if (row.used === row.quota) return '';
  return `${row.name} gets up to ${count(row.quota - row.used, 'GPU')} back when its jobs ask for them.`;
}

// The server's sentences.
export function lendingHeadline({ sentences }: Lending): Headline {
  const of = (about: string) => sentences.find((sentence) => sentence.about === about)?.text ?? '';
  const borrowers = of('borrowers');
  if (borrowers === '') return { answer: of('quotas'), rest: '', note: '' };
  return { answer: borrowers, rest: of('lenders'), note: `${of('quotas')} ${of('owed')}` };
}

// Since when the job waits that has waited longest; nothing where none does.
export function longestWaits(jobs: readonly Row[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const job of jobs) {
    const waits = (job.state === 'queued' || job.state === 'paused') && !job.held && !job.parked;
    if (!waits) continue;
    const since = Date.parse(job.since);
    found.set(job.project, Math.min(found.get(job.project) ?? Infinity, since));
  }
  return found;
}

// The one that is asked for, or else the one that borrows most; empty = there is none.
export function chosenProject(rows: readonly ProjectRow[], asked: string, lending?: Lending): string {
  if (rows.some((row) => row.name === asked)) return asked;
  const leaves = rows.filter((row) => !row.isDepartment);
  return lending?.borrowers[0]?.project ?? leaves.find((row) => row.used > 0)?.name ?? leaves[0]?.name ?? '';
}
