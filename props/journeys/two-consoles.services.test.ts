// Two Consoles over one PostgreSQL, as real processes: one runs the designated loops. It is killed, frozen and cut off from
// the database; each time it stops in time, the other takes over within 15 s under the next epoch, and the audit trail,
// which a designated loop seals, goes on and verifies: nothing was sealed twice. decision: D60; invariant: I17
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRelay, type Relay } from '../contracts/relay.ts';
import { api } from './api.ts';
import {
  type ExternalStore,
  externalClickhouse,
  externalPostgres,
  missingForPostgres,
} from './external-stores.ts';
import { createToken, endOf, isSkipped, kill, startConsole, stop } from './fleet.ts';
import {
  eventually,
  type Home,
  makeHome,
  type Program,
  removeHome,
  startProgram,
} from './programs.ts';
import { askPostgres } from './stored.ts';

const TAKEN_OVER_WITHIN_MS = 15_000;
const STEPPED_DOWN_WITHIN_MS = 5_000;
const START_WITHIN_MS = 90_000;
const skip = isSkipped('two consoles', missingForPostgres());

type Node = { readonly home: Home; readonly relay: Relay; program: Program };
type Loops = {
  readonly items: readonly { readonly name: string; readonly state: string }[];
  readonly designation: { readonly is_designated: boolean; readonly stands: boolean };
};

let postgres: ExternalStore;
let clickhouse: Awaited<ReturnType<typeof externalClickhouse>>;
const nodes: Node[] = [];

function envOf({ relay }: Pick<Node, 'relay'>): Record<string, string> {
  const url = new URL(postgres.url);
  url.port = String(relay.port);
  return {
    SERVICE_CONSOLE_DATABASE_URL: url.toString(),
    SERVICE_CONSOLE_CLICKHOUSE_URL: clickhouse.url,
  };
}

async function begin(home: Home): Promise<Node> {
  const relay = await openRelay(Number(new URL(postgres.url).port));
  const node = { home, relay, program: await startConsole(home, envOf({ relay })) };
  nodes.push(node);
  return node;
}

beforeAll(async () => {
  if (skip) return;
  const homes = [await makeHome({}), await makeHome({})] as const;
  [postgres, clickhouse] = await Promise.all([
    externalPostgres(homes[0].folder),
    externalClickhouse(homes[0].folder),
  ]);
  for (const home of homes) await begin(home);
}, START_WITHIN_MS);

afterAll(async () => {
  if (skip) return;
  for (const { program, relay } of nodes) {
    program.kill('SIGCONT');
    await relay.setFault('none');
    await stop(program);
    await relay.close();
  }
  await Promise.all([postgres.stop(), clickhouse.stop()]);
  for (const { home } of nodes) await removeHome(home);
}, START_WITHIN_MS);

async function loopsOf({ home }: Node): Promise<Loops> {
  return (await api(home, 'GET', '/api/v2/system/loops')).body as Loops;
}
async function sealerOf(node: Node): Promise<string> {
  const { items, designation } = await loopsOf(node);
  const sealer = items.find(({ name }) => name === 'audit-sealer');
  return `${sealer?.state === 'off_duty' ? 'off duty' : 'on duty'}, ${designation.is_designated}`;
}
const isOn = (node: Node) => async () => ((await sealerOf(node)) === 'on duty, true' ? true : null);
const isOff = (node: Node) => async () =>
  (await sealerOf(node)) === 'off duty, false' ? true : null;

async function epoch(): Promise<number> {
  return Number((await askPostgres(postgres.url, 'SELECT epoch FROM designation'))[0]?.['epoch']);
}
/** Something is audited, and sealed by whoever is designated. */
async function isSealedAgain(node: Node): Promise<void> {
  await createToken(node.home);
  await eventually('every row is sealed', async () => {
    const sql = 'SELECT count(*)::int AS open FROM audit_records WHERE sequence IS NULL';
    return (await askPostgres(postgres.url, sql))[0]?.['open'] === 0 ? true : null;
  });
}
async function takesOver(node: Node, before: number): Promise<void> {
  await eventually('the other takes over', isOn(node), TAKEN_OVER_WITHIN_MS);
  expect(await epoch()).toBe(before + 1);
  await isSealedAgain(node);
}

it.skipIf(skip)(
  'should hand the designated loops over when their Console is killed, frozen or cut off',
  async () => {
    const [one, two] = nodes as [Node, Node];
    await eventually('the first is designated', isOn(one));
    await eventually('the second is not', isOff(two));
    expect((await loopsOf(two)).designation.stands).toBe(true);

    let before = await epoch();
    await kill(one.program);
    await takesOver(two, before);

    one.program = await startConsole(one.home, envOf(one));
    await eventually('the first came back without the lock', isOff(one));
    before = await epoch();
    two.program.kill('SIGSTOP');
    await takesOver(one, before);
    two.program.kill('SIGCONT');
    await eventually('the thawed one knows it', isOff(two), STEPPED_DOWN_WITHIN_MS);
    expect(await epoch()).toBe(before + 1);

    before = await epoch();
    const steppedDown = one.program.prints(
      /not the designated one any more/,
      STEPPED_DOWN_WITHIN_MS,
    );
    await one.relay.setFault('stalled');
    await steppedDown;
    await takesOver(two, before);
    await one.relay.setFault('none');
    await eventually('the one that was cut off knows it', isOff(one));
    expect(await epoch()).toBe(before + 1);

    const verified = await endOf(
      startProgram('gateway/cli/service-console.ts', ['audit', 'verify'], { env: two.home.env }),
    );
    expect(verified).toMatchObject({ code: 0 });
  },
  START_WITHIN_MS + 6 * TAKEN_OVER_WITHIN_MS,
);
