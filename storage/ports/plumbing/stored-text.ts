// What a database text can hold: no NUL and no half surrogate. Both come from hostile senders only and are shown as
// U+FFFD; structured values are stored as JSON text, which holds them exactly.
/** The text as it is stored and read back. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
