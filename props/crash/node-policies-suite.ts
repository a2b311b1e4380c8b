// A node that dies at any step of taking keys, its own policies and a pack: whatever file call was the last one, also when
// it wrote half, the next start has the old set or the new one in force, whole and verified, and gets to what is wanted.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PolicyAnswer } from '../../machines/wire/policy.ts';
import { diskFiles, type Files, type OpenFile } from '../../sensor/state-directory/file-port.ts';
import {
  assignmentOf,
  customOf,
  newSigner,
  packOf,
  rotationOf,
  startTestNode,
} from './node-policies.fixture.ts';

const TIMEOUT_MS = 600_000;
const [first, second] = [newSigner(), newSigner()];
const older = packOf(first, 1, { one: '/a', two: '/b', gone: '/g' });
const newer = packOf(second, 2, { one: '/c', two: '/d', new: '/n' });
const own = customOf(first, 1, { two: '/own' });
const bodies = new Map<string, unknown>([
  [assignmentOf(older).path, older],
  [assignmentOf(newer).path, newer],
  [own.told.path, own.body],
]);
const wanted: PolicyAnswer = {
  signing_key_rotations: [rotationOf(first, second, 1)],
  custom_policies: own.told,
  pack_assignment: assignmentOf(newer, { mode: 'monitor' }),
};

/** The disk until its n-th change, which is not made, or made by half; nothing is reached after that. */
function dyingFiles(
  at: number,
  isTorn: boolean,
): { readonly files: Files; calls(): number; died: Promise<void> } {
  let calls = 0;
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const opened = new Set<OpenFile>();
  const alive = async (): Promise<void> => {
    if (calls <= at) return;
    for (const file of opened) void file.close();
    opened.clear();
    resolve();
    await new Promise(() => {});
  };
  const step = (): Promise<void> => {
    calls += 1;
    return alive();
  };
  const wrap = (file: OpenFile): OpenFile => ({
    read: (into, position) => alive().then(() => file.read(into, position)),
    async append(bytes) {
      if (calls === at && isTorn) await file.append(bytes.subarray(0, Math.ceil(bytes.length / 2)));
      await step();
      await file.append(bytes);
    },
    truncate: (length) => step().then(() => file.truncate(length)),
    sync: () => step().then(() => file.sync()),
    async close() {
      if (opened.delete(file)) await file.close();
    },
  });
  const files: Files = {
    open: async (path, how, mode) => {
      await (how === 'read' ? alive() : step());
      const file = await diskFiles.open(path, how, mode);
      opened.add(file);
      return wrap(file);
    },
    readFile: (path) => alive().then(() => diskFiles.readFile(path)),
    stat: (path) => alive().then(() => diskFiles.stat(path)),
    list: (path) => alive().then(() => diskFiles.list(path)),
    makeDirectory: (path, mode) => step().then(() => diskFiles.makeDirectory(path, mode)),
    setMode: (path, mode) => step().then(() => diskFiles.setMode(path, mode)),
    rename: (from, to) => step().then(() => diskFiles.rename(from, to)),
    remove: (path) => step().then(() => diskFiles.remove(path)),
    syncDirectory: (path) => step().then(() => diskFiles.syncDirectory(path)),
  };
  return { files, calls: () => calls, died };
}

const OLD = ['one enforce', 'two enforce', 'gone enforce'];
/** Every set that may be in force after a crash: each step done or not. */
const WHOLE = [
  OLD,
  ['two enforce', 'one enforce', 'gone enforce'],
  ['two enforce', 'one monitor', 'new monitor'],
].map((set) => set.join());

/** Declares the suite; `every` 1 dies at each call, 5 at one in five. */
export function describeDyingNodes(every: number): void {
  describe('a node that dies while it takes policies', () => {
    let root = '';
    beforeAll(async () => {
      root = mkdtempSync(join(tmpdir(), 'dying-node-'));
      const stateDir = join(root, 'begun');
      await diskFiles.makeDirectory(stateDir, 0o700);
      writeFileSync(join(stateDir, 'policy-signing.pub'), first.pem);
      const node = await startTestNode({ stateDir, files: diskFiles, bodies });
      await node.tell({ pack_assignment: assignmentOf(older) });
      expect(node.inForce()).toEqual(OLD);
      await node.stop();
    }, TIMEOUT_MS);
    afterAll(() => rmSync(root, { recursive: true, force: true }));

    /** One life that dies, and what the next one finds; null when it did not come to die. */
    async function die(at: number, isTorn: boolean): Promise<boolean> {
      const stateDir = join(root, `${at}-${isTorn}`);
      cpSync(join(root, 'begun'), stateDir, { recursive: true });
      const dying = dyingFiles(at, isTorn);
      const life = startTestNode({ stateDir, files: dying.files, bodies });
      const whole = life.then((node) => node.tell(wanted).then(() => node));
      const ended = await Promise.race([dying.died.then(() => null), whole]);
      if (ended !== null) {
        expect(ended.inForce().join()).toBe(WHOLE[2]);
        await ended.stop();
        return false;
      }
      const next = await startTestNode({ stateDir, files: diskFiles, bodies });
      expect(next.found.ok, `at call ${at}`).toBe(true);
      expect(WHOLE, `at call ${at}`).toContain(next.inForce().join());
      await next.tell(wanted);
      expect(next.inForce().join()).toBe(WHOLE[2]);
      expect(
        next.keys
          .keys()
          .map(({ id }) => id)
          .sort(),
      ).toEqual([first.id, second.id].sort());
      expect(readdirSync(stateDir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      expect(readdirSync(join(stateDir, 'policy-packs'))).toHaveLength(2);
      await next.stop();
      rmSync(stateDir, { recursive: true });
      return true;
    }

    it.each([false, true])(
      'should have the old set or the new one after every file call (torn: %s)',
      async (isTorn) => {
        let at = isTorn ? Math.floor(every / 2) : 0;
        while (await die(at, isTorn)) at += every;
        expect(at).toBeGreaterThan(30);
      },
      TIMEOUT_MS,
    );
  });
}
