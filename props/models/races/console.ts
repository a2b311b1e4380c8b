// The trust actions of a Console over the reference stores, with every call to a store late. The authority is a cheap
// stand-in: a key is its own certificate request, and a certificate is a number.
import { createHash } from 'node:crypto';
import type fc from 'fast-check';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import type { SensorCertificates } from '../../../actors/trust/certificate-port.ts';
import { createEnrollment } from '../../../actors/trust/enrollment.ts';
import { openIdentityCache } from '../../../actors/trust/identity-cache.ts';
import { createAuthenticate, createRenewal } from '../../../actors/trust/renewal.ts';
import { createRevocation } from '../../../actors/trust/revocation.ts';
import type { SensorActors } from '../../../actors/trust/sensor-actors.ts';
import { createTokenService } from '../../../actors/trust/tokens.ts';
import type { SensorEvent } from '../../../machines/console/fleet/sensor.machine.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import type { EnrollRequest } from '../../../machines/wire/enrollment.ts';
import { createMemoryRelational } from '../../../storage/memory/memory-relational.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import { type Race, scheduledPort } from './scheduled-port.ts';

type Watch = Parameters<SensorRegistry['watchIdentities']>[0];

export const NOW_MS = 1_800_000_000_000;
const NODE = 'node-a';

/** Starts a Console whose stores answer when the scheduler says so. Opening it is not raced. */
export async function startConsole(
  scheduler: Race,
  options: { readonly nodesAllowed?: number } = {},
) {
  const memory = createMemoryRelational();
  const direct = memory.sensors;
  const { watchIdentities, ...calls } = direct;
  let isLate = false;
  const late = scheduledPort(scheduler, calls);
  let isCut = false;
  let watching: Watch | null = null;
  const registry: SensorRegistry = {
    ...late,
    loadIdentities: () => (isLate ? late.loadIdentities() : direct.loadIdentities()),
    watchIdentities(watch) {
      watching = watch;
      return watchIdentities.call(direct, {
        ...watch,
        onChange: (sensorId) =>
          void scheduler
            .schedule(Promise.resolve(), 'notification')
            .then(() => (isCut ? undefined : watch.onChange(sensorId))),
      });
    },
  };
  const told: (SensorEvent & { readonly sensorId: string })[] = [];
  const opened: string[] = [];
  const sensors: SensorActors = {
    open: (row) => void opened.push(row.sensorId),
    tell(sensorId, event) {
      if (!opened.includes(sensorId)) return 'absent';
      told.push({ ...event, sensorId });
      return 'told';
    },
    onStart: () => () => undefined,
    view: () => null,
  };
  const cache = await openIdentityCache({
    registry,
    revokeAgain: async (sensorId) => {
      throw new Error(`the database never forgets here: ${sensorId}`);
    },
    overlapMs: DEFAULT_INTERVALS.PREVIOUS_CERTIFICATE_OVERLAP_MS,
    timers: { now: () => NOW_MS, setTimeout: () => 0, clearTimeout: () => undefined },
    monotonicNow: () => 0,
    logger: silentLogger,
  });
  isLate = true;
  const certificates = standInAuthority(scheduler);
  const deps = {
    registry,
    certificates,
    cache,
    sensors,
    audit: memory.audit,
    license: { nodesAllowed: () => options.nodesAllowed ?? null },
    intervals: DEFAULT_INTERVALS,
    platform: 'standard' as const,
    policyPublicKeyPem: 'pem',
    now: () => NOW_MS,
    logger: silentLogger,
  };
  return {
    cache,
    /** The store itself, at once. */
    direct,
    registry,
    told,
    opened,
    /** Cuts the notifications off, or lets them flow again; what was on its way while they were cut is lost. */
    cutNotifications(isOff: boolean): void {
      if (isOff === isCut) return;
      isCut = isOff;
      if (isOff) watching?.onLost();
      else watching?.onRestored();
    },
    enroll: createEnrollment(deps),
    renew: createRenewal(deps),
    authenticate: createAuthenticate(deps),
    revoke: createRevocation(deps),
    service: createTokenService({ registry: direct, ttlMs: 900_000, now: () => NOW_MS }),
  };
}
export type RacedConsole = Awaited<ReturnType<typeof startConsole>>;

function standInAuthority(scheduler: fc.Scheduler): SensorCertificates {
  let issued = 0;
  return {
    rootsPem: 'roots',
    newSerial: () => String(issued),
    checkCsr: ({ csrPem }) => ({
      ok: true,
      publicKeySpki: Buffer.from(csrPem),
      keyDigest: createHash('sha256').update(csrPem).digest('hex'),
    }),
    async issueSensorCertificate({ notBeforeMs, notAfterMs, serial }) {
      await scheduler.schedule(Promise.resolve(), 'certificate signed');
      issued += 1;
      return { pem: `pem-${issued}`, fingerprint: `f-${issued}`, notBeforeMs, notAfterMs, serial };
    },
  };
}

/** What a node with this key asks. */
export function enrollRequest(token: string, key: string, nodeName = NODE): EnrollRequest {
  return {
    token,
    csr_pem: key,
    node_name: nodeName,
    flavor: 'standard',
    system: { os_name: 'Debian', os_version: '12', architecture: 'x64', kernel_version: '6' },
    boot_id: 'boot',
    sensor_version: '1.0.0',
  };
}

/** Enrolls one sensor before the race begins. */
export async function enrolled(raced: RacedConsole, scheduler: fc.Scheduler) {
  const { secret } = await raced.service.create({ note: '', actor: 'test' });
  const answering = raced.enroll(enrollRequest(secret, 'key-0'), { address: '::1' });
  const answer = await scheduler.waitFor(answering);
  await scheduler.waitIdle();
  if (!answer.ok) throw new Error(`the first enrollment was refused: ${answer.code}`);
  const sensorId = answer.response.sensor_id;
  const [identity] = raced.cache.identitiesOf(sensorId);
  if (identity === undefined) throw new Error('an enrolled sensor has a certificate');
  return { sensorId, identity };
}
