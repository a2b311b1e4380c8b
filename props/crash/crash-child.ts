// The process that is killed: node crash-child.ts <scenario> <directory> <fixture> <kill at> <torn>. What it was told is
// durable it notes in <directory>.witness, so the parent can hold the disk against it.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { openSpool } from '../../sensor/spool/spool.ts';
import { rsaKeyWork } from '../../sensor/state-directory/key-work.ts';
import { openStateDirectory } from '../../sensor/state-directory/state-directory.ts';
import { type Fixture, fixtureEvent, SPOOL_SIZES } from './fixture.ts';
import { killingFiles } from './killing-files.ts';

const [scenario, path = '', fixturePath = '', killAt, torn] = process.argv.slice(2);
const { files, calls } = killingFiles({ at: Number(killAt), isTorn: torn === 'torn' });
const witness = (fact: unknown) => appendFileSync(`${path}.witness`, `${JSON.stringify(fact)}\n`);

if (scenario === 'spool') await runSpool();
else await runIdentity(JSON.parse(readFileSync(fixturePath, 'utf8')) as Fixture);
process.stdout.write(String(calls()));
process.exit(0);

async function runIdentity(fixture: Fixture): Promise<void> {
  const opened = await openStateDirectory({
    path,
    files,
    keyWork: rsaKeyWork,
    logger: silentLogger,
  });
  if (!opened.ok) throw new Error(opened.detail);
  const { directory } = opened;
  await directory.readIdentity();
  const { keyPem, certPem } = scenario === 'enroll' ? fixture.first : fixture.second;
  witness({ key: await directory.beginKey(async () => keyPem) });
  const { sensorId, caPem, policyPubPem } = fixture;
  const result =
    scenario === 'enroll'
      ? await directory.installEnrollment({ sensorId, certPem, caPem, policyPubPem })
      : await directory.installRenewal({ certPem });
  if (!result.ok) throw new Error(result.detail);
  witness({ installed: true });
  await directory.close();
}

async function runSpool(): Promise<void> {
  const clock = createWheelClock();
  const opened = await openSpool({
    path: join(path, 'events.jsonl'),
    files,
    clock,
    now: Date.now,
    logger: silentLogger,
    random: () => new Uint8Array(16).fill(5),
    ...SPOOL_SIZES,
  });
  if (!opened.ok) throw new Error(opened.detail);
  const { spool } = opened;
  let next = 0;
  for (let round = 0; round < 10; round += 1) {
    const ids = [next++, next++, next++];
    witness({ appending: ids });
    const result = await spool.append(ids.map(fixtureEvent), next);
    if (!result.ok) throw new Error(result.reason);
    witness({ appended: ids, dropped: spool.discarded() });
    if (round % 4 === 3) continue;
    const batch = await spool.claim('stream', { maxEvents: 2, maxBytes: 10_000 });
    if (batch === null) throw new Error('there is something to claim');
    const claimed = { sequence: batch.sequence, ids: batch.events.map((event) => event.event_id) };
    witness({ claimed });
    if (round % 3 === 2) continue;
    witness({ acknowledging: claimed });
    await spool.acknowledge('stream', batch.sequence);
  }
  await spool.close();
  clock.stop();
}
