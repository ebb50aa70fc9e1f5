// SPDX-License-Identifier: Apache-2.0
//
// Projects as tests need them: the cluster of one afternoon, 508 GPUs in the default pool.
import type { Lending, PoolUse, ProjectList, ProjectView } from '../api/project_types';

export function project(
  name: string, use: Partial<PoolUse> = {}, part: Partial<ProjectView> = {},
): ProjectView {
  const quota = use.quota ?? 0;
  return {
    name, parent: '',
    rights: { quota, limit: -1, weight: 1, kind: 'guaranteed' },
    pools: {},
    use: [{ pool: 'default', quota, limit: -1, fair_share: 0, used: 0, waiting: 0, ...use }],
    ...part,
  };
}

export const kLending: Lending = {
  pool: 'default',
  sentences: [
    { about: 'borrowers', text: 'lab and nlp borrow 64 GPUs.' },
    { about: 'lenders', text: 'vision and speech lend 56.' },
    { about: 'quotas', text: 'Quotas sum to 480 of 508 GPUs.' },
    { about: 'owed', text: 'No project waits for GPUs of its quota.' },
  ],
  capacity: 508, quotas: 480,
  lenders: [{ project: 'vision', gpus: 32 }, { project: 'speech', gpus: 24 }],
  borrowers: [{ project: 'lab', gpus: 34 }, { project: 'nlp', gpus: 30 }],
  owed: [], in_no_quota: 28, not_ready: 0, kept: 8, free: 20, not_there: 0,
};

export const kList: ProjectList = {
  items: [
    project('vision', { quota: 160, used: 128, fair_share: 128 }),
    project('nlp', { quota: 128, used: 158, fair_share: 170, waiting: 32 }),
    project('speech', { quota: 96, used: 72, fair_share: 72 }),
    project('robotics', { quota: 64, used: 64, fair_share: 64 }),
    project('lab', { quota: 0, used: 34, fair_share: 42, waiting: 40 }),
    project('infer', { quota: 32, used: 24, fair_share: 32 }, {
      rights: { quota: 32, limit: -1, weight: 1, kind: 'fixed' },
    }),
  ],
  lending: [kLending],
};
