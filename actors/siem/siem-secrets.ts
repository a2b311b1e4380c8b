// What is secret of a SIEM destination: its token, and its path where the receiver puts a token there. One sealed text, opened
// for the moment of sending. invariant: I11; decision: D153
import { addressOf, kindOf, type SiemKindName } from '../../machines/console/siem/kinds/kinds.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { SiemRow } from '../../storage/ports/siem/siem-store.ts';

export type SiemSecrets = { readonly token: string | null; readonly path: string | null };
const NONE: SiemSecrets = { token: null, path: null };

/** Whose secret it is, as the seal binds it. */
export function secretContextOfSiem(destinationId: string): string {
  return `siem/${destinationId}`;
}

/** Opens them; null when no key opens them any more. */
export function openSiemSecrets(
  { destinationId, secretSealed }: Pick<SiemRow, 'destinationId' | 'secretSealed'>,
  sealer: Sealer,
): SiemSecrets | null {
  if (secretSealed === null) return NONE;
  const text = sealer.open(secretSealed, secretContextOfSiem(destinationId));
  return text === null ? null : (JSON.parse(text) as SiemSecrets);
}

/** Seals them; null when there is nothing to seal. */
export function sealSiemSecrets(
  destinationId: string,
  secrets: SiemSecrets,
  sealer: Sealer,
): string | null {
  if (secrets.token === null && secrets.path === null) return null;
  return sealer.seal(JSON.stringify(secrets), secretContextOfSiem(destinationId));
}

/** An address as it is kept in the open, and its path where that is a secret. */
export function partsOfUrl(
  kind: SiemKindName,
  text: string,
): { readonly targetUrl: string; readonly path: string | null } {
  const url = addressOf(text);
  if (url === null || !kindOf(kind).isPathSecret) return { targetUrl: text, path: null };
  return { targetUrl: url.origin, path: `${url.pathname}${url.search}` };
}

/** The address whole. */
export function wholeUrl(targetUrl: string, { path }: SiemSecrets): string {
  return path === null ? targetUrl : `${targetUrl}${path}`;
}
