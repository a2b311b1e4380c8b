// Ways through routes for `traces.test.ts` that need nothing but the steps they are given, and what no trail may hold.
import { testAlertOf } from '../../machines/console/delivery/test-alert.rules.ts';
import { findingOf } from '../../machines/console/detection/finding.ts';
import { DAY_MS } from '../../machines/units.ts';
import type { ConsoleUnderTest } from './console.fixture.ts';
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

/** What destinations are given to show elsewhere. */
export const GIVEN_SECRETS = [
  'a token of a receiver',
  'the secret of a bucket',
  'the secret of a digest',
] as const;
const [SIEM_TOKEN, BUCKET_SECRET, DIGEST_SECRET] = GIVEN_SECRETS;

const SECRET_FIELDS = /^(secret|token|recovery_codes|otpauth_uri)$/;

/** What an answer tells once and nobody may find anywhere else. */
export function secretsIn(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) =>
    SECRET_FIELDS.test(name) ? [value].flat().map(String) : secretsIn(value),
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

/** A destination comes, is tried, and goes. */
export async function walkSiem(step: Step) {
  const made = await step('POST', '/siem-destinations', {
    ...{ kind: 'observe', name: 'siem', target_url: 'https://siem.invalid/v1/http/path' },
    token: SIEM_TOKEN,
  });
  const at = { id: String(made.body['destination_id']) };
  await step('PATCH', '/siem-destinations/:id', { revision: 1, filter: 'severity:high' }, at);
  await step('POST', '/siem-destinations/:id/test', {}, at);
  await step('POST', '/siem-destinations/:id/pause', {}, at);
  await step('POST', '/siem-destinations/:id/resume', {}, at);
  await step('DELETE', '/siem-destinations/:id', undefined, at);
}

/** A rule comes, changes and goes. */
export async function walkRules(step: Step) {
  const spec = {
    ...{ rule_name: 'root opens a shell', severity: 'high' },
    detect: { kind: 'match', condition: 'uid:0' },
  };
  const id = 'root-shell';
  await step('POST', '/alert-rules', { rule_id: id, spec });
  const next = { ...spec, severity: 'low' };
  await step('PUT', '/alert-rules/:id', { version: 1, spec: next }, { id });
  await step('DELETE', '/alert-rules/:id', undefined, { id });
}

/** Two alerts: one from its begin to its end and on, one among many. */
export async function walkAlerts(step: Step, console: ConsoleUnderTest) {
  const [nowMs, id, other] = [console.time.now(), crypto.randomUUID(), crypto.randomUUID()];
  const findings = [id, other].map((one) => findingOf(testAlertOf(one, nowMs), one));
  await console.stores.relational.alerts.raise({ nowMs, findings });
  await step('POST', '/alerts/:id/acknowledge', undefined, { id });
  await step('POST', '/alerts/:id/assign', { assignee: 'new@example.test' }, { id });
  await step('POST', '/alerts/:id/comments', { text: 'a drill' }, { id });
  await step('POST', '/alerts/:id/resolve', { resolution: 'expected' }, { id });
  await step('POST', '/alerts/:id/reopen', undefined, { id });
  await step('POST', '/alerts/bulk', { alert_ids: [other], act: 'acknowledge' });
}

/** Days go to a bucket, which is tried, and one of them goes again. */
export async function walkExports(step: Step) {
  const s3 = {
    ...{ endpoint: 'https://s3.invalid', region: 'eu-central-1', bucket: 'events' },
    ...{ access_key_id: 'AKIDEXAMPLE', secret_access_key: BUCKET_SECRET },
  };
  await step('PUT', '/exports/target', { revision: 0, kind: 's3', s3 });
  await step('POST', '/exports/target/test');
  // A day that is over, and whose rows are all there.
  const day = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
  await step('POST', '/exports/:id/run', undefined, { id: `runtime_events.${day}` });
}

/** A digest is set up, changed, tried and removed. */
export async function walkDigests(step: Step) {
  const plan = {
    ...{ name: 'daily', time_zone: 'Europe/Berlin', at: '08:00' },
    webhook: { target_url: 'https://digests.invalid/hook' },
  };
  const made = await step('POST', '/digests', { ...plan, secret: DIGEST_SECRET });
  const at = { id: String(made.body['digest_id']) };
  await step('PUT', '/digests/:id', { ...plan, at: '09:00', revision: 1 }, at);
  await step('POST', '/digests/:id/test', {}, at);
  await step('DELETE', '/digests/:id', undefined, at);
}
