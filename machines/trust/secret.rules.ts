// Secrets carry a prefix and a checksum so that scanners find them and a mistyped one is refused without a look-up:
// prefix + 43 base62 characters + 6 base62 characters of CRC-32. Randomness arrives as bytes. decision: D19
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_CHARS = 43;
const CHECKSUM_CHARS = 6;
/** Random bytes a secret is made of. */
export const SECRET_RANDOM_BYTES = 32;
export const SECRET_PREFIXES = {
  enrollment: 'svce_',
  reenrollment: 'svcr_',
  apiKey: 'svck_',
  resetLink: 'svcl_',
} as const;
export type SecretKind = keyof typeof SECRET_PREFIXES;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});

/** Formats 32 random bytes as a secret of one kind. */
export function formatSecret(kind: SecretKind, random: Uint8Array): string {
  if (random.length !== SECRET_RANDOM_BYTES) throw new Error('a secret needs 32 random bytes');
  let value = random.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let body = '';
  for (let i = 0; i < SECRET_CHARS; i += 1) {
    body = (BASE62[Number(value % 62n)] ?? '0') + body;
    value /= 62n;
  }
  return SECRET_PREFIXES[kind] + body + checksum(SECRET_PREFIXES[kind] + body);
}

/** The kind of a well-formed secret, or null for anything else. */
export function kindOfSecret(text: string): SecretKind | null {
  const kinds: readonly SecretKind[] = ['enrollment', 'reenrollment', 'apiKey', 'resetLink'];
  const kind = kinds.find((one) => text.startsWith(SECRET_PREFIXES[one]));
  if (kind === undefined) return null;
  const bodyEnd = SECRET_PREFIXES[kind].length + SECRET_CHARS;
  if (text.length !== bodyEnd + CHECKSUM_CHARS) return null;
  if (!/^[0-9A-Za-z]+$/.test(text.slice(SECRET_PREFIXES[kind].length))) return null;
  return text.slice(bodyEnd) === checksum(text.slice(0, bodyEnd)) ? kind : null;
}

function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i += 1) {
    crc = (CRC_TABLE[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  let value = (crc ^ 0xffffffff) >>> 0;
  let out = '';
  for (let i = 0; i < CHECKSUM_CHARS; i += 1) {
    out = (BASE62[value % 62] ?? '0') + out;
    value = Math.floor(value / 62);
  }
  return out;
}
