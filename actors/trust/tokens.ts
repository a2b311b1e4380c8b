// Enrollment tokens: made here, told once, stored as a hash. A re-enrollment token belongs to one known identity that is
// not revoked. invariant: I2, I11; decision: D12, D19
import { hash } from 'node:crypto';
import { type Refusal, refuse } from '../../machines/errors.ts';
import {
  formatSecret,
  kindOfSecret,
  SECRET_RANDOM_BYTES,
} from '../../machines/trust/secret.rules.ts';
import type {
  SensorRegistry,
  TokenKind,
  TokenRow,
} from '../../storage/ports/fleet/sensor-registry.ts';
import { type Chance, systemChance } from './chance.ts';

export type IssuedToken = { readonly secret: string; readonly token: TokenRow };

/** Throws StoreUnavailable when the database cannot answer. */
export type TokenService = {
  create(input: {
    readonly note: string;
    readonly ttlMs?: number;
    readonly actor: string;
    readonly from?: string;
  }): Promise<IssuedToken>;
  createForSensor(input: {
    readonly sensorId: string;
    readonly note?: string;
    readonly ttlMs?: number;
    readonly actor: string;
    readonly from?: string;
  }): Promise<({ readonly ok: true } & IssuedToken) | Refusal>;
  /** Newest first; `before` is a token id. */
  list(query: {
    readonly limit: number;
    readonly before: string | null;
  }): Promise<readonly TokenRow[]>;
  /** Idempotent; null when there is no such token. */
  revoke(input: { readonly tokenId: string; readonly actor: string }): Promise<TokenRow | null>;
};

const SECRET_KIND = { enroll: 'enrollment', reenroll: 'reenrollment' } as const;

/** Makes the service. `ttlMs` is the lifetime unless a caller names another. */
export function createTokenService(deps: {
  readonly registry: Pick<SensorRegistry, 'createToken' | 'listTokens' | 'revokeToken'>;
  readonly ttlMs: number;
  readonly now: () => number;
  readonly chance?: Chance;
}): TokenService {
  const { chance = systemChance } = deps;

  async function issue(input: {
    readonly kind: TokenKind;
    readonly sensorId: string | null;
    readonly note: string;
    readonly ttlMs: number;
    readonly actor: string;
    readonly from?: string | undefined;
  }): Promise<({ readonly ok: true } & IssuedToken) | Refusal> {
    const secret = formatSecret(SECRET_KIND[input.kind], chance.randomBytes(SECRET_RANDOM_BYTES));
    const nowMs = deps.now();
    const facts = {
      tokenId: chance.newId(),
      kind: input.kind,
      sensorId: input.sensorId,
      note: input.note,
      expiresAtMs: nowMs + input.ttlMs,
    };
    const made = await deps.registry.createToken({
      ...facts,
      hash: hashOfSecret(secret),
      nowMs,
      actor: input.actor,
      from: input.from,
    });
    if (!made.ok) return refuse(made.code, REFUSED_BECAUSE[made.code]);
    const unused = { consumedAtMs: null, revokedAtMs: null, consumedKeyDigest: null };
    return { ok: true, secret, token: { ...facts, createdAtMs: nowMs, ...unused } };
  }

  return {
    async create({ note, ttlMs = deps.ttlMs, actor, from }) {
      const made = await issue({ kind: 'enroll', sensorId: null, note, ttlMs, actor, from });
      if (!made.ok) throw new Error(`an enrollment token was refused: ${made.code}`);
      return made;
    },
    createForSensor: ({ sensorId, note = '', ttlMs = deps.ttlMs, actor, from }) =>
      issue({ kind: 'reenroll', sensorId, note, ttlMs, actor, from }),
    list: (query) => deps.registry.listTokens(query),
    revoke: (input) => deps.registry.revokeToken({ ...input, nowMs: deps.now() }),
  };
}

const REFUSED_BECAUSE = {
  not_found: 'There is no such sensor.',
  sensor_is_revoked: 'Revocation is final; the node enrolls as a new sensor.',
} as const;

/** SHA-256 of a secret: what is stored and looked up. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Whether a text can be an enrollment or re-enrollment token at all; asked before any look-up. */
export function isTokenText(text: string): boolean {
  const kind = kindOfSecret(text);
  return kind === 'enrollment' || kind === 'reenrollment';
}
