// SPDX-License-Identifier: Apache-2.0
//
// What does a person paste into a shell? Names come from addresses and from other users, so each word
// is quoted where a POSIX shell, or zsh, would read more than itself.

// zsh reads a word that begins with "=" as more.
const kPlain = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+:,./=-]*$/;
// Control characters, line ends, and what turns the direction of a text.
const kUnseen = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

// ["ls", "a b"] -> "ls 'a b'".
export function command(...words: string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  const seen = word.replace(kUnseen, '');
  return kPlain.test(seen) ? seen : `'${seen.replaceAll("'", "'\\''")}'`;
}
