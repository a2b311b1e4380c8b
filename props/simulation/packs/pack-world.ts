// A node with packs in a seeded world: a Console that publishes, assigns, takes back and forgets, somebody on the way who
// changes what is downloaded, keys that change, and a host that is killed or loses its power at any call. Whatever the
// engine has in force is held against what was published. invariant: I8
import type { PolicyAnswer, SignedPack } from '../../../machines/wire/policy.ts';
import type { Files } from '../../../sensor/state-directory/file-port.ts';
import {
  assignmentOf,
  customOf,
  newSigner,
  packOf,
  rotationOf,
  type Signer,
  startTestNode,
} from '../../crash/node-policies.fixture.ts';
import { createHostClock, wheelOf } from '../world/clocks.ts';
import { createSimulatedDisk } from '../world/disk.ts';
import { beginLife, type Life } from '../world/life.ts';
import { pumpTime } from '../world/pump.ts';
import type { Random } from '../world/random.ts';
import { createWorld } from '../world/world.ts';
import { createPackChecker } from './pack-checker.ts';

const STATE_DIR = '/var/lib/service-sensor';
const ACTS = 14;
const CALLS_MAX = 60;
/** Keys are made once: making them is slow, and none of them is the seed's. */
export const KEYS: readonly Signer[] = Array.from({ length: 4 }, newSigner);
export const STRANGER: Signer = newSigner();

export type PackRun = { readonly problem: string | null; readonly acts: readonly string[] };

/** Lives through one seed; `tamper` plants a bug into the node's disk. */
export async function runPacks(
  seed: string,
  tamper: (files: Files) => Files = (files) => files,
): Promise<PackRun> {
  const world = createWorld(seed);
  const random = world.random.fork('packs');
  const disk = createSimulatedDisk(world, 'node-1');
  const clock = createHostClock(world.scheduler, { driftPpm: 0, offsetMs: 0 });
  const bodies = new Map<string, unknown>();
  const checker = createPackChecker();
  const consoleSide = createConsoleSide(random, bodies, checker);
  const acts: string[] = [];
  let incarnation = 0;
  let ended: PromiseWithResolvers<null> = Promise.withResolvers();
  const [first] = KEYS;
  disk.write(`${STATE_DIR}/policy-signing.pub`, first?.pem ?? '', 0o644);
  const stopPump = pumpTime(world.scheduler);

  function die(life: Life, how: 'killed' | 'power_lost'): void {
    life.end();
    disk.end(how, random.fork(`end ${incarnation}`));
    ended.resolve(null);
  }

  function ambush(life: Life): void {
    const how = random.chance(0.5) ? 'killed' : 'power_lost';
    const when = random.chance(0.5) ? 'before' : 'after';
    life.endAtCall(random.between(1, CALLS_MAX), when, () => die(life, how));
  }

  function begin() {
    incarnation += 1;
    ended = Promise.withResolvers();
    const life = beginLife(world.scheduler, { host: 'node-1', incarnation });
    const node = startTestNode({
      ...{ stateDir: STATE_DIR, files: tamper(disk.filesFor(life)), bodies },
      clock: wheelOf(life, clock),
      refuses: (name) => (name === 'bad' ? 'this kernel cannot' : ''),
      readEngineFile: () => disk.read(`${STATE_DIR}/run/policies`)?.toString() ?? '',
      onSet: (set) => {
        if (life.isAlive()) checker.inForce(set);
      },
    });
    return { life, node };
  }

  let current = begin();
  try {
    for (let at = 0; at < ACTS && checker.problem() === null; at += 1) {
      const act = consoleSide.act();
      acts.push(act.name);
      if (random.chance(0.5)) ambush(current.life);
      // Told again by every heartbeat until it is settled, over as many lives as that takes.
      for (let lives = 0; ; lives += 1) {
        const told = current.node.then((node) => node.tell(act.answer).then(() => node));
        const settled = await Promise.race([told, ended.promise]);
        if (settled !== null) {
          checker.told(settled.report());
          break;
        }
        acts.push('died');
        current = begin();
        if (lives < 3 && random.chance(0.5)) ambush(current.life);
      }
    }
    const problem = checker.problem() ?? world.crashes()[0] ?? null;
    return { problem, acts };
  } finally {
    current.life.end();
    await stopPump();
  }
}

type Act = { readonly name: string; readonly answer: PolicyAnswer };
type Checker = ReturnType<typeof createPackChecker>;

function createConsoleSide(random: Random, bodies: Map<string, unknown>, checker: Checker) {
  const published: SignedPack[] = [];
  let key = 0;
  let revision = 0;
  let sequence = 0;
  let version = 0;

  function publish(): SignedPack {
    version += 1;
    const policies: Record<string, string> = {};
    for (const name of ['one', 'two', 'three', 'bad']) {
      if (random.chance(name === 'bad' ? 0.1 : 0.7)) policies[name] = `/v${version}/${name}`;
    }
    if (Object.keys(policies).length === 0) policies['one'] = `/v${version}`;
    const rollback_to = published
      .map((one) => one.version)
      .filter((one) => one < version && random.chance(0.3));
    const by = KEYS[key] ?? STRANGER;
    const pack = packOf(by, version, policies, { rollback_to });
    published.push(pack);
    checker.published(pack);
    return pack;
  }

  function assign(name: string, pack: SignedPack, body: unknown = pack): Act {
    const mode = random.chance(0.3) ? 'monitor' : 'enforce';
    const assigned = assignmentOf(pack, { mode });
    bodies.set(assigned.path, body);
    return { name: `${name} ${pack.version} ${mode}`, answer: { pack_assignment: assigned } };
  }

  function forge(): Act {
    const genuine = publish();
    const other = packOf(STRANGER, genuine.version, { one: '/forged', two: '/forged' });
    const [head, ...rest] = genuine.policies;
    const forged = random.pick([
      other,
      { ...genuine, policies: rest.length > 0 ? rest : other.policies },
      { ...genuine, policies: head === undefined ? [] : [head, ...other.policies.slice(1)] },
      { ...other, manifest_signature: genuine.manifest_signature },
    ]);
    // A stranger may hold the Console, too: then the assignment is for the forged one.
    return assign('forged', random.chance(0.5) ? other : genuine, forged);
  }

  const kinds: Readonly<Record<string, () => Act>> = {
    publish: () => assign('publish', publish()),
    again: () =>
      published.length === 0
        ? assign('publish', publish())
        : assign('assign', random.pick(published)),
    forge,
    remove: () => {
      const last = published.at(-1) ?? publish();
      const { assignment_id } = assignmentOf(last);
      return { name: 'remove', answer: { pack_assignment: { assignment_id, removed: true } } };
    },
    custom: () => {
      revision += 1;
      const policies: Record<string, string> = random.chance(0.3)
        ? {}
        : { two: `/own/${revision}` };
      const { body, told } = customOf(KEYS[key] ?? STRANGER, revision, policies);
      bodies.set(told.path, body);
      checker.custom(body.policies);
      return { name: `custom ${revision}`, answer: { custom_policies: told } };
    },
    keys: () => {
      if (key + 1 >= KEYS.length) return kinds['custom']?.() ?? forge();
      const [by, next] = [KEYS[key] ?? STRANGER, KEYS[key + 1] ?? STRANGER];
      key += 1;
      sequence += 1;
      return {
        name: `key ${key}`,
        answer: { signing_key_rotations: [rotationOf(by, next, sequence)] },
      };
    },
  };
  return {
    act: (): Act =>
      (
        kinds[
          random.pick(['publish', 'publish', 'again', 'again', 'forge', 'remove', 'custom', 'keys'])
        ] ?? forge
      )(),
  };
}
