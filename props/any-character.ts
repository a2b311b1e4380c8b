// Any character of Unicode, as the unit of texts: drawn as fast-check draws its own unit `binary`, whose way back from a
// character to its number is a table of a million entries that takes a second and a hundred megabytes in each worker.
import fc from 'fast-check';

const HALVES_FROM = 0xd800;
const HALVES = 0x800;

export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - HALVES })
  .map((number) => String.fromCodePoint(number < HALVES_FROM ? number : number + HALVES), numberOf);

/** The number that a character comes from; throws for what is none, as a text of two. */
function numberOf(character: unknown): number {
  const code = typeof character === 'string' ? (character.codePointAt(0) ?? null) : null;
  if (code === null || String.fromCodePoint(code) !== character) throw new Error('no character');
  const isHalf = code >= HALVES_FROM && code < HALVES_FROM + HALVES;
  if (isHalf) throw new Error('half a character');
  return code < HALVES_FROM ? code : code - HALVES;
}
