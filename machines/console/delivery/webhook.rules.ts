// What a webhook may be: every mistake of one, with the field that it is in. decision: D104

import { FORMATS, WEBHOOK_TYPES, type WebhookType } from './formats/formats.ts';
import { WEBHOOK_SECRET_MAX_CHARS, WEBHOOK_SECRET_MIN_CHARS } from './limits.ts';

export type WebhookMistake = { readonly pointer: string; readonly detail: string };

/** Printable ASCII without space, quote and backslash: it goes into headers and JSON as it is. */
const SECRET = /^[!#-[\]-~]+$/;
/** Configured elsewhere. */
const SIEM_KINDS: ReadonlySet<string> = new Set(['observe', 'huntress', 'sumologic']);

/** Why a text is no webhook type; null when it is one. */
export function mistakeOfType(text: string): WebhookMistake | null {
  if (isWebhookType(text)) return null;
  const where = SIEM_KINDS.has(text) ? ' Set it up under SIEM integrations.' : '';
  const detail = `is not one of ${WEBHOOK_TYPES.join(', ')}.${where}`;
  return { pointer: '/webhook_type', detail };
}

export function isWebhookType(text: string): text is WebhookType {
  return WEBHOOK_TYPES.some((type) => type === text);
}

/** What is wrong with an address, apart from where it leads. */
export function mistakesOfAddress(text: string): readonly WebhookMistake[] {
  const pointer = '/target_url';
  if (!URL.canParse(text)) return [{ pointer, detail: 'is no address' }];
  const url = new URL(text);
  const mistakes: WebhookMistake[] = [];
  if (url.protocol !== 'https:') mistakes.push({ pointer, detail: 'must begin with https://' });
  if (url.username !== '' || url.password !== '') {
    mistakes.push({ pointer, detail: 'must hold no name and no password' });
  }
  if (url.hash !== '') mistakes.push({ pointer, detail: 'must hold no fragment' });
  return mistakes;
}

/** What is wrong with a secret, for this type; `undefined`: none was given. */
export function mistakesOfSecret(
  type: WebhookType,
  secret: string | undefined,
): readonly WebhookMistake[] {
  const pointer = '/signing_secret';
  const { needsSecret, isSigned } = FORMATS[type];
  if (secret === undefined) {
    return needsSecret ? [{ pointer, detail: `is needed: it is the key that ${type} gave` }] : [];
  }
  if (!needsSecret && !isSigned) return [{ pointer, detail: `is of no use to ${type}` }];
  const min = isSigned ? WEBHOOK_SECRET_MIN_CHARS : 1;
  if (secret.length < min || secret.length > WEBHOOK_SECRET_MAX_CHARS) {
    return [{ pointer, detail: `must have ${min} to ${WEBHOOK_SECRET_MAX_CHARS} characters` }];
  }
  if (!SECRET.test(secret)) {
    const detail = 'must be printable ASCII without spaces, quotes and backslashes';
    return [{ pointer, detail }];
  }
  return [];
}
