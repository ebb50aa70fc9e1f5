// SPDX-License-Identifier: Apache-2.0
//
// How are the rights of a project changed? Nothing is changed of what has changed since it was read:
// a change is sent with the tag of what was read (RFC 9110, 13.1.1).
import { ask } from './ask';
import type { Project, Supposition, WhatIf } from './project_types';
import type { Answer } from './read';

export interface Tagged<T> {
  value: T;
  tag: string;
}

function addressOf(project: string): string {
  return `api/v1/projects/${encodeURIComponent(project)}`;
}

export function readProject(project: string): Promise<Answer<Tagged<Project>>> {
  return ask(addressOf(project), {}, async (answer) => ({
    value: (await answer.json()) as Project, tag: answer.headers.get('ETag') ?? '',
  }));
}

// What would be different; nothing is changed.
export function suppose(suppositions: Supposition[], signal?: AbortSignal): Promise<Answer<WhatIf>> {
  const body = JSON.stringify({ suppose: suppositions });
  return ask('api/v1/what-if', { method: 'POST', body, signal }, async (answer) =>
    (await answer.json()) as WhatIf);
}

// Answers the tag of what it is then. A failure of status 412: it is not any more what `tag` is of.
export function writeProject(
  project: string, tag: string, body: object,
): Promise<Answer<{ tag: string; warnings: string[] }>> {
  const options = { method: 'PUT', body: JSON.stringify(body), headers: { 'If-Match': tag } };
  return ask(addressOf(project), options, async (answer) => ({
    tag: answer.headers.get('ETag') ?? '',
    warnings: ((await answer.json()) as { warnings: string[] }).warnings,
  }));
}
