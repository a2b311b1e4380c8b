// What a security key (WebAuthn) is bound to and when its use counts. A key stands beside the app: who has one may show it
// in place of a code, and it goes with the factor. decision: D73; invariant: I18
import { SECURITY_KEY_NAME_MAX_CHARS } from '../../limits.ts';

/** What keys are bound to: the name of this Console and where its page comes from. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/** Null when the Console is reached by an address: browsers bind keys to names only. */
export function relyingPartyOf(baseUrl: string): RelyingParty | null {
  const url = URL.parse(baseUrl);
  if (url === null || url.protocol !== 'https:') return null;
  const { hostname: id, origin } = url;
  const isAddress = id.startsWith('[') || /^\d{1,3}(\.\d{1,3}){3}$/.test(id);
  return isAddress || id === '' ? null : { id, origin };
}

/** Whether a use counts: a key that counts must have counted on, since a copy of it would not have; 0 counts never. */
export function isCounterAcceptable(counter: {
  readonly stored: number;
  readonly shown: number;
}): boolean {
  const { stored, shown } = counter;
  if (!Number.isSafeInteger(shown) || shown < 0) return false;
  return shown > stored || (shown === 0 && stored === 0);
}

/** Whether what a key said of itself is taken: it names no maker, so nothing of others is read or asked. */
export function isAttestationTaken(told: {
  readonly format: string;
  readonly hasCertificates: boolean;
}): boolean {
  return told.format === 'none' || (told.format === 'packed' && !told.hasCertificates);
}

/** Whether a browser says that a page of somebody else stood around the one that asked. */
export function isFramed(asked: {
  readonly crossOrigin?: unknown;
  readonly topOrigin?: unknown;
}): boolean {
  return (asked.crossOrigin ?? false) !== false || asked.topOrigin !== undefined;
}

/** The name a person gives a key, in its one spelling; null when it can be none. */
export function keyNameOf(text: string): string | null {
  const name = text.normalize('NFC').trim();
  const isFit = name !== '' && [...name].length <= SECURITY_KEY_NAME_MAX_CHARS;
  return isFit && !/\p{Cc}/u.test(name) ? name : null;
}
