// Tokens of the reference registry. invariant: I2, I11
import { auditOfTokenCreate, auditOfTokenRevoke } from '../../ports/audit/audit-entries.ts';
import type { SensorRegistry, TokenRow } from '../../ports/fleet/sensor-registry.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { type RegistryState, refused, type Token } from '../fleet/registry-state.ts';

type CreateInput = Parameters<SensorRegistry['createToken']>[0];
type CreateOutcome = Awaited<ReturnType<SensorRegistry['createToken']>>;

/** Makes a token; see the port for the contract. */
export function createToken(state: RegistryState, input: CreateInput): CreateOutcome {
  const outcome = addToken(state, input);
  state.record(auditOfTokenCreate(input, outcome.ok ? 'ok' : outcome.code));
  return outcome;
}

function addToken(state: RegistryState, input: CreateInput): CreateOutcome {
  if (input.sensorId !== null) {
    const sensor = state.sensors.get(input.sensorId);
    if (sensor === undefined) return refused('not_found');
    if (sensor.revokedAtMs !== null) return refused('sensor_is_revoked');
  }
  const hash = input.hash.toString('hex');
  state.tokens.set(hash, {
    tokenId: input.tokenId,
    kind: input.kind,
    sensorId: input.sensorId,
    note: storableText(input.note),
    createdAtMs: input.nowMs,
    expiresAtMs: input.expiresAtMs,
    consumedAtMs: null,
    revokedAtMs: null,
    consumedKeyDigest: null,
    hash,
    fingerprint: null,
  });
  return { ok: true };
}

export function findToken(state: RegistryState, hash: Buffer): TokenRow | null {
  const token = state.tokens.get(hash.toString('hex'));
  return token === undefined ? null : shown(token);
}

export function listTokens(
  state: RegistryState,
  { limit, before }: Parameters<SensorRegistry['listTokens']>[0],
): readonly TokenRow[] {
  return [...state.tokens.values()]
    .filter((one) => before === null || one.tokenId < before)
    .sort((a, b) => (a.tokenId < b.tokenId ? 1 : -1))
    .slice(0, limit)
    .map(shown);
}

export function revokeToken(
  state: RegistryState,
  input: Parameters<SensorRegistry['revokeToken']>[0],
): TokenRow | null {
  const { tokenId, nowMs } = input;
  const token = [...state.tokens.values()].find((one) => one.tokenId === tokenId);
  const isOpen = token?.revokedAtMs === null && token.consumedAtMs === null;
  const result = token === undefined ? 'not_found' : isOpen ? 'ok' : 'unchanged';
  state.record(auditOfTokenRevoke(input, result));
  if (token === undefined) return null;
  const next = isOpen ? { ...token, revokedAtMs: nowMs } : token;
  state.tokens.set(token.hash, next);
  return shown(next);
}

function shown({ hash: _hash, fingerprint: _fingerprint, ...row }: Token): TokenRow {
  return row;
}
