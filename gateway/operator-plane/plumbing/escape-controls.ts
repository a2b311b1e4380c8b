// Text of a node is attacker text: a terminal or a spreadsheet must not obey it.

/** Control characters (C0, DEL, C1) and direction overrides as visible escapes. */
export function escapeControls(
  text: string,
  escaped: (code: number) => string = (code) =>
    code > 0xff
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : `\\x${code.toString(16).padStart(2, '0')}`,
): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => escaped(char.charCodeAt(0)),
  );
}
