// Digest: once a day, what happened on the fleet or in a group, by mail or to a webhook, each day once. decision: D166
import { createDigestFacts } from '../../../actors/digest/digest-facts.ts';
import { createDigestLoop, DIGEST_LOOP } from '../../../actors/digest/digest-loop.ts';
import { createDigestSender } from '../../../actors/digest/digest-sender.ts';
import { createDigestService } from '../../../actors/digest/digest-service.ts';
import { digestRunMachine } from '../../../machines/console/digest/digest-run.machine.ts';
import type { Capability } from '../../capability.ts';
import { measureDigests } from '../../operator-plane/digest/digest-metrics.ts';
import { digestRoutes } from '../../operator-plane/digest/digests.ts';
import { detection } from '../detection/detection.ts';
import { fleet } from '../fleet/fleet.ts';
import { license } from '../license/license.ts';
import { settings } from '../settings/settings.ts';

export const digest: Capability = {
  name: 'digest',
  async open(context) {
    const { relational, analytics, config, time, chance, logger, loops, version } = context;
    const { digests, audit, teams } = relational;
    const { liveView } = context.use(fleet);
    const { alerts } = context.use(detection);
    const { view } = context.use(license);
    const sealer = await context.keys.operatorSecrets();
    const allowList = () => context.use(settings).get().webhookAllowList;
    const facts = createDigestFacts({
      ...{ registry: relational.sensors, groups: teams.groups, alerts: relational.alerts },
      ...{ events: analytics.events, telemetry: analytics.telemetry, entryOf: liveView.get },
      baseUrl: () => config.baseUrl,
      license() {
        const { phase, license: own } = view();
        return {
          ...{ phase, validUntilMs: own?.validUntilMs ?? null },
          ...{ graceUntilMs: own?.graceUntilMs ?? null, nodesMax: own?.maxProtectedNodes ?? null },
        };
      },
    });
    const { outboundMail: mail, outboundPost: post } = context;
    const sender = createDigestSender({ mail, post, sealer, allowList, version });
    const service = createDigestService({
      ...{ digests, groups: teams.groups, audit, facts, sender, sealer, allowList, chance },
    });
    const work = createDigestLoop({
      digests,
      facts,
      sender,
      alerts,
      chance,
      logger,
      now: time.now,
    });
    const wake = (): void => loops.wake(DIGEST_LOOP);
    return {
      service: null,
      operatorRoutes: () => [digestRoutes({ service, digests, now: time.now, wake })],
      machines: [digestRunMachine],
      loops: () => [work.loop],
      measure: (registry) => measureDigests(registry, work.counts),
    };
  },
};
