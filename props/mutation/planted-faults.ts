// Faults that somebody might write, each in one product file, never a port: what is replaced by what, and the tests of that
// part. `plant.ts` tries them; what found which stands in PLANTED.md.

export type PlantedFault = {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly replace: string;
  readonly by: string;
  /** Tests of the part, beside the simulated fleet. */
  readonly tests: readonly string[];
};

const DURABILITY = ['props/crash/durability.test.ts'];

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a torn tail of the spool is kept',
    file: 'sensor/spool/journal-file.ts',
    replace: 'if (recovered.length < size) {',
    by: 'if (recovered.length < 0) {',
    tests: DURABILITY,
  },
  {
    name: 'an append is not synced',
    file: 'sensor/spool/spool-store.ts',
    replace: 'if (isDurable) await file.sync();',
    by: 'if (isDurable) await Promise.resolve();',
    tests: DURABILITY,
  },
  {
    name: 'a failed sync is trusted',
    file: 'sensor/spool/spool-store.ts',
    replace: 'if (isDurable) await file.sync();',
    by: 'if (isDurable) await file.sync().catch(() => undefined);',
    tests: DURABILITY,
  },
  {
    name: 'a rewritten journal is not synced',
    file: 'sensor/spool/journal-file.ts',
    replace: 'await target.sync();',
    by: 'await Promise.resolve();',
    tests: DURABILITY,
  },
  {
    name: 'a file is not synced before it gets its name',
    file: 'sensor/state-directory/atomic-file.ts',
    replace: 'await file.sync();',
    by: 'await Promise.resolve();',
    tests: DURABILITY,
  },
  {
    name: 'what the cap drops is not counted',
    file: 'machines/sensor/spool.rules.ts',
    replace: 'settleGone(state, dropOldest(state, change.count), change)',
    by: 'dropOldest(state, change.count)',
    tests: ['machines/sensor/spool.rules.test.ts', 'props/models/spool.model.test.ts'],
  },
  {
    name: 'an acknowledged batch may be of another number',
    file: 'machines/sensor/spool.rules.ts',
    replace: 'return claim !== null && claim.sequence === name.sequence ? claim : null;',
    by: 'return claim;',
    tests: ['machines/sensor/spool.rules.test.ts', 'props/models/spool.model.test.ts'],
  },
  {
    name: 'a replaced certificate is good until it expires',
    file: 'machines/trust/certificate.rules.ts',
    replace: "facts.status === 'previous' && !isInsideOverlap",
    by: "facts.status === 'ended' && !isInsideOverlap",
    tests: ['machines/trust/certificate.rules.test.ts'],
  },
  {
    name: 'a revocation is taken back by a late answer',
    file: 'actors/trust/identity-cache.ts',
    replace: 'sensorRevokedAtMs: one.sensorRevokedAtMs ?? revokedAtMs,',
    by: 'sensorRevokedAtMs: one.sensorRevokedAtMs,',
    tests: ['props/models/races/identity-cache.test.ts'],
  },
  {
    name: 'a view of revocations is never too old',
    file: 'actors/trust/identity-cache.ts',
    replace: 'if (provenAgoMs() > viewMaxAgeMs || isOutdated(lostSinceMs)) return unsure();',
    by: 'if (provenAgoMs() > Number.MAX_VALUE) return unsure();',
    tests: ['actors/trust/identity-cache.test.ts'],
  },
  {
    name: 'a proof of notifications is dated by its answer',
    file: 'storage/relational/trust/identity-watch.ts',
    replace: `if (client !== asked) return;
      provenAtMs = askedAtMs;`,
    by: `if (client !== asked) return;
      provenAtMs = performance.now();`,
    tests: ['storage/relational/trust/identity-watch.test.ts'],
  },
  {
    name: 'a batch is acknowledged before it is stored',
    file: 'actors/telemetry/ingest.ts',
    replace: 'const outcome = await writing;',
    by: 'const outcome = await Promise.race([writing, Promise.resolve({ ok: true as const })]);',
    tests: ['props/attacks/stream.test.ts', 'props/attacks/stores-away.test.ts'],
  },
  {
    name: 'a repeat is stored again',
    file: 'actors/telemetry/ingest.ts',
    replace: "if (standing === 'repeat') {",
    by: "if (standing === 'repeat' && batch.sequence < 0) {",
    tests: ['actors/telemetry/telemetry.test.ts', 'props/attacks/stream.test.ts'],
  },
  {
    name: 'an insert whose fate is unknown is made again under a new token',
    file: 'storage/analytics/direct-sink.ts',
    replace: 'inserter.insert(batches, token, signal),',
    by: 'inserter.insert(batches, attempt === 1 ? token : newToken(), signal),',
    tests: [
      'props/contracts/embedded.services.test.ts',
      'props/contracts/embedded-faults.services.test.ts',
    ],
  },
  {
    name: 'of two facts of one sensor the older is written',
    file: 'storage/relational/fleet/fact-writer.ts',
    replace: 'known === undefined || known.receivedAtMs <= item.receivedAtMs',
    by: 'known === undefined || known.receivedAtMs > item.receivedAtMs',
    tests: ['props/contracts/embedded.services.test.ts'],
  },
  {
    name: 'a certificate is put before its key',
    file: 'machines/sensor/identity-files.rules.ts',
    replace: `  { to: 'key', from: 'nextKey' },
  { to: 'certificate', from: 'nextCertificate' },`,
    by: `  { to: 'certificate', from: 'nextCertificate' },
  { to: 'key', from: 'nextKey' },`,
    tests: ['machines/sensor/identity-files.test.ts', 'props/machines/identity-files.test.ts'],
  },
  {
    name: 'a refused new certificate is kept',
    file: 'sensor/capabilities/trust/renewal.actor.ts',
    replace: "if (NOT_KNOWN.has(answer.code)) return 'rejected';",
    by: "if (NOT_KNOWN.has(answer.code)) return 'unreachable';",
    tests: ['props/peers/renewal.test.ts'],
  },
  {
    name: 'a stream goes on after its sensor was revoked',
    file: 'gateway/sensor-plane/stream-hub.ts',
    replace: 'if (!verdict.ok) endFor(peer, verdict.code);',
    by: "if (!verdict.ok && verdict.code !== 'sensor_revoked') endFor(peer, verdict.code);",
    tests: ['props/attacks/stream.test.ts', 'props/attacks/certificates.test.ts'],
  },
  {
    name: 'a heartbeat is confirmed before its facts are written',
    file: 'gateway/sensor-plane/heartbeat-route.ts',
    replace: 'if (!(await taken.writing)) {',
    by: 'if ((taken.writing as unknown) === false) {',
    tests: ['props/attacks/database-away.test.ts', 'props/attacks/stores-away.test.ts'],
  },
];
