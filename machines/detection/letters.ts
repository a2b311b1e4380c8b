// Letters without their case, as both compilers mean it: a text of ASCII alone folds A-Z, any other folds by Unicode's
// simple rules, which every engine of linear time shares.

/** The text with A-Z in lower case and nothing else changed. */
export function lowerAscii(text: string): string {
  return /[A-Z]/.test(text) ? text.replaceAll(/[A-Z]/g, (one) => one.toLowerCase()) : text;
}

/** Whether all of it is ASCII. */
export function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}

/** A test whether a text contains this one, whatever the case of letters. */
export function containsTest(part: string): (text: string) => boolean {
  const source = part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  // Without `u` no letter beyond ASCII equals one of ASCII; with it the Kelvin sign is a k.
  const expression = new RegExp(source, isAscii(part) ? 'i' : 'iu');
  return (text) => expression.test(text);
}
