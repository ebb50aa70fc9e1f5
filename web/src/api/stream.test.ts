// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { Messages } from './stream';

test('a message is whole at its empty line, wherever the text is cut', () => {
  const text = 'event: jobs\nid: 7\ndata: {"a":"b: c"}\n\n:\n\ndata: x\n\n';
  for (let cut = 0; cut <= text.length; ++cut) {
    const messages = new Messages();
    const found = [...messages.add(text.slice(0, cut)), ...messages.add(text.slice(cut))];
    expect(found).toEqual([
      { event: 'jobs', id: '7', data: '{"a":"b: c"}' }, { event: 'message', id: '', data: 'x' },
    ]);
  }
});
