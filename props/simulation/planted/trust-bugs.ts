// Mistakes about who is trusted: tokens, revocations, and the end of a certificate.
import type { IdentityCache, IdentityVerdict } from '../../../actors/trust/identity-cache.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { SimulatedStores } from '../world/stores.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, LONG_LIVES, SHORT_LIVES } from './settings.ts';

/** Requests are repeated up to a minute later, while certificates change every two minutes. */
const REPLAYED = {
  ...CALM,
  hours: 0.3,
  kinds: ['network.replay'],
  faultsPerHour: 120,
  intervals: SHORT_LIVES,
} as const;
/** Machines are revoked and set up anew. */
const REVOKED = {
  ...CALM,
  hours: 0.2,
  kinds: ['operator.revoke'],
  faultsPerHour: 60,
} as const;

function tamperRegistry(
  change: (sensors: SensorRegistry) => Partial<SensorRegistry>,
): ConsoleTampering {
  return {
    relational: (ports) => ({
      ...ports,
      sensors: { ...ports.sensors, ...change(ports.sensors) },
    }),
  };
}

type Judge = IdentityCache['judge'];
function tamperJudge(change: (judge: Judge) => Judge): ConsoleTampering {
  return {
    fleet: (fleet) => ({
      ...fleet,
      identities: { ...fleet.identities, judge: change(fleet.identities.judge) },
    }),
  };
}

/** What is refused with this code now is judged as it was some time ago. */
function judgeLate(code: string, byMs: number): ConsoleTampering {
  return tamperJudge((judge) => (fingerprint, nowMs) => {
    const verdict = judge(fingerprint, nowMs);
    if (verdict.ok || verdict.code !== code) return verdict;
    return judge(fingerprint, nowMs - byMs);
  });
}

/** Forgets in the durable state that a token was used, which no call of the registry could do. */
function freeToken({ relational }: SimulatedStores, hash: Buffer): void {
  const name = hash.toString('hex');
  const token = relational.state.tokens.get(name);
  if (token === undefined) return;
  relational.state.tokens.set(name, {
    ...token,
    consumedAtMs: null,
    consumedKeyDigest: null,
    fingerprint: null,
  });
}

/** The renewal of a replaced certificate is answered as if its successor had asked. */
function renewForPrevious({ relational }: SimulatedStores): ConsoleTampering {
  const { certificates } = relational.state;
  const registry = tamperRegistry((sensors) => ({
    async addPendingCertificate(input) {
      const outcome = await sensors.addPendingCertificate(input);
      const presented = certificates.get(input.byFingerprint);
      if (outcome.ok || presented?.status !== 'previous') return outcome;
      const identities = await sensors.identitiesOf(presented.sensorId);
      return { ok: true, repeated: true, certificate: presented.row, identities };
    },
  }));
  const judged = tamperJudge((judge) => (fingerprint, nowMs) => {
    const verdict = judge(fingerprint, nowMs);
    if (!verdict.ok || verdict.identity.status !== 'previous') return verdict;
    return { ok: true, identity: { ...verdict.identity, status: 'current' } };
  });
  return { ...registry, ...judged };
}

export const TRUST_BUGS: readonly PlantedBug[] = [
  {
    name: 'token-stays-open',
    mistake: 'An enrollment consumes no token and does not look whose key it is.',
    foundBy: 'token-once',
    options: {
      ...REVOKED,
      kinds: ['network.replay', 'operator.recreate'],
      faultsPerHour: 400,
    },
    pinnedSeed: '1',
    console: (_world, stores) => {
      let enrolled = 0;
      return tamperRegistry((sensors) => ({
        async enroll(input) {
          enrolled += 1;
          const keyDigest = `${input.certificate.keyDigest} ${enrolled}`;
          const certificate = { ...input.certificate, keyDigest };
          const outcome = await sensors.enroll({ ...input, certificate });
          if (outcome.ok) freeToken(stores, input.tokenHash);
          return outcome;
        },
      }));
    },
  },
  {
    name: 'expired-token-enrols',
    mistake: 'Nobody looks whether a token is past its end.',
    foundBy: 'token-once',
    options: {
      ...REVOKED,
      kinds: ['operator.recreate', 'network.cut'],
      faultsPerHour: 400,
      intervals: { ...LONG_LIVES, ENROLLMENT_TOKEN_TTL_MS: 10_000 },
    },
    pinnedSeed: '2',
    console: (_world, { relational }) =>
      tamperRegistry((sensors) => ({
        async createToken(input) {
          const outcome = await sensors.createToken(input);
          const name = input.hash.toString('hex');
          const token = relational.state.tokens.get(name);
          const expiresAtMs = Number.MAX_SAFE_INTEGER;
          if (token !== undefined) relational.state.tokens.set(name, { ...token, expiresAtMs });
          return outcome;
        },
      })),
  },
  {
    name: 'revocation-forgotten',
    mistake: 'A certificate that was accepted once is accepted for ever.',
    foundBy: 'revoked',
    options: REVOKED,
    pinnedSeed: '1',
    console() {
      const accepted = new Map<string, IdentityVerdict>();
      return tamperJudge((judge) => (fingerprint, nowMs) => {
        const known = accepted.get(fingerprint ?? '');
        if (known !== undefined) return known;
        const verdict = judge(fingerprint, nowMs);
        if (verdict.ok) accepted.set(verdict.identity.fingerprint, verdict);
        return verdict;
      });
    },
  },
  {
    name: 'deaf-replica',
    mistake: 'A Console does not hear what other Consoles change.',
    foundBy: 'revoked',
    options: { ...REVOKED, consoles: 2, sensors: 3 },
    pinnedSeed: '1',
    console: () =>
      tamperRegistry((sensors) => ({
        watchIdentities: (watch) => sensors.watchIdentities({ ...watch, onChange() {} }),
      })),
  },
  {
    name: 'sure-while-cut-off',
    mistake: 'A Console whose notifications stopped goes on judging by what it knew.',
    foundBy: 'revoked',
    options: {
      ...REVOKED,
      consoles: 2,
      sensors: 2,
      kinds: ['operator.revoke', 'relational.notifications'],
      faultsPerHour: 400,
    },
    pinnedSeed: '9',
    console: () =>
      tamperRegistry((sensors) => ({
        watchIdentities: async (watch) => ({
          ...(await sensors.watchIdentities({ ...watch, onLost() {} })),
          provenAgoMs: () => 0,
        }),
      })),
  },
  {
    name: 'overlap-a-minute-too-long',
    mistake: 'A replaced certificate is accepted for a minute after its overlap.',
    foundBy: 'certificate-window',
    options: REPLAYED,
    pinnedSeed: '1',
    console: () => judgeLate('certificate_superseded', 60_000),
  },
  {
    name: 'overlap-a-second-too-long',
    mistake: 'A replaced certificate is accepted for one second after its overlap.',
    foundBy: 'certificate-window',
    options: {
      ...REPLAYED,
      sensors: 2,
      hours: 0.4,
      faultsPerHour: 240,
      intervals: { ...SHORT_LIVES, HEARTBEAT_INTERVAL_MS: 5_000, HEARTBEAT_TIMEOUT_MS: 5_000 },
    },
    pinnedSeed: '2',
    console: () => judgeLate('certificate_superseded', 1_000),
  },
  {
    name: 'overlap-too-short',
    mistake: 'A replaced certificate is refused after half of its overlap.',
    foundBy: 'certificate-window',
    options: REPLAYED,
    pinnedSeed: '2',
    console: () => ({
      intervals: (intervals) => ({
        ...intervals,
        PREVIOUS_CERTIFICATE_OVERLAP_MS: intervals.PREVIOUS_CERTIFICATE_OVERLAP_MS / 2,
      }),
    }),
  },
  {
    name: 'previous-renews',
    mistake: 'A replaced certificate may ask for a new one.',
    foundBy: 'certificate-window',
    options: { ...REPLAYED, faultsPerHour: 400 },
    pinnedSeed: '1',
    console: (_world, stores) => renewForPrevious(stores),
  },
  {
    name: 'expired-certificate-serves',
    mistake: 'A certificate is accepted for ten seconds after its end.',
    foundBy: 'certificate-window',
    options: { ...REPLAYED, kinds: ['disk.read_only', 'disk.full'], faultsPerHour: 60 },
    pinnedSeed: '1',
    console: () => judgeLate('certificate_expired', 10_000),
  },
];
