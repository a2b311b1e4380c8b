// The code of the first run: printed on the terminal, kept as a hash, compared in constant time, good for one login. Whoever
// shows it gets a token for this run; the next code is printed then, and a login with it ends the token before.
// decision: D42; invariant: I11
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

// Without letters and digits that are mistaken for each other.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 3;
const GROUP_CHARS = 4;
const TOKEN_BYTES = 32;

export type SetupCodes = {
  /** The token of a login; null when the code is wrong. */
  unlock(code: string): string | null;
  isToken(token: string): boolean;
};

/** Makes the first code; `tell` gets every code once, to print it. */
export function createSetupCodes(tell: (code: string) => void): SetupCodes {
  let codeHash = issue();
  let tokenHash: Buffer | null = null;

  function issue(): Buffer {
    const code = newCode();
    tell(code);
    return hashOf(canonical(code));
  }

  return {
    unlock(code) {
      if (!timingSafeEqual(hashOf(canonical(code)), codeHash)) return null;
      codeHash = issue();
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      tokenHash = hashOf(token);
      return token;
    },
    isToken: (token) => tokenHash !== null && timingSafeEqual(hashOf(token), tokenHash),
  };
}

function newCode(): string {
  const chars: string[] = [];
  // Bytes beyond the last whole multiple would make some characters likelier.
  const limit = 256 - (256 % ALPHABET.length);
  while (chars.length < GROUPS * GROUP_CHARS) {
    for (const byte of randomBytes(GROUPS * GROUP_CHARS)) {
      if (byte < limit) chars.push(ALPHABET.charAt(byte % ALPHABET.length));
    }
  }
  const text = chars.slice(0, GROUPS * GROUP_CHARS).join('');
  return (text.match(/.{4}/g) ?? []).join('-');
}

/** As people type it: without regard to case, spaces and dashes. */
function canonical(code: string): string {
  return code.toUpperCase().replaceAll(/[\s-]/g, '');
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
