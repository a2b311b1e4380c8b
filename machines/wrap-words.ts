// Text for a terminal that is known to be narrow, in either program.

/** Breaks a text between words into lines of at most `room` characters; a longer word stays whole, so it can be copied. */
export function wrapWords(text: string, room: number): readonly string[] {
  const lines: string[] = [];
  let last = '';
  for (const word of text.split(' ')) {
    if (last !== '' && last.length + 1 + word.length > room) {
      lines.push(last);
      last = word;
    } else last = last === '' ? word : `${last} ${word}`;
  }
  return [...lines, last];
}
