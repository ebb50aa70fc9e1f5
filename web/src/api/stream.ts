// SPDX-License-Identifier: Apache-2.0
//
// How is the server heard while things change? Server-sent events (WHATWG HTML, 9.2), read with
// fetch: EventSource cannot show a token.
import { type Answer, failureOf, silence } from './read';

export interface Message {
  event: string;
  id: string; // empty = it has none
  data: string;
}

// Takes text as it comes, and gives the messages that are whole.
export class Messages {
  #rest = '';

  add(text: string): Message[] {
    const parts = (this.#rest + text).split('\n\n');
    this.#rest = parts.pop() ?? '';
    return parts.map(messageOf).filter((message) => message.data !== '');
  }
}

function messageOf(text: string): Message {
  const message = { event: 'message', id: '', data: '' };
  for (const line of text.split('\n')) {
    const colon = line.indexOf(': ');
    const field = line.slice(0, colon);
    if (field === 'event' || field === 'id' || field === 'data') message[field] = line.slice(colon + 2);
  }
  return message;
}

export interface Listener {
  onMessage(message: Message): void;
  onSign(): void; // of life, messages among them
}

// Until it ends; answers why it did. `last` is the id of the last message that is known.
export async function listen(
  address: string, last: string, headers: Record<string, string>, listener: Listener, signal: AbortSignal,
): Promise<Answer<undefined>> {
  try {
    const shown = last === '' ? headers : { ...headers, 'Last-Event-ID': last };
    const answer = await fetch(address, { headers: shown, cache: 'no-store', signal });
    if (!answer.ok || answer.body === null) return await failureOf(answer);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const messages = new Messages();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { ok: true, value: undefined };
      for (const message of messages.add(value)) listener.onMessage(message);
      listener.onSign();
    }
  } catch (error) {
    return silence(error);
  }
}
