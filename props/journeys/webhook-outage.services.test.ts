// Receivers of webhooks are down for a while: one is gone, one fails, one takes connections and says nothing. Meanwhile the
// Console is killed twice and its PostgreSQL once, and things go on happening. In the end every receiver has heard of all
// that its route wants, by the alert itself or by a delivery that carries it; nothing is dead; breakers opened and closed;
// every attempt stands in the log. Somebody who was never down heard everything without waiting for the others.
// WEBHOOK_OUTAGE_MS lengthens it: a minute here, ten in the long proof. invariant: I1, I19; decision: D101, D102
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { openWebhookReceiver, type WebhookReceiver } from '../peers/webhook-receiver.ts';
import { allItems, api, items } from './api.ts';
import { kill, startConsole, stop } from './fleet.ts';
import { enrolOddNode, ODD_PROGRAMS_RULE, type OddNode } from './odd-programs.ts';
import { eventually, type Home, makeHome, processesOf, removeHome } from './programs.ts';

const OUTAGE_MS = Number(process.env['WEBHOOK_OUTAGE_MS'] ?? 60_000);
const PAUSE_MS = 1_500;
/** A breaker may be open for ten minutes more, and an attempt may be due in an hour: recovery hastens it. */
const RECOVER_WITHIN_MS = 900_000;
const TIMEOUT_MS = OUTAGE_MS + 1_800_000;
const POSTGRES = /\/postgres -D /;
const RULE = 'odd-program';

type Webhook = { readonly webhook_id: string; readonly breaker: string };
type Delivery = {
  readonly delivery_id: string;
  readonly alert_id: string;
  readonly state: string;
  readonly attempts: number;
  readonly folded_into: string | null;
};
type Tried = { readonly outcome: string; readonly status: number | null };
/** What a receiver read in one request. */
type Heard = {
  readonly deliveryId: string;
  readonly kind: string;
  readonly sensorId: string;
  readonly program: string | null;
  readonly alertId: string;
  readonly count: number;
};
type Destination = {
  readonly name: string;
  readonly receiver: WebhookReceiver;
  readonly webhookId: string;
  /** What it read and said yes to. */
  readonly heard: Heard[];
};

let home: Home | null = null;
const receivers: WebhookReceiver[] = [];
const nodes: OddNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) node.close();
  if (home !== null) await removeHome(home);
  for (const receiver of receivers.splice(0)) await receiver.close();
});

it('should lose no alert while receivers are away and everything else is killed', {
  timeout: TIMEOUT_MS,
}, async () => {
  const at = await makeHome();
  home = at;
  let running = await startConsole(at);
  const { gone, failing, silent, steady, node, first, second, caused } = await setUp(at);
  const everybody = [gone, failing, silent, steady];

  const downAtMs = Date.now();
  await gone.receiver.leave();
  failing.receiver.answerWith({ status: 503, headers: { 'retry-after': '2' } });
  silent.receiver.answerWith('nothing');
  const happening = happen(node, caused);
  const again = [await alertOfAgain(at, node)];
  await ask(at, 'POST', `/sensors/${first.sensorId}/revoke`, { reason: 'outage' });
  await kill(running);
  running = await startConsole(at);
  await eventually('breakers open', async () => {
    const open = await breakersOf(at);
    return [gone, failing].every(({ webhookId }) => open.get(webhookId) === 'open') ? true : null;
  });
  restartPostgres(at);
  again.push(await alertOfAgain(at, node));
  await eventually('a sensor is revoked', async () => {
    const path = `/api/v2/sensors/${second.sensorId}/revoke`;
    return (await api(at, 'POST', path, { reason: 'outage' })).status === 200 ? true : null;
  });
  await kill(running);
  running = await startConsole(at);
  again.push(await alertOfAgain(at, node));
  await sleep(Math.max(0, downAtMs + OUTAGE_MS - Date.now()));
  const meanwhile = programsOf(steady).size;
  const downMs = Date.now() - downAtMs;

  await gone.receiver.comeBack();
  failing.receiver.answerWith(taking(failing));
  silent.receiver.answerWith(taking(silent));
  await happening.stop();
  await eventually(
    'breakers close',
    async () => {
      const states = await breakersOf(at);
      return everybody.every(({ webhookId }) => states.get(webhookId) === 'closed') ? true : null;
    },
    RECOVER_WITHIN_MS,
  );
  for (const one of [gone, failing, steady]) {
    await expectAll(at, one, () => missing(caused, programsOf(one)));
    await expectAll(at, one, async () => missing(again, await alertsOf(at, one)));
  }
  const revoked = [first.sensorId, second.sensorId];
  for (const one of everybody) await expectAll(at, one, () => missing(revoked, revokedOf(one)));
  // Each its own route, and nobody more.
  expect(new Set(silent.heard.map(({ kind }) => kind))).toEqual(new Set(['sensor_revoked']));
  // The one that was there heard of what happened while the others were down.
  expect(meanwhile).toBeGreaterThan(caused.length / 2);
  await expectLog(at, gone, { outcome: 'unreachable', status: null });
  await expectLog(at, failing, { outcome: 'again', status: 503 });
  await expectLog(at, silent, { outcome: 'timed_out', status: null });
  process.stderr.write(
    `down ${downMs} ms: ${caused.length} programs, ${again.length} of one key, 2 revocations; requests: ` +
      `${everybody.map(({ name, receiver }) => `${name} ${receiver.received.length}`).join(', ')}\n`,
  );
  expect(await stop(running)).toBe(0);
});

/** A rule, four receivers with a webhook each, three nodes; all is well. */
async function setUp(at: Home) {
  await ask(at, 'POST', '/alert-rules', { rule_id: RULE, spec: ODD_PROGRAMS_RULE });
  await allowOwnMachine(at);
  const gone = await openDestination(at, 'gone', { min_severity: 'high' });
  const failing = await openDestination(at, 'failing', {});
  const silent = await openDestination(at, 'silent', { alert_kinds: ['sensor_revoked'] });
  const steady = await openDestination(at, 'steady', { min_severity: 'high' });
  const node = await enrol(at, 'odd-node');
  const [first, second] = [await enrol(at, 'revoked-1'), await enrol(at, 'revoked-2')];
  const before = await node.run('before');
  await eventually('everything is well', () =>
    [gone, failing, steady].every((one) => programsOf(one).has(before)) ? true : null,
  );
  return { gone, failing, silent, steady, node, first, second, caused: [before] };
}

async function ask<T>(at: Home, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await api(at, method, `/api/v2${path}`, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

async function allowOwnMachine(at: Home): Promise<void> {
  type Setting = { readonly name: string; readonly revision: number };
  const all = await items<Setting>(at, '/api/v2/settings');
  const list = all.find(({ name }) => name === 'webhook_allow_list');
  await ask(at, 'PATCH', '/settings', {
    values: { webhook_allow_list: ['127.0.0.1'] },
    revisions: { webhook_allow_list: list?.revision ?? 0 },
  });
}

async function enrol(at: Home, name: string): Promise<OddNode> {
  const node = await enrolOddNode(at, name);
  nodes.push(node);
  return node;
}

/** A receiver with its webhook; it takes what comes. */
async function openDestination(at: Home, name: string, route: object): Promise<Destination> {
  const receiver = await openWebhookReceiver();
  receivers.push(receiver);
  const made = await ask<{ webhook: Webhook }>(at, 'POST', '/webhooks', {
    ...{ webhook_type: 'generic', name, target_url: receiver.url() },
    options: { ...route, ca_pem: receiver.caPem },
  });
  const one = { name, receiver, webhookId: made.webhook.webhook_id, heard: [] };
  receiver.answerWith(taking(one));
  return one;
}

/** Reads what comes and says yes. */
function taking({ heard }: Pick<Destination, 'heard'>) {
  return ({ headers, body }: WebhookReceiver['received'][number]) => {
    const read = JSON.parse(body.toString()) as Readonly<Record<string, unknown>>;
    heard.push({
      ...{ deliveryId: String(headers['x-service-delivery']), kind: String(read['alert_kind']) },
      ...{ sensorId: String(read['sensor_id']), count: Number(read['related_event_count'] ?? 1) },
      program: read['process'] === undefined ? null : String(read['process']),
      alertId: String(read['alert_inbox_url']).split('/').at(-1) ?? '',
    });
    return { status: 204 };
  };
}

/** One program after the other, each of another name; what was acknowledged is caused. */
function happen(node: OddNode, caused: string[]) {
  let isStopping = false;
  const running = (async () => {
    while (!isStopping) {
      caused.push(await node.run(`program-${caused.length}`));
      await sleep(PAUSE_MS);
    }
  })();
  return {
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

/** One program that runs again after people settled what was told of it: another alert of the same key. */
async function alertOfAgain(at: Home, node: OddNode): Promise<string> {
  const program = await node.run('again');
  type Alert = { readonly alert_id: string; readonly state: string; readonly group: object };
  const alertId = await eventually('its alert is open', async () => {
    const all = await items<Alert>(at, '/api/v2/alerts?limit=100');
    const own = all.find(
      ({ state, group }) => state === 'open' && JSON.stringify(group).includes(program),
    );
    return own?.alert_id ?? null;
  });
  await eventually('it is settled', async () => {
    const path = `/api/v2/alerts/${alertId}/resolve`;
    const { status } = await api(at, 'POST', path, { resolution: 'expected' });
    return status === 200 ? true : null;
  });
  return alertId;
}

function restartPostgres(at: Home): void {
  const found = processesOf(at.consoleDir).find(({ command }) => POSTGRES.test(command));
  if (found === undefined) throw new Error('there is no PostgreSQL');
  process.kill(found.pid, 'SIGKILL');
}

async function breakersOf(at: Home): Promise<ReadonlyMap<string, string>> {
  const all = await items<Webhook>(at, '/api/v2/webhooks');
  return new Map(all.map(({ webhook_id, breaker }) => [webhook_id, breaker]));
}

function programsOf({ heard }: Destination): ReadonlySet<string> {
  return new Set(heard.flatMap(({ program }) => program ?? []));
}

function revokedOf({ heard }: Destination): ReadonlySet<string> {
  const told = heard.filter(({ kind }) => kind === 'sensor_revoked');
  return new Set(told.map(({ sensorId }) => sensorId));
}

/** Alerts that it heard of, and those that the log names as carried by a delivery which it heard, with their number. */
async function alertsOf(at: Home, { heard, webhookId }: Destination): Promise<ReadonlySet<string>> {
  const counts = new Map<string, number>();
  for (const { deliveryId, count } of heard) {
    counts.set(deliveryId, Math.max(count, counts.get(deliveryId) ?? 0));
  }
  const path = `/api/v2/deliveries?webhook_id=${webhookId}&state=folded&limit=200`;
  const carried = (await allItems<Delivery>(at, path)).filter(
    ({ folded_into }) => (counts.get(folded_into ?? '') ?? 0) > 1,
  );
  return new Set([
    ...heard.map(({ alertId }) => alertId),
    ...carried.map(({ alert_id }) => alert_id),
  ]);
}

function missing(wanted: readonly string[], heard: ReadonlySet<string>): readonly string[] {
  return wanted.filter((one) => !heard.has(one));
}

/** Nothing is missing in the end; what is, is named. */
async function expectAll(
  at: Home,
  { name, webhookId }: Destination,
  look: () => readonly string[] | Promise<readonly string[]>,
): Promise<void> {
  const none = async () => ((await look()).length === 0 ? true : null);
  await eventually(`${name} has heard all`, none, RECOVER_WITHIN_MS).catch(async () => {
    const path = `/api/v2/deliveries?webhook_id=${webhookId}&limit=200`;
    const log = JSON.stringify(await allItems<Delivery>(at, path));
    expect(await look(), `${name}: ${log}`).toEqual([]);
  });
}

/** Nothing is dead or on its way, and what was tried in vain says how, and that it arrived at last. */
async function expectLog(at: Home, { name, webhookId }: Destination, failed: Tried): Promise<void> {
  const path = `/api/v2/deliveries?webhook_id=${webhookId}&limit=200`;
  const all = await eventually(`the log of ${name} is at rest`, async () => {
    const rows = await allItems<Delivery>(at, path);
    const isAtRest = rows.every(({ state }) => state === 'delivered' || state === 'folded');
    return isAtRest ? rows : null;
  });
  const logs = await Promise.all(
    all
      .filter(({ state, attempts }) => state === 'delivered' && attempts > 1)
      .map(({ delivery_id }) => ask<{ tried: Tried[] }>(at, 'GET', `/deliveries/${delivery_id}`)),
  );
  expect(logs.length, name).toBeGreaterThan(0);
  for (const { tried } of logs) {
    expect(tried.at(-1)).toMatchObject({ outcome: 'accepted', status: 204 });
  }
  expect(logs.flatMap(({ tried }) => tried)).toContainEqual(expect.objectContaining(failed));
}
