// The Sensor's disk after SIGKILL before, between and inside all file calls. invariant: I5, I7, I13; decision: D13
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { openSpool } from '../../sensor/spool/spool.ts';
import { diskFiles } from '../../sensor/state-directory/file-port.ts';
import type { StateDirectory } from '../../sensor/state-directory/identity.ts';
import { rsaKeyWork } from '../../sensor/state-directory/key-work.ts';
import { openStateDirectory } from '../../sensor/state-directory/state-directory.ts';
import { type Fixture, makeFixture, SPOOL_SIZES } from './fixture.ts';

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const AT_ONCE = 3;
const NEVER = 1_000_000;
const TIMEOUT_MS = 120_000;

type Scenario = 'enroll' | 'renew' | 'spool';
type Batch = { readonly sequence: number; readonly ids: readonly string[] };
type Fact = {
  readonly key?: string;
  readonly installed?: true;
  readonly appending?: readonly number[];
  readonly appended?: readonly number[];
  readonly dropped?: number;
  readonly claimed?: Batch;
  readonly acknowledging?: Batch;
};
type Left = { readonly path: string; readonly facts: readonly Fact[] };

/** Declares the suite; `every` 1 kills at each call, 16 at one call in sixteen. */
export function describeCrashes(every: number): void {
  describe('a Sensor killed at any file call', () => {
    let root: string;
    let fixture: Fixture;
    let enrolled: string;
    const clock = createWheelClock();
    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), 'crash-'));
      fixture = await makeFixture();
      await writeFile(join(root, 'fixture.json'), JSON.stringify(fixture));
      enrolled = join(root, 'enrolled');
      const directory = await open(enrolled);
      await directory.beginKey(async () => fixture.first.keyPem);
      expect(await directory.installEnrollment({ ...fixture, ...fixture.first })).toMatchObject({
        ok: true,
      });
      await directory.close();
    });
    afterAll(async () => {
      clock.stop();
      await rm(root, { recursive: true, force: true });
    });

    async function open(path: string): Promise<StateDirectory> {
      const opened = await openStateDirectory({
        path,
        files: diskFiles,
        keyWork: rsaKeyWork,
        logger: silentLogger,
      });
      if (!opened.ok) throw new Error(opened.detail);
      return opened.directory;
    }

    async function run(
      scenario: Scenario,
      killAt: number,
      torn: string,
    ): Promise<Left & { out: string }> {
      const path = join(root, `${scenario}-${torn}-${killAt}`);
      if (scenario === 'renew') await cp(enrolled, path, { recursive: true });
      if (scenario === 'spool') await mkdir(path);
      const args = [CHILD, scenario, path, join(root, 'fixture.json'), String(killAt), torn];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      let [out, talk] = ['', ''];
      child.stdout.on('data', (chunk) => (out += chunk));
      child.stderr.on('data', (chunk) => (talk += chunk));
      const ended = await new Promise((resolve) =>
        child.on('close', (code, signal) => resolve(signal ?? code)),
      );
      expect([ended, talk]).toEqual([killAt === NEVER ? 0 : 'SIGKILL', '']);
      const lines = await readFile(`${path}.witness`, 'utf8').catch(() => '');
      const facts = lines.split('\n').filter(Boolean);
      return { path, out, facts: facts.map((line): Fact => JSON.parse(line)) };
    }

    /** Kills a run at each call, clean and torn, a few at once, and looks at what each left. */
    async function killEverywhere(scenario: Scenario, look: (left: Left) => Promise<void>) {
      const whole = await run(scenario, NEVER, 'clean');
      const calls = Number(whole.out);
      expect(calls).toBeGreaterThan(20);
      await look(whole);
      const todo = Array.from({ length: calls }, (_, at) => at).filter((at) => at % every === 0);
      const worker = async (): Promise<void> => {
        for (let at = todo.shift(); at !== undefined; at = todo.shift()) {
          await look(
            await run(
              scenario,
              at,
              (at / every) % 2 === 0 || scenario === 'spool' ? 'torn' : 'clean',
            ),
          );
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    }

    async function expectClosedKeys(path: string): Promise<void> {
      for (const name of ['client.key.pem', 'client.next.key.pem', 'client.prev.key.pem']) {
        const mode = await stat(join(path, name)).then(
          (facts) => facts.mode & 0o777,
          () => 0o600,
        );
        expect(mode).toBe(0o600);
      }
    }

    it(
      'always finishes or repeats its enrollment with the key it asked with',
      { timeout: TIMEOUT_MS },
      () =>
        killEverywhere('enroll', async ({ path, facts }) => {
          const directory = await open(path);
          const found = await directory.readIdentity();
          expect(found.kind).not.toBe('broken');
          if (facts.some((fact) => fact.installed)) expect(found.kind).toBe('whole');
          const wanted = facts.some((fact) => fact.key) ? fixture.first : fixture.third;
          if (found.kind === 'none') {
            const key = await directory.beginKey(async () => fixture.third.keyPem);
            if (wanted === fixture.first) expect(key).toBe(fixture.first.keyPem);
            const pair = [fixture.first, fixture.third].find((one) => one.keyPem === key);
            const answer = { ...fixture, certPem: pair?.certPem ?? '' };
            expect(await directory.installEnrollment(answer)).toMatchObject({ ok: true });
          } else expect(found).toMatchObject({ ...fixture.first, sensorId: fixture.sensorId });
          const state = {
            sensor_id: fixture.sensorId,
            trust_state: 'trusted',
            renewal_status: 'ok',
          };
          expect(await directory.readIdentity()).toMatchObject({
            kind: 'whole',
            previous: null,
            state,
          });
          await expectClosedKeys(path);
          await directory.close();
        }),
    );

    it('always has the old identity or the new one after a renewal', { timeout: TIMEOUT_MS }, () =>
      killEverywhere('renew', async ({ path, facts }) => {
        const directory = await open(path);
        const found = await directory.readIdentity();
        if (found.kind !== 'whole') throw new Error(found.kind);
        const isRenewed = found.keyPem === fixture.second.keyPem;
        expect(found).toMatchObject(isRenewed ? fixture.second : fixture.first);
        expect(found.previous).toEqual(isRenewed ? fixture.first : null);
        if (facts.some((fact) => fact.installed)) expect(isRenewed).toBe(true);
        if (!isRenewed) {
          const key = await directory.beginKey(async () => fixture.third.keyPem);
          if (facts.some((fact) => fact.key)) expect(key).toBe(fixture.second.keyPem);
          const pair = [fixture.second, fixture.third].find((one) => one.keyPem === key);
          const result = await directory.installRenewal({ certPem: pair?.certPem ?? '' });
          expect(result).toMatchObject({
            ok: true,
            identity: { ...pair, previous: fixture.first },
          });
        }
        await expectClosedKeys(path);
        expect(await directory.fallBackToPrevious()).toMatchObject({
          kind: 'whole',
          ...fixture.first,
        });
        await directory.close();
      }),
    );

    it('never loses, repeats or reorders a stored event', { timeout: TIMEOUT_MS }, () =>
      killEverywhere('spool', async ({ path, facts }) => {
        const opened = await openSpool({
          path: join(path, 'events.jsonl'),
          files: diskFiles,
          clock,
          now: Date.now,
          logger: silentLogger,
          random: () => new Uint8Array(16).fill(6),
          ...SPOOL_SIZES,
        });
        if (!opened.ok) throw new Error(opened.detail);
        const { spool } = opened;
        const open = spool.openClaim('stream');
        const claimed = facts.findLast((fact) => fact.claimed)?.claimed;
        const ending = new Set(facts.flatMap((fact) => fact.acknowledging?.sequence ?? []));
        const discarded = spool.discarded();
        const cursor = Number(spool.cursor() ?? 0);
        const ids: number[] = [];
        for (let first = true; ; first = false) {
          const batch = await spool.claim('stream', { maxEvents: 4, maxBytes: 10_000 });
          if (batch === null) break;
          const names = batch.events.map((event) => event.event_id);
          if (first && claimed && !ending.has(claimed.sequence) && discarded === 0) {
            expect([batch.sequence, names]).toEqual([claimed.sequence, claimed.ids]);
          }
          if (first && open === null)
            expect(batch.sequence).toBeGreaterThan(claimed?.sequence ?? 0);
          ids.push(...names.map(Number));
          await spool.acknowledge('stream', batch.sequence);
        }
        const appended = facts.flatMap((fact) => fact.appended ?? []);
        const last = facts.findLast((fact) => fact.appending)?.appending ?? [];
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
        expect([appended.length, (last.at(-1) ?? -1) + 1]).toContain(cursor);
        if (ids.length > 0) expect(ids.at(-1)).toBe(cursor - 1);
        const gone = new Set(facts.flatMap((fact) => fact.acknowledging?.ids ?? []).map(Number));
        const missing = appended.filter((id) => !gone.has(id) && !ids.includes(id));
        expect(missing.length).toBeLessThanOrEqual(discarded);
        expect(discarded).toBeGreaterThanOrEqual(facts.findLast((f) => f.dropped)?.dropped ?? 0);
        await spool.close();
      }),
    );
  });
}
