// What the audit log may not hold: secrets, by the look of a text or by the name of a field. They are masked before an
// entry is stored, whoever wrote it. Half surrogates become U+FFFD, because canonical JSON has no form for them.
// invariant: I11
import { JSON_DEPTH_MAX } from '../limits.ts';

const MASK = '***';
const SECRET_TEXT =
  /svc[erkl]_[0-9A-Za-z]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const SECRET_NAME =
  /(?:^|_|-)(?:secret|password|passphrase|token|private_key|hash|authorization|cookie|recovery_codes?)$/i;

type Facts = Readonly<Record<string, unknown>>;

/** A text without secrets. */
export function maskText(text: string): string {
  return text.toWellFormed().replace(SECRET_TEXT, MASK);
}

/** Facts as plain JSON without secrets; what JSON cannot say is left out. */
export function maskSecrets(facts: Facts): Facts {
  const plain: unknown = JSON.parse(JSON.stringify(facts));
  return masked(plain, 0) as Facts;
}

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= JSON_DEPTH_MAX) return MASK;
  if (Array.isArray(value)) return value.map((one) => masked(one, depth + 1));
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => {
    const isSecret = SECRET_NAME.test(name) && one !== null;
    return [maskText(name), isSecret ? MASK : masked(one, depth + 1)];
  });
  return Object.fromEntries(entries);
}
