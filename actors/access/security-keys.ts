// Security keys of people: added by who has a second factor and has shown it lately, shown in place of a code, removed. What
// a key signs is judged by the library; what it is bound to, and that it is used once, by the rules and the store. Nothing
// is asked of makers, so no certificate that somebody sends is read and no address in one is visited. decision: D73;
// invariant: I18
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import {
  decodeAttestationObject,
  decodeClientDataJSON,
  isoBase64URL,
} from '@simplewebauthn/server/helpers';
import {
  isAttestationTaken,
  isCounterAcceptable,
  isFramed,
  keyNameOf,
  type RelyingParty,
} from '../../machines/console/access/security-key.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import {
  SECURITY_KEY_CHALLENGE_BYTES,
  SECURITY_KEY_CHALLENGE_TTL_MS,
  SECURITY_KEY_NAME_MAX_CHARS,
  SECURITY_KEYS_PER_USER_MAX,
} from '../../machines/limits.ts';
import type {
  ChallengePurpose,
  NewSecurityKey,
  SecurityKeyRow,
  SecurityKeyStore,
} from '../../storage/ports/access/security-keys.ts';
import type { UserStore } from '../../storage/ports/access/users.ts';
import { type Chance, systemChance } from '../trust/chance.ts';
import type { Answer, FactorAsking } from './second-factor-service.ts';

const TRANSPORTS: ReadonlySet<string> = new Set([
  ...['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'],
]);
/** As COSE numbers them: Ed25519, ECDSA on P-256, RSA with SHA-256. */
const ALGORITHMS = [-8, -7, -257] as const;
const OFF =
  'Set up the app first: a security key stands beside it, and recovery codes behind both.';
const UNNAMED = 'Security keys are bound to a name; this Console is reached by an address.';

/** Rejects with StoreUnavailable. */
export type SecurityKeyService = {
  list(userId: string): Promise<readonly SecurityKeyRow[]>;
  /** What a browser asks a new key. */
  begin(asking: FactorAsking): Answer<{ readonly options: PublicKeyCredentialCreationOptionsJSON }>;
  /** Adds the key that answered. */
  add(
    asking: FactorAsking,
    given: { readonly name: string; readonly response: RegistrationResponseJSON },
  ): Answer<{ readonly keys: readonly SecurityKeyRow[] }>;
  /** What a browser asks the keys of the person. */
  ask(asking: FactorAsking): Answer<{ readonly options: PublicKeyCredentialRequestOptionsJSON }>;
  /** Whether a key of the person answered what this session was asked; each question is answered once. */
  use(asking: FactorAsking, response: AuthenticationResponseJSON): Promise<boolean>;
  remove(asking: FactorAsking, keyId: string): Answer<object>;
};

export type SecurityKeyDeps = {
  readonly users: Pick<UserStore, 'get'>;
  readonly securityKeys: SecurityKeyStore;
  /** Null: this Console is reached by an address, which keys cannot be bound to. */
  readonly relyingParty: () => RelyingParty | null;
  readonly now: () => number;
  readonly chance?: Pick<Chance, 'randomBytes' | 'newId'>;
};

/** Makes the service. */
export function createSecurityKeyService(deps: SecurityKeyDeps): SecurityKeyService {
  return {
    list: (userId) => deps.securityKeys.listOf(userId),
    begin: (asking) => begin(deps, asking),
    add: (asking, given) => add(deps, asking, given),
    ask: (asking) => ask(deps, asking),
    use: (asking, response) => use(deps, asking, response),
    async remove({ userId, session, actor, from }, keyId) {
      const isGone = await deps.securityKeys.remove({
        ...{ userId, keyId, actor, from, nowMs: deps.now(), bySession: session.hash },
      });
      return isGone ? { ok: true } : refuse('not_found', 'There is no such security key.');
    },
  };
}

type Asked<M extends 'begin' | 'add' | 'ask'> = ReturnType<SecurityKeyService[M]>;

async function begin(deps: SecurityKeyDeps, asking: FactorAsking): Asked<'begin'> {
  const [party, user] = [deps.relyingParty(), await deps.users.get(asking.userId)];
  if (party === null) return refuse('mfa_state_conflict', UNNAMED);
  if (user?.mfa.state !== 'on') return refuse('mfa_state_conflict', OFF);
  const challenge = newChallenge(deps);
  const options = await generateRegistrationOptions({
    ...{ rpName: party.id, rpID: party.id, userName: user.email, challenge },
    userID: new TextEncoder().encode(user.userId),
    attestationType: 'none',
    supportedAlgorithmIDs: [...ALGORITHMS],
    timeout: SECURITY_KEY_CHALLENGE_TTL_MS,
    excludeCredentials: namesOf(await deps.securityKeys.listOf(user.userId)),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'discouraged' },
  });
  return (await put(deps, asking, { purpose: 'add', challenge: options.challenge }))
    ? { ok: true, options }
    : ended();
}

async function add(
  deps: SecurityKeyDeps,
  asking: FactorAsking,
  given: Parameters<SecurityKeyService['add']>[1],
): Asked<'add'> {
  const name = keyNameOf(given.name);
  if (name === null) {
    const detail = `a name of 1 to ${SECURITY_KEY_NAME_MAX_CHARS} letters`;
    const errors = [{ pointer: '/name', detail }];
    return refuse('schema_violation', 'The key cannot be named like this.', { errors });
  }
  const { userId, session, actor, from } = asking;
  const nowMs = deps.now();
  const of = { session: session.hash, purpose: 'add', nowMs } as const;
  const challenge = await deps.securityKeys.takeChallenge(of);
  const read = challenge === null ? null : await readNewKey(deps, given.response, challenge);
  if (read === null) return refuse('mfa_code_invalid', 'This is no answer to what was asked.');
  const keyId = (deps.chance ?? systemChance).newId();
  const added = await deps.securityKeys.add({
    ...{ userId, actor, from, nowMs, bySession: session.hash },
    key: { ...read, keyId, name },
  });
  if (added !== 'added') return refusalOf(added);
  return { ok: true, keys: await deps.securityKeys.listOf(userId) };
}

async function ask(deps: SecurityKeyDeps, asking: FactorAsking): Asked<'ask'> {
  const [party, keys] = [deps.relyingParty(), await deps.securityKeys.listOf(asking.userId)];
  if (party === null) return refuse('mfa_state_conflict', UNNAMED);
  if (keys.length === 0) return refuse('mfa_state_conflict', 'This account has no security key.');
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: newChallenge(deps),
    allowCredentials: namesOf(keys),
    timeout: SECURITY_KEY_CHALLENGE_TTL_MS,
    userVerification: 'discouraged',
  });
  return (await put(deps, asking, { purpose: 'use', challenge: options.challenge }))
    ? { ok: true, options }
    : ended();
}

async function use(
  deps: SecurityKeyDeps,
  { userId, session }: FactorAsking,
  response: AuthenticationResponseJSON,
): Promise<boolean> {
  const nowMs = deps.now();
  const of = { session: session.hash, purpose: 'use', nowMs } as const;
  // Taken before it is judged, so that nobody tries it twice.
  const challenge = await deps.securityKeys.takeChallenge(of);
  const keys = await deps.securityKeys.listOf(userId);
  const key = keys.find(({ credentialId }) => credentialId === response.id);
  const party = deps.relyingParty();
  if (challenge === null || key === undefined || party === null) return false;
  const counter = await counterShown(response, { challenge, key, party });
  if (counter === null || !isCounterAcceptable({ stored: key.counter, shown: counter }))
    return false;
  return deps.securityKeys.use({ userId, keyId: key.keyId, counter, nowMs });
}

/** The counter of a genuine answer; null when it is none. The library throws at what it does not accept. */
async function counterShown(
  response: AuthenticationResponseJSON,
  by: { readonly challenge: string; readonly key: SecurityKeyRow; readonly party: RelyingParty },
): Promise<number | null> {
  const { credentialId: id, publicKey, counter } = by.key;
  try {
    const judged = await verifyAuthenticationResponse({
      ...{ response, expectedChallenge: by.challenge, requireUserVerification: false },
      ...{ expectedOrigin: by.party.origin, expectedRPID: by.party.id },
      credential: { id, publicKey: new Uint8Array(publicKey), counter },
    });
    return judged.verified ? judged.authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}

/** A key as it is stored, out of a genuine answer; null when it is none. */
async function readNewKey(
  { relyingParty }: SecurityKeyDeps,
  response: RegistrationResponseJSON,
  expectedChallenge: string,
): Promise<Omit<NewSecurityKey, 'keyId' | 'name'> | null> {
  const party = relyingParty();
  if (party === null) return null;
  try {
    const told = decodeAttestationObject(
      isoBase64URL.toBuffer(response.response.attestationObject),
    );
    const hasCertificates = told.get('attStmt').get('x5c') !== undefined;
    if (!isAttestationTaken({ format: told.get('fmt'), hasCertificates })) return null;
    // The library asks that of a use, and not of a new key.
    if (isFramed(decodeClientDataJSON(response.response.clientDataJSON))) return null;
    const judged = await verifyRegistrationResponse({
      ...{ response, expectedChallenge, requireUserVerification: false },
      ...{ expectedOrigin: party.origin, expectedRPID: party.id },
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!judged.verified) return null;
    const { id: credentialId, publicKey, counter } = judged.registrationInfo.credential;
    const transports = (response.response.transports ?? []).filter((one) => TRANSPORTS.has(one));
    return { credentialId, publicKey: Buffer.from(publicKey), counter, transports };
  } catch {
    return null;
  }
}

function namesOf(keys: readonly SecurityKeyRow[]) {
  return keys.map(({ credentialId: id, transports }) => ({ id, transports: [...transports] }));
}

function newChallenge({ chance = systemChance }: SecurityKeyDeps): Uint8Array<ArrayBuffer> {
  return new Uint8Array(chance.randomBytes(SECURITY_KEY_CHALLENGE_BYTES));
}

function put(
  { securityKeys, now }: SecurityKeyDeps,
  { session }: FactorAsking,
  asked: { readonly purpose: ChallengePurpose; readonly challenge: string },
): Promise<boolean> {
  const nowMs = now();
  const expiresAtMs = nowMs + SECURITY_KEY_CHALLENGE_TTL_MS;
  return securityKeys.putChallenge({ ...asked, session: session.hash, nowMs, expiresAtMs });
}

function refusalOf(why: 'known' | 'too_many' | 'no_factor' | 'no_session'): Refusal {
  if (why === 'known') return refuse('mfa_state_conflict', 'This security key is known already.');
  if (why === 'no_factor') return refuse('mfa_state_conflict', OFF);
  if (why === 'no_session') return ended();
  const detail = `A person has at most ${SECURITY_KEYS_PER_USER_MAX} security keys.`;
  return refuse('bound_reached', detail);
}

function ended(): Refusal {
  return refuse('credential_invalid', 'The session has ended meanwhile.');
}
