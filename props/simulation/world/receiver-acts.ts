// What receivers of webhooks need around them: somebody who set them up before the story begins, and somebody who finds
// things that have to be told. What was heard of both is told to the checkers.
import { secretContextOfWebhook } from '../../../actors/delivery/webhook-secrets.ts';
import { detection } from '../../../gateway/capabilities/detection/detection.ts';
import { memoryKeys } from '../../../gateway/memory-ports.fixture.ts';
import { ALERT_SEVERITIES, type Alert } from '../../../machines/console/delivery/alert.ts';
import type { WebhookType } from '../../../machines/console/delivery/formats/formats.ts';
import type { Route } from '../../../machines/console/delivery/routing.rules.ts';
import { findingOf } from '../../../machines/console/detection/finding.ts';
import { WEBHOOK_RATE_DEFAULT_PER_MINUTE } from '../../../machines/limits.ts';
import { wholeOptions } from '../../../storage/ports/delivery/webhook-store.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import { askConsole, type PersonParts } from './person.ts';
import type { Random } from './random.ts';

/** A receiver as it is meant. */
export type Planned = {
  readonly name: string;
  readonly host: string;
  readonly address: string;
  readonly type: WebhookType;
  readonly webhookId: string;
  readonly secret: string;
  readonly route: Route;
};

/** Something that may happen again and again. */
export type Thing = Pick<Alert, 'kind' | 'severity' | 'groupIds' | 'dedupKey'>;

const TYPES = ['generic', 'generic', 'generic', 'opsgenie', 'pagerduty'] as const;
const KINDS = ['security_event', 'anomaly', 'fleet_correlation'] as const;
const GROUPS = ['group-1', 'group-2'] as const;
/** Few, so that some of what waits has one key. */
const KEYS = 6;
const PASSES = 0.9;

export function planOf(random: Random, count: number): readonly Planned[] {
  return Array.from({ length: count }, (_, at) => ({
    ...{
      name: `receiver-${at + 1}`,
      host: `hooks-${at + 1}.world`,
      address: `203.0.113.${at + 1}`,
    },
    type: at === 0 ? 'generic' : random.pick(TYPES),
    webhookId: `00000000-0000-7000-8000-${String(at + 1).padStart(12, '0')}`,
    secret: random.bytes(16).toString('hex'),
    route: {
      kinds: random.chance(0.3) ? [random.pick(KINDS), 'destination_failing'] : [],
      minSeverity: random.pick(['info', 'info', 'low', 'high'] as const),
      groupIds: random.chance(0.2) ? [random.pick(GROUPS)] : [],
    },
  }));
}

/** Sets one up; true once it is known to stand. */
export async function makeWebhook(parts: PersonParts, one: Planned): Promise<boolean> {
  const { webhookId, secret, route, type, name, host } = one;
  const sealer = await memoryKeys.operatorSecrets();
  const heard = await askConsole(parts, async (_side, { relational: { webhooks } }) => {
    if ((await webhooks.get(webhookId)) !== null) return;
    await webhooks.create({
      ...{ actor: 'start', from: '', nowMs: WORLD_BEGINS_MS },
      webhook: {
        ...{ webhookId, type, name, targetUrl: `https://${host}/hook` },
        secretSealed: sealer.seal(secret, secretContextOfWebhook(webhookId)),
        ...{ nextSecretSealed: null, rotatesAtMs: null },
        options: wholeOptions({
          ...{ ...route, caPem: null, ratePerMinute: WEBHOOK_RATE_DEFAULT_PER_MINUTE },
        }),
      },
    });
  });
  if (heard.isSilent) return false;
  parts.world.observe({
    kind: 'webhook.told',
    webhook: webhookId,
    receiver: name,
    host,
    type,
    secret,
    route,
  });
  return true;
}

/** What may be found. What is found again is as it was, so that counting it there changes no route. */
export function thingsOf(random: Random): readonly Thing[] {
  return Array.from({ length: KEYS }, (_, at) => ({
    dedupKey: `finding ${at + 1}`,
    ...{ kind: random.pick(KINDS), severity: random.pick(ALERT_SEVERITIES) },
    groupIds: random.chance(0.5) ? [random.pick(GROUPS)] : [],
  }));
}

/** Something is found; most often what was told of it before is over by then. */
export async function findSomething(parts: PersonParts, things: readonly Thing[]): Promise<void> {
  const { random, world } = parts;
  const thing = random.pick(things);
  const isOver = random.chance(PASSES);
  const occurrence = random.bytes(8).toString('hex');
  const heard = await askConsole(parts, async (_side, { context }) => {
    const { alerts } = context.use(detection);
    const alert = alertOf({ ...thing, alertId: context.chance.newId() });
    if (isOver) await alerts.pass([thing.dedupKey]);
    return alerts.raise([findingOf(alert, occurrence)]);
  });
  if (heard.isSilent) return;
  const { kind: what, severity, groupIds, dedupKey: key } = thing;
  for (const { alert } of heard.value) {
    world.observe({
      ...{ kind: 'alert.raised', alert: alert.alertId, key, what, severity, groupIds },
    });
  }
}

function alertOf(of: Thing & Pick<Alert, 'alertId'>): Alert {
  return {
    ...{ ...of, ruleId: of.kind, sensorId: 'fleet', nodeName: 'fleet', headline: 'found' },
    ...{ detail: 'something was found', occurredAtMs: WORLD_BEGINS_MS, observedAtMs: null },
    ...{ source: 'system', texts: {}, tags: [], relatedEventCount: null, search: null },
  };
}
