// Every kind of SIEM, and what a destination of it may be. decision: D154, D174
import { SIEM_TOKEN_MAX_CHARS } from '../limits.ts';
import type { SiemKind } from './kind.ts';
import * as LIST from './kind-list.ts';

export type SiemKindName = keyof typeof LIST;
export const SIEM_KINDS: Readonly<Record<SiemKindName, SiemKind>> = LIST;
/** As they are offered. */
export const SIEM_KIND_NAMES: readonly SiemKindName[] = (Object.keys(LIST) as SiemKindName[]).sort(
  (one, other) => SIEM_KINDS[one].rank - SIEM_KINDS[other].rank,
);

export type SiemMistake = { readonly pointer: string; readonly detail: string };

/** Printable ASCII; it goes into a header as it is. */
const TOKEN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function kindOf(name: SiemKindName): SiemKind {
  return SIEM_KINDS[name];
}

/** The kind of this name; null when there is none. */
export function kindNamed(text: string): SiemKindName | null {
  return SIEM_KIND_NAMES.find((name) => name === text) ?? null;
}

/** The address in the form that URLs of the web have; null when it is none. */
export function addressOf(text: string): URL | null {
  const whole = text.replace(/^tls:/i, 'https:');
  return URL.canParse(whole) ? new URL(whole) : null;
}

/** What is wrong with an address for a kind, apart from where it leads. */
export function mistakesOfSiemUrl(name: SiemKindName, text: string): readonly SiemMistake[] {
  const pointer = '/target_url';
  const isTls = kindOf(name).transport === 'tls';
  const url = addressOf(text);
  if (url === null) return [{ pointer, detail: 'is no address' }];
  const mistakes: SiemMistake[] = [];
  const scheme = isTls ? 'tls://' : 'https://';
  if (!text.toLowerCase().startsWith(scheme)) {
    mistakes.push({ pointer, detail: `must begin with ${scheme}` });
  }
  if (url.username !== '' || url.password !== '') {
    mistakes.push({ pointer, detail: 'must hold no name and no password' });
  }
  if (url.hash !== '') mistakes.push({ pointer, detail: 'must hold no fragment' });
  if (isTls && (url.pathname !== '/' || url.search !== '')) {
    mistakes.push({ pointer, detail: 'must hold a host and a port alone' });
  }
  return mistakes;
}

/** What is wrong with a token for a kind; null: none was given. */
export function mistakesOfToken(name: SiemKindName, token: string | null): readonly SiemMistake[] {
  const pointer = '/token';
  const { token: need } = kindOf(name);
  if (token === null) return need === 'needed' ? [{ pointer, detail: `is needed by ${name}` }] : [];
  if (need === 'none') return [{ pointer, detail: `is of no use to ${name}` }];
  if (token.length > SIEM_TOKEN_MAX_CHARS || !TOKEN.test(token)) {
    return [{ pointer, detail: `must be printable ASCII of at most ${SIEM_TOKEN_MAX_CHARS}` }];
  }
  return [];
}
