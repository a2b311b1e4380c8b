// What `traces.test.ts` does by hand of a person's security keys, and what no trail may hold.
import type { Answer } from './peer.ts';
import type { createBrowser } from './person.ts';
import { createSoftKey } from './soft-key.ts';

type Person = { readonly browser: ReturnType<typeof createBrowser>; readonly actor: string };
type Step = (
  method: string,
  url: string,
  body?: unknown,
  more?: { id?: string; item?: string; by?: Person },
) => Promise<Answer>;

const SECRET_FIELDS = /^(secret|signing_secret|token|recovery_codes|otpauth_uri)$/;

/** What an answer tells once and nobody may find anywhere else. */
export function secretsIn(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) =>
    SECRET_FIELDS.test(name) ? [value ?? []].flat().map(String) : secretsIn(value),
  );
}

/** A security key comes and goes. */
export async function walkSecurityKeys(step: Step, by: Person) {
  const key = createSoftKey({ rpId: 'localhost', origin: 'https://localhost:0' });
  const begun = await by.browser.post('/auth/mfa/keys/begin');
  const { challenge } = begun.body['options'] as { readonly challenge: string };
  const made = { name: 'blue one', security_key: key.make(challenge) };
  const added = await step('POST', '/auth/mfa/keys', made, { by });
  const [{ key_id: id } = { key_id: '' }] = added.body['items'] as { readonly key_id: string }[];
  await step('DELETE', '/auth/mfa/keys/:id', undefined, { id, by });
}
