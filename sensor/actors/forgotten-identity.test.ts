// An identity is given up only for the Console's own word, and only when no Console can be behind any more.
import { describe, expect, it } from 'vitest';
import { REVOCATION_VIEW_MAX_AGE_MS } from '../../machines/limits.ts';
import { formatSecret, type SecretKind } from '../../machines/trust/secret.rules.ts';
import type { SensorConfig } from '../config/config.ts';
import type { Answer } from '../transport/answer.ts';
import { isForgotten } from './forgotten-identity.ts';

const UNKNOWN = refusedAs('certificate_unknown');

const UNREACHABLE = {
  ok: false,
  kind: 'unreachable',
  trouble: { kind: 'refused', detail: '' },
} as unknown as Answer;

function refusedAs(code: string): Answer {
  return { ok: false, kind: 'refused', status: 401, code, detail: '', retryAfterMs: null };
}

async function ask(answers: readonly Answer[], kind: SecretKind | null = 'enrollment') {
  const waited: number[] = [];
  let asked = 0;
  const client = {
    useIdentity: () => undefined,
    async post() {
      asked += 1;
      const answer = answers[asked - 1];
      if (answer === undefined) throw new Error('it asked more often');
      return answer;
    },
  };
  const identity = { keyPem: 'key', certPem: 'certificate', caPem: 'ca' };
  const verdict = await isForgotten(client, identity, {
    config: { intervals: { HEARTBEAT_TIMEOUT_MS: 1_000 } } as SensorConfig,
    token: kind === null ? null : formatSecret(kind, new Uint8Array(32)),
    clock: {
      setTimeout(run, ms) {
        waited.push(ms);
        run();
        return waited.length;
      },
    },
  });
  return { verdict, asked, waited };
}

describe('an identity that a Console may have forgotten', () => {
  it('should be given up when it is unknown still after a view of the fleet can be old', async () => {
    const { verdict, waited } = await ask([UNKNOWN, UNKNOWN]);
    expect(verdict).toBe(true);
    expect(waited[0]).toBeGreaterThan(REVOCATION_VIEW_MAX_AGE_MS);
  });

  it('should be kept when a Console had only not heard of it yet', async () => {
    const known: Answer = { ok: true, status: 200, json: {} };
    expect(await ask([UNKNOWN, known])).toMatchObject({ verdict: false, asked: 2 });
  });

  it.each([
    refusedAs('sensor_revoked'),
    refusedAs('certificate_expired'),
    refusedAs('trust_unavailable'),
    UNREACHABLE,
  ])('should be kept for every other answer', async (answer) => {
    expect(await ask([answer])).toMatchObject({ verdict: false, asked: 1 });
  });

  it.each([null, 'reenrollment'] as const)(
    'should not be asked about without a plain token: %s',
    async (kind) => {
      expect(await ask([], kind)).toMatchObject({ verdict: false, asked: 0 });
    },
  );
});
