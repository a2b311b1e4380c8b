// Security keys in the browser: a new one is made, or one of the person answers what the Console asks. The library is loaded
// by who uses one. decision: D73
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { call } from '../api/client.ts';
import type { KeyAnswer } from '../api/contract.ts';
import { ApiProblem } from '../api/problem.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

/** Whether this browser can use one. */
export const knowsSecurityKeys = (): boolean => typeof window.PublicKeyCredential === 'function';

/** Asks for a new key and adds it under a name. */
export async function addSecurityKey(name: string): Promise<void> {
  const { options } = await call('POST /auth/mfa/keys/begin', {});
  const { startRegistration } = await import('@simplewebauthn/browser');
  const made = await told(
    startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON }),
  );
  await call('POST /auth/mfa/keys', { body: { name, security_key: made } });
}

/** What a key of the person answers; for one call, and once. */
export async function askSecurityKey(): Promise<KeyAnswer> {
  const { options } = await call('POST /auth/mfa/keys/ask', {});
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const shown: AuthenticationResponseJSON = await told(
    startAuthentication({ optionsJSON: options as PublicKeyCredentialRequestOptionsJSON }),
  );
  return shown as KeyAnswer;
}

// Browsers say in their own words that nobody touched the key, and the same when it is none of these.
async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiProblem) throw error;
    const { name, code } = error as { readonly name?: string; readonly code?: string };
    const isKnown = name === 'InvalidStateError' || String(code).includes('PREVIOUSLY_REGISTERED');
    throw new Error(isKnown ? TEXTS.keyKnown : TEXTS.keyNotShown);
  }
}
